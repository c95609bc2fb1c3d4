"""Fetch two runs with their curves, see that they can be compared, and compare them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from akka_optimize.core import environment
from akka_optimize.core.plans import differences
from akka_optimize.errors import AnswerIsNo, Refused
from akka_optimize.records import TERMINAL_PHASES, Column, Comparison, Difference, Metrics, Run

SUPERVISED = frozenset({"sft"})


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def run(self, ref: str) -> Run:
        """One run by id, prefix or name."""
        ...

    def metrics(self, ref: str, *, columns: Sequence[str] = ()) -> Metrics:
        """The named curves of a run; one that was never recorded is absent."""
        ...


def compare(
    trainer: Trainer,
    run: str,
    baseline: str,
    *,
    window: int = 10,
    margin: float = 0.03,
    spike_factor: float = 10.0,
    across_plans: bool = False,
) -> Comparison:
    """Compare the training loss of `run` with that of `baseline`, step by step.

    Raises NotFound and Ambiguous for the two references, and Refused for a run with itself, a run that is not
    supervised, two plans without `across_plans`, a run without a loss, and curves without a step in common.
    """
    from akka_optimize.core.comparison import compare as compare_curves

    ours, theirs = trainer.run(run), trainer.run(baseline)
    found = _comparable(ours, theirs, across_plans)
    curves = [trainer.metrics(each.run_id, columns=("loss", "gradNorm")).columns for each in (ours, theirs)]
    return Comparison(
        run=ours,
        baseline=theirs,
        differences=found,
        aligned_steps=not any(each.path.split(".")[0] == "source" for each in found),
        environment=environment.differences(ours.environment or {}, theirs.environment or {}),
        curves=compare_curves(
            _loss(ours, curves[0]),
            _loss(theirs, curves[1]),
            curves[0].get("gradNorm"),
            curves[1].get("gradNorm"),
            run_replaced=ours.replaced_steps,
            baseline_replaced=theirs.replaced_steps,
            window=window,
            margin=margin,
            spike_factor=spike_factor,
        ),
    )


def require_no_parting(comparison: Comparison) -> None:
    """Raise AnswerIsNo when the two parted, and Refused when no full window allowed a judgement."""
    parting, curves = comparison.curves.parting, comparison.curves
    if parting:
        raise AnswerIsNo(f"the two runs part at steps {parting.first_step} to {parting.last_step}")
    if not curves.full_windows:
        raise Refused(
            f"the two runs cannot be judged: their {curves.compared} compared steps hold no full window "
            f"of {curves.window}",
            field="window",
            hint="choose a smaller --window, or compare longer runs",
        )


def _comparable(run: Run, baseline: Run, across_plans: bool) -> tuple[Difference, ...]:
    """In what their plans differ. Raises Refused when the two cannot be compared."""
    if run.run_id == baseline.run_id:
        raise Refused(f"run {run.run_id} is its own baseline", field="baseline", hint="name another run as BASELINE")
    for side, each in (("run", run), ("baseline", baseline)):
        if each.method not in SUPERVISED:
            raise Refused(
                f"run {each.run_id} was trained by {each.method}, which records a reward at each step rather than a "
                "training loss",
                field=side,
                hint="compare accepts supervised runs only",
            )
    found = differences(run.plan, baseline.plan)
    if found and not across_plans:
        raise _different_plans(run, baseline, found)
    return found


def _different_plans(run: Run, baseline: Run, found: tuple[Difference, ...]) -> Refused:
    count = "one setting" if len(found) == 1 else f"{len(found)} settings"
    lines = [f"  {each.path}: {_value(each.run)} -> {_value(each.baseline)}" for each in found]
    head = f"the plans of run {run.run_id} and baseline {baseline.run_id} differ in {count} (run -> baseline):"
    return Refused(
        "\n".join([head, *lines]),
        field=found[0].path,
        hint="with --across-plans they are compared all the same, and the differences reported",
    )


def _loss(run: Run, columns: dict[str, Column]) -> Column:
    """The run's training loss. Raises Refused when it recorded none."""
    loss = columns.get("loss")
    if loss is None or not len(loss.steps):
        raise Refused(
            f"run {run.run_id} has recorded no training loss and is {run.phase}",
            field="loss",
            hint=None if run.phase in TERMINAL_PHASES else "compare it once it has trained some steps",
        )
    return loss


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
