"""The servicer that answers now: one that says what the start is at, and then the real one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from akka_optimize import __version__, errors, records
from akka_optimize.protocol import convert
from akka_optimize.trainer import environment
from akka_optimize.trainer.catalog.base import utc_now

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.protocol import trainer_pb2 as pb


class Serving:
    """Holds the servicer; every call looks here, so that a start can end while the port is open already."""

    def __init__(self, servicer: Any) -> None:
        self.servicer = servicer

    def method(self, name: str) -> Any:
        """A method of the servicer that answers now. Raises Unreachable (starting), Unsupported (it has none)."""
        method = getattr(self.servicer, name, None)
        if method is None:
            raise errors.Unsupported(f"this trainer has no {name}")
        return method


class Starting:
    """Answers while the home is being opened: what the start is at, and nothing else."""

    def __init__(self, home: Path, stage: str = "opening its home") -> None:
        self.stage = stage
        self._home, self._started_at = home, utc_now()

    def GetInfo(self, _request: pb.GetInfoRequest, _call: object) -> pb.Info:
        """What this trainer is going to be."""
        return convert.to_info(
            records.Info(
                backend="server",
                version=__version__,
                home=str(self._home),
                workers=0,
                queued=0,
                running=0,
                startup=self.stage,
                notes=(),
                build=environment.build(),
                started_at=self._started_at,
            )
        )

    def __getattr__(self, name: str) -> Any:
        if name[:1].islower() or name.startswith("_"):
            raise AttributeError(name)

        def refuse(_request: object, _call: object) -> None:
            raise errors.Unreachable(f"the trainer is starting: {self.stage}", hint="try again in a moment")

        return refuse
