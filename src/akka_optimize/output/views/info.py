"""How a trainer is shown."""

from __future__ import annotations

from akka_optimize.output.view import Column, Field, View

INFO = View(
    name="trainer",
    fields=(
        Field("backend", "embedded (in this process) or server"),
        Field("version", "release of the trainer"),
        Field("home", "folder that holds its runs"),
        Field("workers", "runs that may train at once"),
        Field("queued", "runs that wait"),
        Field("running", "runs that train"),
        Field("startup", "complete, or what is missing"),
        Field("notes", "what the start did"),
        Field("build", "what it runs on"),
        Field("startedAt", "when its start began"),
    ),
    columns=(
        Column("Backend", "backend"),
        Column("Version", "version"),
        Column("Build", "build"),
        Column("Home", "home"),
        Column("Workers", "workers"),
        Column("Queued", "queued"),
        Column("Running", "running"),
        Column("Startup", "startup"),
        Column("Started", "startedAt"),
        Column("Notes", lambda info: "\n".join(info.notes) or None),
    ),
)
