"""The folder that a run is asked for in, as git knows it: the commit, and the hash of what differs from it.

What git does not follow, new files among it, is not told of; and no path of this machine is.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, TypeVar

from akka_optimize.errors import Exhausted, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from akka_optimize.records import Origin

MOST_BYTES = 2**20  # of a diff that is kept
SECONDS = 3.0  # that git may take for each of two questions
CHUNK_BYTES = 2**16
T = TypeVar("T")
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# As `git diff HEAD --binary` prints where nothing is configured, whatever is; and without a helper of somebody's own.
GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=true", "-c", "core.abbrev=auto")
HEAD = (*GIT, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
DIFF = (
    *(*GIT, "diff", "HEAD", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--find-renames", "--diff-algorithm=myers", "--indent-heuristic"),
    *("--unified=3", "--inter-hunk-context=0", "--submodule=short"),
)


def origin(include_diff: bool) -> Origin | None:
    """The current folder's commit and dirty diff; None without git, outside a repository, or when git takes long.

    `include_diff` brings the diff itself. Raises Refused (it was asked for, and git does not tell), Exhausted (it is
    more than 1 MiB).
    """
    from akka_optimize.records import Origin

    if (commit := _head()) is not None and (told := _diff()) is not None:
        digest, size, diff = told
        if include_diff and size > MOST_BYTES:
            raise Exhausted(
                f"--include-diff: what differs from commit {commit[:12]} is {size} bytes, and a record keeps at most "
                f"{MOST_BYTES}",
                hint="commit first, or leave the option out: the hash of the diff is recorded all the same",
            )
        return Origin(commit, digest if size else None, diff if include_diff and size else None)
    if include_diff:
        raise Refused(
            "--include-diff: git does not tell what differs here from a commit",
            hint="go to a git repository with a commit, or leave the option out",
        )
    return None


def _head() -> str | None:
    """The commit that is checked out."""
    told = _asked(HEAD, lambda stream: stream.read().decode("ascii", "replace").strip())
    return told if told is not None and COMMIT.fullmatch(told) else None


def _diff() -> tuple[str, int, bytes] | None:
    """What differs from the commit: its sha256, its bytes, and as many of them as a record keeps."""
    import hashlib

    def read(stream: IO[bytes]) -> tuple[str, int, bytes]:
        digest, size, kept = hashlib.sha256(), 0, b""
        while part := stream.read(CHUNK_BYTES):
            digest.update(part)
            size += len(part)
            kept += part[: MOST_BYTES - len(kept)]
        return digest.hexdigest(), size, kept

    return _asked(DIFF, read)


def _asked(command: Sequence[str], read: Callable[[IO[bytes]], T]) -> T | None:
    """What `read` makes of a command's output; None where it cannot be started, fails, or takes too long."""
    import os
    import subprocess
    import threading
    from contextlib import suppress
    from signal import SIGKILL

    quiet = os.environ | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    none = subprocess.DEVNULL
    try:  # in a session of its own, so that whatever git itself has started can be ended with it
        process = subprocess.Popen(
            command, stdin=none, stdout=subprocess.PIPE, stderr=none, env=quiet, start_new_session=True
        )
    except OSError:  # no git, or the current folder is gone
        return None

    def end() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)

    late = threading.Timer(SECONDS, end)
    late.daemon = True
    late.start()
    with process:
        assert process.stdout is not None
        try:
            found = read(process.stdout)
        except BaseException:
            end()
            raise
        finally:
            late.cancel()
    return found if process.returncode == 0 else None
