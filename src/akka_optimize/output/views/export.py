"""How the folders that an export wrote are shown."""

from __future__ import annotations

from akka_optimize.output.view import Column, Field, View

EXPORTED = View(
    name="export",
    fields=(
        Field("directory", "where the folders are"),
        Field("runIds", "the runs, each after the one it branched from"),
        Field("folders", "the names of their folders, in that order"),
        Field("existing", "those that were there already"),
        Field("bytes", "what was written"),
    ),
    columns=(
        Column("Directory", "directory"),
        Column("Folders", lambda exported: "\n".join(exported.folders)),
        Column("Bytes", "bytes"),
    ),
)
