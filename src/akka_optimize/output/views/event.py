"""How a run's progress is shown: a line of text, or a line of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.output.finite import NON_FINITE, formatted, stating
from akka_optimize.output.view import Field, View

if TYPE_CHECKING:
    from akka_optimize.records import RunEvent


def _text(event: RunEvent) -> str:
    progress = f"step {event.step}/{event.steps}" if event.step else ""
    loss = f"loss {formatted(event.loss, '.4f')}" if event.loss is not None else ""
    reason = event.failure_reason.split("\n")[0] if event.failure_reason else ""
    return "  ".join(part for part in (event.run_id, event.phase.capitalize(), progress, loss, reason) if part)


EVENT = View(
    name="event",
    fields=(
        Field("runId", "the run"),
        Field("phase", "its phase now"),
        Field("step", "updates done"),
        Field("steps", "its horizon"),
        Field("loss", "training loss at that step"),
        Field("at", "when"),
        Field("terminal", "whether it is the last event"),
        Field("failureCode", "why it failed, as a word"),
        Field("failureReason", "why it failed, as a sentence"),
        NON_FINITE,
    ),
    to_json=stating("loss"),
    to_text=_text,
)
