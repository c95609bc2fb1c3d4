"""Check the records of runs: folders right here, without a trainer, and runs where their trainer is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from akka_optimize.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from akka_optimize.records import Verification


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def verify_run(self, ref: str) -> Verification:
        """Check the files of a run's record, where the trainer is."""
        ...


@dataclass(frozen=True, slots=True)
class Verified:
    """What checking came to, in the order asked for."""

    folders: tuple[Verification, ...]

    @property
    def sound(self) -> bool:
        """Is every one what it says it is?"""
        return not any(each.mismatches for each in self.folders)


def verify(trainer: Callable[[], Trainer], named: Sequence[str]) -> Verified:
    """Check each of `named`; `trainer` is asked for only when one of them is no folder.

    Raises NotFound and Invalid for a folder that is none of a run, before anything is read; Refused (cannot be read);
    what `verify_run` raises.
    """
    from akka_optimize.record import verify as folders

    for name in named:
        if is_folder(name):
            folders.require_run(Path(name))
    return Verified(
        tuple(folders.verify(Path(name)) if is_folder(name) else trainer().verify_run(name) for name in named)
    )


def is_folder(name: str) -> bool:
    """Does this name a folder here? Every existing one does, and everything that is written as a path."""
    return os.sep in name or os.path.isdir(name)


def require_sound(found: Verified) -> None:
    """Raise Refused unless all is as its record says."""
    if not found.sound:
        wrong = sum(bool(each.mismatches) for each in found.folders)
        told = "the record" if len(found.folders) == 1 else f"{wrong} of {len(found.folders)} records"
        raise Refused(f"{told} did not pass")
