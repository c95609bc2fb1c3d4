"""A folder of event files, as TensorBoard reads them, that grows with a run's curves.

Beside the event files stands a note of what they hold, so that whoever comes next appends what is new and repeats
nothing. Where values that were written have changed since, an event tells TensorBoard to forget the steps from there
on, and they are written again. This process writes, and no thread of it, so that a full disk is told.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from akka_optimize import errors

if TYPE_CHECKING:
    from akka_optimize.core.mirror import Curve

    Curves = Mapping[str, Curve]

TAGS = {
    "loss": "loss/training",
    "validationLoss": "loss/validation",
    "gradNorm": "optimizer/gradNorm",
    "learningRate": "optimizer/learningRate",
    "tokens": "update/tokens",
    "seconds": "update/seconds",
}
NOTE = "akka-optimize.json"
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


class EventFolder:
    """One run's event files, which this process alone writes while the context lasts.

    Entering makes the folder, or takes up what is in it. Raises Unsupported (tensorboardX is not installed), Refused
    (it holds something else, or is in use) and Exhausted.
    """

    def __init__(self, path: Path, run_id: str) -> None:
        self.path, self.run_id = path.absolute(), run_id
        self._files: dict[str, int] = {}  # sizes in bytes
        self._noted: dict[str, dict[str, Any]] | None = None  # by a process before this one; None: not to be relied on
        self._written: dict[str, Curve] | None = None  # None: nothing by this process yet
        self._writer: _Writer | None = None
        self._lock: int | None = None

    def __enter__(self) -> EventFolder:
        require_library()
        with told(self.path):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._take_up(self._lock)
            except BaseException:
                os.close(self._lock)
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._lock is not None:
            os.close(self._lock)

    @property
    def steps(self) -> int:
        """The last step that the files hold; 0 where they hold none."""
        return max((int(curve.steps[-1]) for curve in (self._written or {}).values()), default=0)

    def write(self, curves: Curves, done_at: Curve) -> int:
        """Bring the files up to these whole curves; at how many steps there was something to write.

        `done_at`: when a step was done, in seconds since 1970; one that is not there is written with the time 0.
        Values are written as float32, which is what TensorBoard keeps. Raises Refused, Exhausted (disk).
        """
        curves = {name: curve for name, curve in curves.items() if name in TAGS and len(curve.steps)}
        kept, forgotten = self._kept(curves)
        new = {name: curve.after(kept.get(name, 0)) for name, curve in curves.items()}
        rows = sorted({step for curve in new.values() for step in curve.steps.tolist()})
        with told(self.path):
            if forgotten is not None or rows:
                self._append(new, rows, done_at, forgotten)
            self._written = curves
            self._keep_note({name: {"count": len(c.steps), "sha256": c.digest()} for name, c in curves.items()})
        return len(rows)

    def _kept(self, curves: Curves) -> tuple[dict[str, int], int | None]:
        """How much of each column is in the files already, and from which step on they are to be forgotten."""
        if self._written is not None:
            partings = [
                parting
                for name, written in self._written.items()
                if (parting := written.parting(curves[name]) if name in curves else 0) is not None
            ]
            from_step = min(partings, default=None)
            if from_step is None:
                return {name: len(written.steps) for name, written in self._written.items()}, None
            return {name: int(curve.steps.searchsorted(from_step)) for name, curve in curves.items()}, from_step
        noted = self._noted
        if noted is not None and all(_begins(curves.get(name), **told) for name, told in noted.items()):
            return {name: int(told["count"]) for name, told in noted.items()}, None
        return {}, 0 if self._files else None

    def _append(self, new: Curves, rows: list[int], done_at: Curve, forgotten: int | None) -> None:
        if self._writer is None:
            name = f"events.out.tfevents.{len(self._files):06d}.{self.run_id}"
            self._writer = _Writer(self.path / name)
        if forgotten is not None:
            self._writer.forget(forgotten)
        columns = [(TAGS[name], dict(zip(c.steps.tolist(), c.values.tolist(), strict=True))) for name, c in new.items()]
        late = done_at.after(int(done_at.steps.searchsorted(rows[0]))) if rows else done_at
        times = dict(zip(late.steps.tolist(), late.values.tolist(), strict=True))
        for step in rows:
            scalars = {tag: values[step] for tag, values in columns if step in values}
            self._writer.scalars(step, scalars, times.get(step, 0.0))
        self._writer.flush()
        self._files[self._writer.path.name] = self._writer.path.stat().st_size

    def _take_up(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise errors.Refused(
                f"another process is writing event files into {self.path}", hint="end it, or name another --dir"
            ) from None
        self._files = {each.name: each.stat().st_size for each in self.path.iterdir() if "tfevents" in each.name}
        note = _read(self.path / NOTE)
        if note is None and self._files:
            raise errors.Refused(
                f"{self.path} holds event files that this command did not write", hint="name an empty folder with --dir"
            )
        if note is not None and note["runId"] != self.run_id:
            raise errors.Refused(
                f"{self.path} holds the event files of run {note['runId']}",
                hint="name another folder with --dir; TensorBoard shows both when it is opened on the one above them",
            )
        if note is not None and note["files"] == self._files:
            self._noted = note["columns"]
        self._keep_note(self._noted or {})

    def _keep_note(self, columns: Mapping[str, Mapping[str, Any]]) -> None:
        note = {"runId": self.run_id, "files": self._files, "columns": columns}
        beside = self.path / f".tmp-{os.getpid()}-{NOTE}"
        try:
            beside.write_text(json.dumps(note, indent=2) + "\n", "utf-8")
            beside.replace(self.path / NOTE)
        finally:
            beside.unlink(missing_ok=True)


class _Writer:
    """One event file."""

    def __init__(self, path: Path) -> None:
        from tensorboardX import RecordWriter
        from tensorboardX.proto import event_pb2, summary_pb2

        self.path, self._event, self._summary = path, event_pb2, summary_pb2
        self._records = RecordWriter(os.fspath(path))
        self._write(file_version="brain.Event:2")

    def scalars(self, step: int, scalars: Mapping[str, float], wall_time: float) -> None:
        """What was recorded at one step."""
        values = [self._summary.Summary.Value(tag=tag, simple_value=value) for tag, value in scalars.items()]
        self._write(step=step, wall_time=wall_time, summary=self._summary.Summary(value=values))

    def forget(self, step: int) -> None:
        """Whoever reads the file drops what it read of this step and those after it."""
        started = self._event.SessionLog(status=self._event.SessionLog.START)
        self._write(step=step, session_log=started)

    def flush(self) -> None:
        """Have all of it on the disk."""
        self._records.flush()

    def close(self) -> None:
        """Let go; what counts was flushed."""
        with suppress(OSError):
            self._records.close()

    def _write(self, **event: Any) -> None:
        self._records.write(self._event.Event(**event).SerializeToString())


def require_library() -> None:
    """Raise Unsupported where event files cannot be written."""
    try:
        import tensorboardX  # noqa: F401
    except ImportError:
        raise errors.Unsupported(
            "event files are written with tensorboardX, which is not installed",
            hint="pip install 'akka-optimize[tensorboard]'",
        ) from None


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What the disk refuses in the block is Exhausted or Refused, and names the path."""
    try:
        yield
    except OSError as error:
        kind = errors.Exhausted if error.errno in NO_ROOM else errors.Refused
        raise kind(f"{error.filename or path}: {error.strerror or error}") from error


def _begins(curve: Curve | None, *, count: int, sha256: str) -> bool:
    return curve is not None and len(curve.steps) >= count and curve.first(count).digest() == sha256


def _read(path: Path) -> dict[str, Any] | None:
    """The note; None where there is none that could be of this command."""
    try:
        note = json.loads(path.read_bytes())
        return {"runId": str(note["runId"]), "files": dict(note["files"]), "columns": dict(note["columns"])}
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None
