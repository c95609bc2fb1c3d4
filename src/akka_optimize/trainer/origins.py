"""Where a run was asked for, as whoever asks tells it: looked at before it is kept."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from akka_optimize import errors

if TYPE_CHECKING:
    from akka_optimize.records import Document, Origin

MOST_BYTES = 2**20  # of a diff
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
SHA256 = re.compile(r"[0-9a-f]{64}")


def check(origin: Origin | None) -> None:
    """Raise Invalid for what git cannot have said, and Exhausted for a diff of more than 1 MiB."""
    if origin is None:
        return
    if not COMMIT.fullmatch(origin.commit):
        raise errors.Invalid("origin: a commit is 40 or 64 hex digits", field="origin")
    if origin.diff_sha256 is not None and not SHA256.fullmatch(origin.diff_sha256):
        raise errors.Invalid("origin: the hash of a diff is 64 hex digits", field="origin")
    if origin.diff is None:
        return
    if len(origin.diff) > MOST_BYTES:
        raise errors.Exhausted(
            f"origin: a diff of {len(origin.diff)} bytes is more than the {MOST_BYTES} that a record keeps",
            field="origin",
            hint="commit first, or leave the diff out: its hash is kept all the same",
        )
    if hashlib.sha256(origin.diff).hexdigest() != origin.diff_sha256:
        raise errors.Invalid("origin: the diff is not the one that its hash is of", field="origin")


def document(origin: Origin | None) -> Document | None:
    """What a run's record says of it; the diff itself is a file of the run's folder."""
    return None if origin is None else {"commit": origin.commit, "diffSha256": origin.diff_sha256}
