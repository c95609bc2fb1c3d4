"""One point of a fan, resolved: the run that it is to become."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from akka_optimize import errors
from akka_optimize.core import descriptor, plans, points
from akka_optimize.trainer import base_models, resolve, start

if TYPE_CHECKING:
    from collections.abc import Mapping

    from akka_optimize.records import BaseModel, Dataset, Document, FanRequest, Run
    from akka_optimize.trainer.branches.source import Source
    from akka_optimize.trainer.catalog import Catalog, NewRun
    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.resolve import Request

LONGEST_NAME = 200  # characters of a configName
MAX_STEPS, RANK = "config.hyperparams.training.maxSteps", "config.hyperparams.lora.rank"


@dataclass(frozen=True, slots=True)
class Child:
    """A child to come: as resolved, and as the catalog is to hold it."""

    request: Request
    new: NewRun
    restore_error: float | None


class Children:
    """Resolves the children of one parent from one snapshot; what they share is looked up once."""

    def __init__(self, catalog: Catalog, home: Home, source: Source, asked: FanRequest) -> None:
        """Raises Refused (the parent can have no children; the snapshot's files), NotFound (its base model)."""
        self._catalog, self._source, self._asked = catalog, source, asked
        self._parent = source.parent
        self._model = base_model(source.parent)
        self._workload = catalog.workload(source.parent.workload_id)
        self._planned = source.plan()
        self._rows = resolve.Rows(home)
        self._datasets: dict[str, Dataset] = {}

    def child(self, changes: Mapping[str, Any]) -> Child:
        """The child of a faultless point.

        Raises Invalid, NotFound, Ambiguous, Unsupported and Refused, with the field, for what cannot be trained.
        """
        changes = points.typed(changes)
        wanted = descriptor.resolve(self._document(changes))
        dataset = self._dataset(changes)
        self._span(wanted.config, dataset)
        with resolve.at(RANK):
            lost = self._source.error(wanted.config["hyperparams"]["lora"]["rank"])
        stated = tuple(sorted([MAX_STEPS, *(f"config.{path}" for path in changes)]))
        wanted = replace(wanted, stated=stated)
        request = resolve.complete(wanted, self._workload, dataset, self._model, self._rows, source=self._planned)
        new = replace(
            start.new_run(request, points.child_run_id(self._asked.submission_id, changes), self._asked.origin),
            grader=self._parent.grader,
            parent_run_id=self._parent.run_id,
            source_snapshot_id=self._source.snapshot.snapshot_id,
            source_step=self._source.snapshot.step,
            restore=self._asked.restore,
            changes=changes,
            changed=plans.choices(plans.changed(request.run.plan, self._parent.plan)),
        )
        return Child(request, new, lost)

    def _document(self, changes: Mapping[str, Any]) -> Document:
        """The parent's descriptor with the point's changes, and without what is the parent's own."""
        parent, label = self._parent, points.label(changes)
        config = deepcopy(parent.config)
        for path, value in changes.items():
            *groups, key = path.split(".")
            holder = config
            for group in groups:
                holder = holder.setdefault(group, {})
            holder[key] = value
        config["hyperparams"]["training"]["maxSteps"] = self._asked.steps
        size = config["hyperparams"]["training"]["sequencesPerUpdate"]
        execution = dict(parent.execution)
        if size % (execution["gpus"] * execution["sequencesPerPass"]):
            execution["sequencesPerPass"] = None  # as many at once as the update has, by default
        return {
            "kind": "run",
            "workload": parent.workload,
            "baseModel": parent.base_model,
            "description": self._asked.description,
            "configName": _name(label),
            "submissionId": self._asked.submission_id,
            "config": config,
            "execution": execution,
        }

    def _dataset(self, changes: Mapping[str, Any]) -> Dataset:
        """The parent's rows, whatever its dataset's name stands for by now, unless the point names others."""
        reference = changes.get("dataset", self._parent.dataset)
        if reference not in self._datasets:
            with resolve.at("config.dataset"):
                self._datasets[reference] = self._catalog.dataset(reference)
        return self._datasets[reference]

    def _span(self, config: Document, dataset: Dataset) -> None:
        """Let `epochs` say how often the horizon goes through the rows, so that it and `maxSteps` mean one number."""
        resolve.check_support(self._model, config)
        training = config["hyperparams"]["training"]
        rows = len(self._rows.split(config, dataset, self._model).training)
        training["epochs"] = epochs(self._asked.steps, rows=rows, size=training["sequencesPerUpdate"])


def _name(label: str) -> str | None:
    """A label as a configName; None for the point that changes nothing."""
    if len(label) > LONGEST_NAME:
        return f"{label[: LONGEST_NAME - 1]}…"
    return label or None


def base_model(parent: Run) -> BaseModel:
    """What the parent trained on. Raises NotFound, Refused (its weights have changed; not a run that can branch)."""
    if parent.method != "sft":
        raise errors.Refused(
            f"run {parent.run_id} was trained by {parent.method!r}; only runs trained by 'sft' have children",
            field="parent",
        )
    model = base_models.find(parent.base_model)
    if model.revision != parent.plan["baseModel"]["revision"]:
        raise errors.Refused(
            f"base model {model.repository} has revision {model.revision[:12]}, and run {parent.run_id} was trained on "
            f"{parent.plan['baseModel']['revision'][:12]}",
            field="parent",
            hint="install the akka-optimize that the parent was trained with",
        )
    return model


def epochs(steps: int, *, rows: int, size: int) -> float:
    r"""How many epochs over `rows` rows the updates of `size` rows come to: the least that asks for all of them.

    $$ \frac{\mathrm{steps} \cdot \mathrm{size}}{\mathrm{rows}} $$
    """
    found = steps * size / rows
    while Fraction(str(found)) * rows < steps * size:  # rounded down
        found = math.nextafter(found, math.inf)
    return found
