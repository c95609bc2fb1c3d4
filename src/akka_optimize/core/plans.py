"""A run's plan: the one document that decides what is trained, its text, its hash, and how two plans differ.

The hash is the judge. Two runs have the same plan exactly when the hashes of their plans are equal, and `differences`
is empty in exactly those cases, so what it lists is what makes the hashes unequal and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from akka_optimize.errors import Invalid
from akka_optimize.records import Difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from akka_optimize.records import Document

MOST_STEPS = 2**53 - 1  # the largest integer that every JSON reader carries exactly

HORIZON = "hyperparams.training.steps"
_ABSENT = object()


def plan(
    config: Document,
    *,
    dataset_hash: str,
    steps: int,
    base_model: str,
    revision: str,
    source: Document | None = None,
) -> Document:
    """The plan of a run, from its resolved `config`.

    The dataset's name gives way to the hash of its rows, and the two ways to ask for a horizon, `epochs` and
    `maxSteps`, give way to the `steps` that they come to: runs that train alike have one plan however it was asked for.
    """
    made = deepcopy(config)
    made["dataset"] = dataset_hash
    training = made["hyperparams"]["training"]
    training.pop("epochs", None)
    training.pop("maxSteps", None)
    training["steps"] = steps
    made["baseModel"] = {"name": base_model, "revision": revision}
    made["source"] = deepcopy(source)
    return made


def plan_text(plan: Document) -> str:
    """The text that is hashed and kept as `config.json`: no line end follows it. Raises ValueError on NaN."""
    return json.dumps(plan, sort_keys=True, allow_nan=False)


def plan_hash(plan: Document) -> str:
    """SHA-256 of `plan_text`, 64 hex digits; the first 12 are shown as `configHash`."""
    return hashlib.sha256(plan_text(plan).encode()).hexdigest()


def differences(run: Document, baseline: Document) -> tuple[Difference, ...]:
    """Every setting in which the two plans differ, sorted by path.

    Mappings are gone into, lists are compared whole, and two values are equal when their JSON texts are: `8` and `8.0`
    differ, as they do in the hash. Where a mapping meets anything else, both are shown whole.
    """
    return tuple(sorted(_walk((), run, baseline), key=lambda found: found.path))


def changed(plan: Document, earlier: Document) -> list[Document]:
    """`differences` of a plan from an earlier one, each as `{path, from, to}`."""
    return [{"path": each.path, "from": each.baseline, "to": each.run} for each in differences(plan, earlier)]


def choices(changed: Iterable[Document]) -> list[Document]:
    """Those of `changed` that somebody chose to change; a child has another source and horizon whatever it changes."""
    return [each for each in changed if each["path"] != HORIZON and each["path"].split(".")[0] != "source"]


def several(changed: Iterable[Document]) -> bool:
    """Is more than one of `changed` a choice? Then a comparison cannot tell which one did what.

    A base model, with name and revision, is one.
    """
    paths = (each["path"] for each in choices(changed))
    return len({"baseModel" if path.startswith("baseModel.") else path for path in paths}) > 1


def horizon(config: Document, rows: int) -> int:
    r"""How many updates the run makes over an epoch of `rows` training rows.

    $$ \min\left(\left\lceil \frac{\mathrm{epochs} \cdot \mathrm{rows}}{S} \right\rceil,\ \mathrm{maxSteps}\right) $$

    `epochs` counts as the decimal number that was written: 0.1 of 80 rows are 8 rows, and not a ninth.
    Raises Invalid when the result is more than `MOST_STEPS`.
    """
    training = config["hyperparams"]["training"]
    exact = Fraction(str(training["epochs"])) * rows / training["sequencesPerUpdate"]
    steps: int = -(-exact.numerator // exact.denominator)
    if training.get("maxSteps") is not None:
        steps = min(steps, training["maxSteps"])
    if steps > MOST_STEPS:
        raise Invalid(
            f"config.hyperparams.training.epochs: {training['epochs']} comes to more than {MOST_STEPS} updates; "
            "write fewer epochs, or set maxSteps",
            field="config.hyperparams.training.epochs",
        )
    return steps


def _walk(path: tuple[str, ...], run: Any, baseline: Any) -> Iterator[Difference]:
    if _text(run) == _text(baseline):
        return
    if _is_mapping(run, baseline) or _is_mapping(baseline, run):
        ours, theirs = ({} if side is _ABSENT else side for side in (run, baseline))
        for key in sorted({*ours, *theirs}):
            yield from _walk((*path, key), ours.get(key, _ABSENT), theirs.get(key, _ABSENT))
    else:
        yield Difference(".".join(path), *(None if side is _ABSENT else side for side in (run, baseline)))


def _is_mapping(value: Any, other: Any) -> bool:
    """Can the two be compared key by key? A mapping that has keys can be, with another mapping or with none at all."""
    return isinstance(value, dict) and (isinstance(other, dict) or (other is _ABSENT and bool(value)))


def _text(value: Any) -> str:
    return "" if value is _ABSENT else json.dumps(value, sort_keys=True)
