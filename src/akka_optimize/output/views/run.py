"""How a run is shown: in a list, as a block, and with its settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from akka_optimize.output.finite import NON_FINITE, formatted, stating
from akka_optimize.output.text import labelled
from akka_optimize.output.view import Column, Field, View
from akka_optimize.output.views.changes import lines, several

if TYPE_CHECKING:
    from akka_optimize.records import Division, Document, ResolvedRun, Run

FIELDS = (
    Field("runId", "its ID, 16 hex digits"),
    Field("name", "what it was called when it started"),
    Field("purpose", "one sentence: why this run"),
    Field("description", "free text"),
    Field("configName", "label of its configuration"),
    Field("phase", "QUEUED, PREPARING, TRAINING, PAUSED, COMPLETED, FAILED or CANCELLED"),
    Field("workload", "name of the workload it belongs to"),
    Field("workloadId", "ID of that workload"),
    Field("method", "training method"),
    Field("baseModel", "repository of the model it adapts"),
    Field("dataset", "hash of the rows it trains on"),
    Field("datasetName", "the dataset as its descriptor named it"),
    Field("grader", "how its outputs are scored"),
    Field("submissionId", "token of its submission"),
    Field("configHash", "first 12 hex digits of the plan's sha256"),
    Field("plan", "what was hashed: config.json"),
    Field("config", "the resolved configuration"),
    Field("execution", "how it is carried out, resolved"),
    Field("environment", "versions, device and threads it trained with"),
    Field("stated", "paths that the descriptor set itself"),
    Field("division", "devices, sequencesPerPass, accumulation, sequencesPerUpdate"),
    Field("seed", "where its randomness starts"),
    Field("steps", "its horizon, in updates"),
    Field("observedStep", "updates done"),
    Field("savedStep", "step of the newest snapshot"),
    Field("attempt", "how often it was begun"),
    Field("loss", "training loss at observedStep, in nats per token"),
    Field("validationLoss", "newest mean loss over the held-out rows, in nats per token"),
    Field("failureCode", "why it failed, as a word"),
    Field("failureReason", "why it failed, as a sentence"),
    Field("resumable", "can it go on from where it failed?"),
    Field("createdAt", "when it was submitted"),
    Field("startedAt", "when a worker began with it"),
    Field("endedAt", "when it ended"),
    Field("folder", "its record, below the trainer's home"),
    Field("trainingRows", "rows in an epoch"),
    Field("validationRows", "rows held out"),
    Field("skippedRows", "rows whose assistant tokens do not fit"),
    Field("parentRunId", "the run it branched from"),
    Field("sourceSnapshotId", "the snapshot it started from"),
    Field("sourceStep", "the parent's update at which that was saved"),
    Field("restore", "what it took up from there: weights or trainingState"),
    Field("changes", "what its point set, by path below config"),
    Field("pause", "why it stands still or is about to: checkpoint, requestedAt, savedStep, reason, resourcesReleased"),
    Field("bestSnapshotId", "its snapshot with the lowest validation loss"),
    Field("bestStep", "the update of that"),
    Field("bestValidationLoss", "the loss of that, in nats per token"),
    Field("lastSnapshotId", "its newest snapshot"),
    Field("replacedSteps", "steps that attempts which ended had recorded, and that were trained again since"),
    Field("events", "what happened to it, oldest first: attempts that ended, restarts, clocks that jumped, comments"),
    Field("changed", "where a child's plan differs from its parent's, source and horizon aside: path, from, to"),
    Field("repeats", "the run whose plan it starts again"),
    Field("origin", "commit and diffSha256 of the git repository that it was asked for in"),
    Field("severalChanges", "does it change more than one setting of its parent at once?"),
    NON_FINITE,
)
_stated = stating("loss", "validation_loss", "best_validation_loss")


def to_json(run: Run) -> Document:
    """A run's document."""
    document = _stated(run)
    stated = document.pop(NON_FINITE.name)
    return document | {"severalChanges": several(run), NON_FINITE.name: stated}


def spread(division: Division) -> str:
    """`1x4x2`: devices, sequences per pass, accumulation."""
    return f"{division.devices}x{division.sequences_per_pass}x{division.accumulation}"


def phase(run: Run) -> str:
    """The phase in title case, as text shows it."""
    return run.phase.capitalize()


def _progress(run: Run) -> str:
    share = f"{run.observed_step}/{run.steps} steps ({run.observed_step / run.steps:.0%})"
    return share if run.loss is None else f"{share}, loss {formatted(run.loss, '.4f')}"


def _rows(run: Run) -> str:
    skipped = f", {run.skipped_rows} skipped" if run.skipped_rows else ""
    return f"{run.training_rows} in an epoch, {run.validation_rows} held out{skipped}"


def _failure(run: Run) -> str | None:
    return run.failure_reason.split("\n")[0] if run.failure_reason else None


def _source(run: Run) -> str | None:
    if run.parent_run_id is None or run.source_snapshot_id is None:
        return None
    snapshot = run.source_snapshot_id[:12]
    return f"{run.parent_run_id} at step {run.source_step} (snapshot {snapshot}, {run.restore} restored)"


def _saved(snapshot_id: str | None, step: int | None, loss: float | None = None) -> str | None:
    if snapshot_id is None:
        return None
    told = "" if loss is None else f", validation loss {formatted(loss, '.6g')}"
    return f"{snapshot_id[:12]} of step {step}{told}"


def _pause(run: Run) -> str | None:
    if run.pause is None:
        return None
    pause = run.pause
    who = "by the trainer" if pause.checkpoint is None else f"on demand (checkpoint {pause.checkpoint})"
    goes_on = "the beginning" if pause.saved_step is None else f"step {pause.saved_step}"
    if pause.checkpoint == "save" and not pause.resources_released:
        goes_on = "the save that it is to make"
    asked = "" if pause.resources_released else ", not yet carried out"
    reason = f": {pause.reason}" if pause.reason else ""
    return f"{who} at {pause.requested_at}{asked}, goes on from {goes_on}{reason}"


def _restarts(run: Run) -> str | None:
    told = [
        f"attempt {event.get('attempt')} from step {event.get('restoredStep')}, {event.get('replacedSteps')} replaced"
        for event in run.events
        if event.get("kind") == "resumed"
    ]
    return "\n".join(told) or None


def _comments(run: Run) -> str | None:
    told = [f"{event['at']}  {event.get('text')}" for event in run.events if event.get("kind") == "comment"]
    return "\n".join(told) or None


def _origin(run: Run) -> str | None:
    if run.origin is None:
        return None
    digest = run.origin.get("diffSha256")
    return f"commit {run.origin['commit'][:12]}" + (f" with changes, diff {digest[:12]}" if digest else ", clean")


BLOCK = (
    Column("Run", "runId"),
    Column("Name", "name"),
    Column("Purpose", "purpose"),
    Column("Phase", phase),
    Column("Failure", _failure),
    Column("Progress", _progress),
    Column("Validation loss", lambda run: run.validation_loss),
    Column("Best snapshot", lambda run: _saved(run.best_snapshot_id, run.best_step, run.best_validation_loss)),
    Column("Last snapshot", lambda run: _saved(run.last_snapshot_id, run.saved_step)),
    Column("Paused", _pause),
    Column("Restarts", _restarts),
    Column("Repeats", "repeats"),
    Column("Branched from", _source),
    Column("Changes", lines),
    Column("Workload", "workload"),
    Column("Base model", "baseModel"),
    Column("Dataset", lambda run: f"{run.dataset[:12]} ({run.dataset_name})" if run.dataset_name else run.dataset[:12]),
    Column("Rows", _rows),
    Column("Config hash", "configHash"),
    Column("Seed", "seed"),
    Column("Division", lambda run: f"{spread(run.division)} (devices x sequences per pass x accumulation)"),
    Column("Attempt", "attempt"),
    Column("Created", "createdAt"),
    Column("Started", "startedAt"),
    Column("Ended", "endedAt"),
    Column("Origin", _origin),
    Column("Comments", _comments),
    Column("Folder", "folder"),
)

RUN = View(
    name="run",
    plural="runs",
    fields=FIELDS,
    columns=(
        Column("RUN", "runId"),
        Column("NAME", "name"),
        Column("PHASE", phase),
        Column("STEP", lambda run: f"{run.observed_step}/{run.steps}"),
        Column("LOSS", lambda run: run.loss),
        Column("CONFIG", "configHash"),
        Column("WORKLOAD", "workload"),
        Column("CREATED", lambda run: run.created_at[:19] + "Z"),
    ),
    block=BLOCK,
    to_json=to_json,
)


def leaves(document: Document, prefix: str) -> Iterator[tuple[str, object]]:
    """Every setting of a document by its dotted path, in the document's order."""
    for key, value in document.items():
        path = f"{prefix}.{key}"
        if isinstance(value, dict):
            yield from leaves(value, path)
        else:
            yield path, value


def settings(record: Run | ResolvedRun) -> str:
    """Config and execution with every default filled in; what the descriptor set itself is marked."""
    pairs = [*leaves(record.config, "config"), *leaves(record.execution, "execution")]
    stated = set(record.stated)
    return labelled(
        [(path, f"{_exact(value)}  (stated)" if path in stated else _exact(value)) for path, value in pairs]
    )


def _exact(value: object) -> str | None:
    """A setting in its own type: `8` is an integer and `8.0` a float, as in a plan."""
    return None if value is None else repr(value) if isinstance(value, float) else str(value)


SETTINGS = View(name="run", fields=FIELDS, to_json=to_json, to_text=settings)
