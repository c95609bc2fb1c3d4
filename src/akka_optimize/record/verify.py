"""A run's folder held against itself, from its files alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.record import checksums, files, jsonfile, layout
from akka_optimize.record.contents import Contents, check
from akka_optimize.record.findings import Findings
from akka_optimize.records import Verification

if TYPE_CHECKING:
    from pathlib import Path

ONE_OF = (layout.RUN, layout.CONFIG, layout.CHECKSUMS)
DOCUMENTS = frozenset({*ONE_OF, layout.SUMMARY, layout.MANIFEST})
STILL_OPEN = "is missing: the run has not ended, or the file was removed"


def verify(folder: Path, *, name: str | None = None) -> Verification:
    """Hold every file of a run's folder against what the others say of it; each is read once for its digest.

    Needs no catalog and no trainer, and follows no link but `folder` itself. `name` is what the folder is called, by
    default its own name; one of the form RUNID-CONFIGHASH has to fit what is inside. Every mismatch is collected.
    Raises NotFound (no such folder), Invalid (not the folder of a run), Refused (cannot be read).
    """
    name = os.path.basename(os.path.abspath(folder)) if name is None else name
    require_run(folder)
    findings = Findings()
    seen = _seen(folder, findings)
    listed = _listed(seen, findings)
    contents = Contents(folder, name, seen, listed, layout.CHECKSUMS in seen, findings)
    run_id, config_hash = check(contents)
    findings.settle(seen)
    return Verification(
        folder=str(folder),
        run_id=run_id,
        config_hash=config_hash,
        files=len(seen),
        bytes=sum(found.size for found in seen.values()),
        mismatches=findings.mismatches(),
    )


def require_run(folder: Path) -> None:
    """Raise NotFound, Invalid or Refused unless this is the folder of a run, whatever state it is in."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, ValueError):
        raise errors.NotFound(f"{folder}: no such folder") from None
    except NotADirectoryError:
        raise errors.Invalid(f"{folder} is a file, where the folder of a run belongs") from None
    except OSError as error:
        raise errors.Refused(f"{folder} cannot be read: {(error.strerror or str(error)).lower()}") from None
    if not set(names) & set(ONE_OF):
        raise errors.Invalid(
            f"{folder} is not the folder of a run: it has no {layout.RUN}",
            hint="a run's folder is named RUNID-CONFIGHASH, below `runs` in a trainer's home or where it was exported",
        )


def _seen(folder: Path, findings: Findings) -> dict[str, files.Seen]:
    """Every plain file below the folder, read; what is none, or cannot be read, is said."""
    seen = {}
    for path, oddity in files.walk(folder):
        if oddity is not None:
            findings.say(path, oddity)
            continue
        keep = jsonfile.MOST_BYTES if path.rpartition("/")[2] in DOCUMENTS else 0
        try:
            seen[path] = files.seen(folder / path, keep=keep)
        except OSError as error:
            findings.say(path, f"cannot be read: {(error.strerror or str(error)).lower()}")
    return seen


def _listed(seen: dict[str, files.Seen], findings: Findings) -> dict[str, str] | None:
    """What checksums.txt lists, once it is known to be whole; all of it is wanted, and nothing else."""
    found = seen.get(layout.CHECKSUMS)
    if found is None:
        findings.want(layout.CHECKSUMS, None, "")
        findings.say(layout.CHECKSUMS, STILL_OPEN)
        return None
    if found.content is None:
        findings.say(layout.CHECKSUMS, f"is larger than {jsonfile.MOST_BYTES // 2**20} MiB")
        return None
    listed = checksums.read(found.content)
    for problem in listed.problems:
        findings.say(layout.CHECKSUMS, f"{problem}; no file was held against it")
    if listed.problems:
        return None
    for path, digest in listed.digests.items():
        may_be_gone = path == layout.DIFF  # which stays where the run was asked for
        findings.want(path, digest, layout.CHECKSUMS, may_be_gone=may_be_gone)
    for path in seen.keys() - listed.digests.keys() - {layout.CHECKSUMS, layout.DIFF}:
        unfinished = f"/{layout.UNFINISHED}" in f"/{path}"
        findings.say(
            path,
            "was left by a writer that did not finish" if unfinished else f"is not listed in {layout.CHECKSUMS}",
        )
    return listed.digests
