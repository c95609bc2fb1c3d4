"""What of a folder goes with it when it is exported or imported: the files that its checksums list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.record import layout

if TYPE_CHECKING:
    from akka_optimize.records import Verification

MOST_NAMED = 3  # files that a message names


def amiss(found: Verification) -> str | None:
    """What does not match in a folder that is to travel, as a part of a sentence; None for a sound one.

    What a writer left unfinished does not travel, and is not looked at.
    """
    mismatches = [each for each in found.mismatches if f"/{layout.UNFINISHED}" not in f"/{each.file}"]
    if not mismatches:
        return None
    told = [f"{each.file or 'the folder'} {each.problem}" for each in mismatches[:MOST_NAMED]]
    return "; ".join([*told, *few(len(mismatches) - MOST_NAMED)])


def few(more: int) -> list[str]:
    """How many more there are than were named; nothing when all were."""
    return [f"and {more} more"] if more > 0 else []
