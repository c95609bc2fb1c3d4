"""Messages to records, and records to messages: the one place where the two meet.

On the wire an unknown text is empty and an unknown number absent; in a record both are None.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from akka_optimize import records
from akka_optimize.protocol import trainer_pb2 as pb

if TYPE_CHECKING:
    import numpy as np
    from google.protobuf.message import Message


def _text(value: str) -> str | None:
    return value or None


def _optional(message: Message, name: str) -> float | None:
    return getattr(message, name) if message.HasField(name) else None


def _document(text: str) -> records.Document:
    document: records.Document = json.loads(text)
    return document


def _dump(document: records.Document | None) -> str:
    return "" if document is None else json.dumps(document, ensure_ascii=False)


def _shared(message: Message, record: type[Any], **own: Any) -> dict[str, Any]:
    """Arguments of `record`: those of the same name in `message`, and `own` for the rest."""
    for name in (f.name for f in fields(record)):
        if name not in own:
            value = getattr(message, name)
            own[name] = value if isinstance(value, str | int | float | bool) else tuple(value)
    return own


def info(message: pb.Info) -> records.Info:
    """An Info record."""
    return records.Info(**_shared(message, records.Info))


def to_info(record: records.Info) -> pb.Info:
    """An Info message."""
    return pb.Info(**{f.name: getattr(record, f.name) for f in fields(record)})


def dataset(message: pb.Dataset) -> records.Dataset:
    """A Dataset record."""
    return records.Dataset(**_shared(message, records.Dataset))


def to_dataset(record: records.Dataset) -> pb.Dataset:
    """A Dataset message."""
    return pb.Dataset(**{f.name: getattr(record, f.name) for f in fields(record)})


def workload(message: pb.Workload) -> records.Workload:
    """A Workload record."""
    own = {"dataset": _text(message.dataset), "grader": _text(message.grader)}
    return records.Workload(**_shared(message, records.Workload, **own))


def to_workload(record: records.Workload) -> pb.Workload:
    """A Workload message."""
    return pb.Workload(**{f.name: getattr(record, f.name) for f in fields(record)})


def base_model(message: pb.BaseModel) -> records.BaseModel:
    """A BaseModel record."""
    return records.BaseModel(**_shared(message, records.BaseModel))


def to_base_model(record: records.BaseModel) -> pb.BaseModel:
    """A BaseModel message."""
    return pb.BaseModel(**{f.name: getattr(record, f.name) for f in fields(record)})


def division(message: pb.Division) -> records.Division:
    """A Division record."""
    return records.Division(**_shared(message, records.Division))


def to_division(record: records.Division) -> pb.Division:
    """A Division message."""
    return pb.Division(**{f.name: getattr(record, f.name) for f in fields(record)})


def resolved_run(message: pb.ResolvedRun) -> records.ResolvedRun:
    """A ResolvedRun record."""
    documents = {
        name: _document(getattr(message, f"{name}_json")) for name in ("descriptor", "config", "execution", "plan")
    }
    return records.ResolvedRun(
        **_shared(message, records.ResolvedRun, division=division(message.division), **documents)
    )


def to_resolved_run(record: records.ResolvedRun) -> pb.ResolvedRun:
    """A ResolvedRun message."""
    return pb.ResolvedRun(
        descriptor_json=_dump(record.descriptor),
        config_json=_dump(record.config),
        execution_json=_dump(record.execution),
        plan_json=json.dumps(record.plan, sort_keys=True),
        config_hash=record.config_hash,
        division=to_division(record.division),
        steps=record.steps,
        training_rows=record.training_rows,
        validation_rows=record.validation_rows,
        skipped_rows=record.skipped_rows,
        stated=record.stated,
        notes=record.notes,
    )


_RUN_TEXTS = (
    *("name", "purpose", "description", "config_name", "dataset_name", "grader", "submission_id"),
    *("failure_code", "failure_reason", "started_at", "ended_at", "parent_run_id", "source_snapshot_id", "restore"),
    *("best_snapshot_id", "last_snapshot_id", "repeats"),
)
_RUN_DOCUMENTS = ("plan", "config", "execution", "environment", "changes", "origin")
_RUN_NUMBERS = ("saved_step", "source_step", "best_step")  # 0 stands for none
_RUN_LOSSES = ("loss", "validation_loss", "best_validation_loss")


def run(message: pb.Run) -> records.Run:
    """A Run record."""
    own: dict[str, Any] = {name: _text(getattr(message, name)) for name in _RUN_TEXTS}
    for name in _RUN_DOCUMENTS:
        text = getattr(message, f"{name}_json")
        own[name] = _document(text) if text else None
    return records.Run(
        **_shared(
            message,
            records.Run,
            division=division(message.division),
            pause=_pause(message.pause) if message.HasField("pause") else None,
            events=tuple(json.loads(message.events_json or "[]")),
            changed=tuple(json.loads(message.changed_json)) if message.changed_json else None,
            **{name: getattr(message, name) or None for name in _RUN_NUMBERS},
            **{name: _optional(message, name) for name in _RUN_LOSSES},
            **own,
        )
    )


def to_run(record: records.Run) -> pb.Run:
    """A Run message."""
    own: dict[str, Any] = {f"{name}_json": _dump(getattr(record, name)) for name in _RUN_DOCUMENTS}
    own["plan_json"] = json.dumps(record.plan, sort_keys=True)
    own["division"] = to_division(record.division)
    own["pause"] = None if record.pause is None else _to_pause(record.pause)
    own["events_json"] = json.dumps(record.events, ensure_ascii=False) if record.events else ""
    own["changed_json"] = "" if record.changed is None else json.dumps(record.changed, ensure_ascii=False)
    plain = {f.name for f in fields(record)} - {*_RUN_DOCUMENTS, "division", "pause", "events", "changed"}
    return pb.Run(**own, **{name: getattr(record, name) for name in plain})


def _pause(message: pb.Pause) -> records.Pause:
    own = {"checkpoint": _text(message.checkpoint), "reason": _text(message.reason)}
    return records.Pause(**_shared(message, records.Pause, saved_step=message.saved_step or None, **own))


def _to_pause(record: records.Pause) -> pb.Pause:
    return pb.Pause(**{f.name: getattr(record, f.name) for f in fields(record)})


def run_event(message: pb.RunEvent) -> records.RunEvent:
    """A RunEvent record."""
    own = {"failure_code": _text(message.failure_code), "failure_reason": _text(message.failure_reason)}
    return records.RunEvent(**_shared(message, records.RunEvent, loss=_optional(message, "loss"), **own))


def to_run_event(record: records.RunEvent) -> pb.RunEvent:
    """A RunEvent message."""
    return pb.RunEvent(**{f.name: getattr(record, f.name) for f in fields(record)})


def hparams(message: pb.Hparams) -> records.Hparams:
    """An Hparams record."""
    return records.Hparams(message.run_id, _document(message.hparams_json), message.sha)


def snapshot(message: pb.Snapshot) -> records.Snapshot:
    """A Snapshot record."""
    artifacts = tuple(records.Artifact(**_shared(artifact, records.Artifact)) for artifact in message.artifacts)
    loss = _optional(message, "validation_loss")
    return records.Snapshot(**_shared(message, records.Snapshot, artifacts=artifacts, validation_loss=loss))


def to_snapshot(record: records.Snapshot) -> pb.Snapshot:
    """A Snapshot message."""
    own = {f.name: getattr(record, f.name) for f in fields(record)}
    own["artifacts"] = [
        pb.Artifact(**{f.name: getattr(artifact, f.name) for f in fields(artifact)}) for artifact in record.artifacts
    ]
    return pb.Snapshot(**own)


def branches(message: pb.Branches) -> records.Branches:
    """A Branches record."""
    fan = records.Fan(**_shared(message.fan, records.Fan))
    points = tuple(map(_branch, message.points))
    return records.Branches(**_shared(message, records.Branches, points=points, fan=fan))


def to_branches(record: records.Branches) -> pb.Branches:
    """A Branches message."""
    own = {f.name: getattr(record, f.name) for f in fields(record)}
    own["fan"] = pb.Fan(**{f.name: getattr(record.fan, f.name) for f in fields(record.fan)})
    own["points"] = map(_to_branch, record.points)
    return pb.Branches(**own)


_BRANCH_DOCUMENTS = ("changes", "config", "execution")


def _branch(message: pb.Branch) -> records.Branch:
    own: dict[str, Any] = {name: _document(getattr(message, f"{name}_json")) for name in _BRANCH_DOCUMENTS}
    own |= {"phase": _text(message.phase), "restore_error": _optional(message, "restore_error")}
    return records.Branch(**_shared(message, records.Branch, **own))


def _to_branch(record: records.Branch) -> pb.Branch:
    own: dict[str, Any] = {f"{name}_json": _dump(getattr(record, name)) for name in _BRANCH_DOCUMENTS}
    plain = {f.name for f in fields(record)} - set(_BRANCH_DOCUMENTS)
    return pb.Branch(**own, **{name: getattr(record, name) for name in plain})


def without_steps(chunk: pb.MetricsChunk) -> pb.MetricsChunk:
    """The chunk for the wire: steps that follow each other are told by the first one, a sixth of the bytes less.

    `chunk.steps` is strictly ascending. The chunk itself is changed.
    """
    steps = chunk.steps
    if steps and steps[0] and steps[-1] - steps[0] == len(steps) - 1 and not all(c.steps for c in chunk.columns):
        chunk.first_step = steps[0]
        chunk.ClearField("steps")
    return chunk


def metrics(chunks: Iterable[pb.MetricsChunk]) -> records.Metrics:
    """Join chunks, in attempt and step order, into whole columns."""
    import numpy as np

    parts: dict[str, list[tuple[np.ndarray, np.ndarray, int]]] = {}
    for chunk in chunks:
        stated = np.asarray(chunk.steps)
        for column in chunk.columns:
            if column.steps:
                steps = np.asarray(column.steps)
            elif chunk.first_step:
                steps = np.arange(chunk.first_step, chunk.first_step + len(column.values))
            else:
                steps = stated
            parts.setdefault(column.name, []).append((steps, np.asarray(column.values), chunk.attempt))
    return records.Metrics({name: _column(pieces) for name, pieces in parts.items()})


def _column(pieces: list[tuple[np.ndarray, np.ndarray, int]]) -> records.Column:
    import numpy as np

    numbers = [attempt for _, _, attempt in pieces]
    lengths = [len(values) for _, values, _ in pieces]
    if min(numbers) == max(numbers):
        attempts = np.broadcast_to(np.int64(numbers[0]), sum(lengths))  # no memory for what is one number
    else:
        attempts = np.repeat(np.array(numbers, np.int64), lengths)
    return records.Column(
        steps=np.concatenate([steps for steps, _, _ in pieces], dtype=np.int64),
        values=np.concatenate([values for _, values, _ in pieces]),
        attempts=attempts,
    )
