"""How it is shown where a run's event files are."""

from __future__ import annotations

from akka_optimize.output.view import Column, Field, View

MIRRORED = View(
    name="event files",
    fields=(
        Field("runId", "the run"),
        Field("dir", "the folder of its event files"),
        Field("step", "the last step in them"),
        Field("written", "steps that this command wrote"),
        Field("url", "where TensorBoard shows them; null when it was not opened"),
    ),
    columns=(
        Column("Run", "runId"),
        Column("Folder", "dir"),
        Column("Step", "step"),
        Column("Written", lambda mirrored: f"{mirrored.written} steps"),
        Column("TensorBoard", "url"),
    ),
)
