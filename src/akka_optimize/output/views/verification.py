"""How what was found in the records of runs is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.output.text import cell
from akka_optimize.output.view import Document, Field, View, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.records import Verification


def _document(found: object) -> Document:
    folders: tuple[Verification, ...] = found.folders  # type: ignore[attr-defined]  # an action's own record
    return {
        "sound": not any(each.mismatches for each in folders),
        "folders": [{**plain(each), "sound": not each.mismatches} for each in folders],
    }


def _text(found: object) -> str:
    folders: tuple[Verification, ...] = found.folders  # type: ignore[attr-defined]  # an action's own record
    return "\n".join(line for each in folders for line in _lines(each))


def _lines(found: Verification) -> Iterator[str]:
    if not found.mismatches:
        yield f"{cell(found.folder)}: sound ({found.files} files, {found.bytes} bytes)"
    for each in found.mismatches:
        yield f"{cell(found.folder)}: {cell(each.file or 'the folder')} {cell(each.problem)}"


VERIFICATION = View(
    name="verification",
    fields=(
        Field("sound", "is every folder what it says it is?"),
        Field("folders", "each with folder, runId, configHash, files, bytes, mismatches (file, problem) and sound"),
    ),
    to_json=_document,
    to_text=_text,
)
