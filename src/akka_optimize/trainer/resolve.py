"""What a descriptor means on this trainer: every default filled in, everything it names looked up, or refused."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import descriptor, division, plans, stream
from akka_optimize.records import BaseModel, Dataset, Document, ResolvedRun, Workload
from akka_optimize.trainer import base_models
from akka_optimize.trainer.lengths import lengths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.lengths import Lengths

CONFIG_HASH_DIGITS = 12
NO_PURPOSE = "no purpose is stated: say in one sentence why this run is made; it cannot be added later"


@dataclass(frozen=True, slots=True)
class Request:
    """A resolved run, and the things that its descriptor names."""

    run: ResolvedRun
    workload: Workload
    dataset: Dataset
    base_model: BaseModel


def resolve(catalog: Catalog, home: Home, document: Document) -> ResolvedRun:
    """Check a descriptor and say what it resolves to. Raises what `request` raises."""
    return request(catalog, home, document).run


def request(catalog: Catalog, home: Home, document: Document) -> Request:
    """Check a descriptor against this trainer; nothing is stored but what the tokeniser found.

    Raises Invalid (a field), NotFound and Ambiguous (workload, dataset, base model), Unsupported (method, precision,
    devices) and Refused (no row to train on). Each names its field.
    """
    wanted = descriptor.resolve(document)
    config = wanted.config
    with at("workload"):
        workload = catalog.workload(wanted.descriptor["workload"])
    with at("config.dataset"):
        dataset = catalog.dataset(config["dataset"])
    with at("baseModel"):
        model = base_models.find(wanted.descriptor["baseModel"])
    made = complete(wanted, workload, dataset, model, Rows(home))
    if wanted.descriptor["purpose"] is None:
        return replace(made, run=replace(made.run, notes=(NO_PURPOSE, *made.run.notes)))
    return made


class Rows:
    """The rows of datasets by use: measured once and divided once, however many runs ask."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lengths: dict[tuple[str, str], Lengths] = {}
        self._splits: dict[tuple[str, str, int, int, float], stream.Split] = {}

    def measured(self, dataset: Dataset, model: BaseModel) -> Lengths:
        """The rows' lengths. Raises as `lengths` does."""
        key = (dataset.hash, model.model_id)
        if key not in self._lengths:
            self._lengths[key] = lengths(self._home, dataset, model)
        return self._lengths[key]

    def split(self, config: Document, dataset: Dataset, model: BaseModel) -> stream.Split:
        """Held-out rows and training rows. Raises Refused when none is left to train on, and as `lengths` does."""
        share = config["hyperparams"]["training"]["validationShare"]
        key = (dataset.hash, model.model_id, config["seed"], config["maxSeqLength"], share)
        if key not in self._splits:
            self._splits[key] = _split(config, dataset, self.measured(dataset, model))
        return self._splits[key]


def complete(
    wanted: descriptor.Resolution,
    workload: Workload,
    dataset: Dataset,
    model: BaseModel,
    known: Rows,
    *,
    source: Document | None = None,
) -> Request:
    """The request whose names have been looked up; `source` is what the plan of a child says of its snapshot.

    Raises Invalid, Unsupported, Refused, as `request` does.
    """
    config = wanted.config
    check_support(model, config)
    divided = division.divide(config, wanted.execution)
    rows, measured = known.split(config, dataset, model), known.measured(dataset, model)
    steps = plans.horizon(config, len(rows.training))
    plan = plans.plan(
        config,
        dataset_hash=dataset.hash,
        steps=steps,
        base_model=model.repository,
        revision=model.revision,
        source=source,
    )
    run = ResolvedRun(
        descriptor=wanted.descriptor,
        config=config,
        execution=wanted.execution,
        plan=plan,
        config_hash=plans.plan_hash(plan)[:CONFIG_HASH_DIGITS],
        division=divided,
        steps=steps,
        training_rows=len(rows.training),
        validation_rows=len(rows.held_out),
        skipped_rows=rows.skipped,
        stated=wanted.stated,
        notes=(*_notes(wanted.descriptor, rows, measured), *descriptor.notes(config, steps)),
    )
    return Request(run, workload, dataset, model)


@contextmanager
def at(field: str) -> Iterator[None]:
    """Name the descriptor's field in an error that a look-up raised in its own terms."""
    try:
        yield
    except errors.AkkaError as error:
        error.field = field
        raise


def check_support(model: BaseModel, config: Document) -> None:
    """Raise Unsupported or Invalid for what the base model, or this trainer, cannot do."""
    name = model.repository
    if config["method"] not in model.methods:
        raise errors.Unsupported(
            f"{name} cannot be trained by {config['method']!r}; it offers {', '.join(model.methods)}",
            field="config.method",
        )
    if (precision := config["model"]["precision"]) not in model.precisions:
        raise errors.Unsupported(
            f"{name} cannot be trained in {precision}; it offers {', '.join(model.precisions)}",
            field="config.model.precision",
        )
    if (length := config["maxSeqLength"]) > model.context_length:
        raise errors.Invalid(
            f"config.maxSeqLength: {length} is more than the {model.context_length} tokens that {name} can read",
            field="config.maxSeqLength",
        )


def _split(config: Document, dataset: Dataset, measured: Lengths) -> stream.Split:
    """Held-out rows and training rows. Raises Refused when none is left to train on."""
    share = config["hyperparams"]["training"]["validationShare"]
    length = config["maxSeqLength"]
    rows = stream.split(config["seed"], measured.fits(length).tolist(), share)
    if rows.training:
        return rows
    total, name = dataset.example_count, config["dataset"]
    if measured.fits(length).any():
        raise errors.Refused(
            f"dataset {name} leaves no row to train on: of its {total}, {len(rows.held_out)} are held out and "
            f"{rows.skipped} have no assistant token within maxSeqLength {length}",
            field="config.hyperparams.training.validationShare",
            hint="hold out less, or raise config.maxSeqLength",
        )
    raise errors.Refused(
        f"dataset {name} leaves no row to train on: none of its {total} has an assistant token within "
        f"maxSeqLength {length}",
        field="config.maxSeqLength",
        hint=f"the shortest row needs {int(measured.first.min()) + 1}",
    )


def _notes(document: Document, rows: stream.Split, measured: Lengths) -> Iterator[str]:
    """What is worth a word before the run starts."""
    length = document["config"]["maxSeqLength"]
    if rows.skipped:
        yield f"{_rows(rows.skipped)} skipped: no assistant token within maxSeqLength {length}"
    if cut := int(((measured.tokens > length) & measured.fits(length)).sum()):
        yield f"{_rows(cut)} cut to maxSeqLength {length}"
    share = document["config"]["hyperparams"]["training"]["validationShare"]
    if share and not rows.held_out:
        yield f"no row is held out: validationShare {share} of the dataset comes to none"


def _rows(count: int) -> str:
    return f"{count} row is" if count == 1 else f"{count} rows are"
