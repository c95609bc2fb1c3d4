"""How a descriptor that was checked, and not started, is shown."""

from __future__ import annotations

from akka_optimize.output.view import Column, Field, View
from akka_optimize.output.views.run import settings, spread

FIELDS = (
    Field("descriptor", "the descriptor with every default filled in"),
    Field("config", "the resolved configuration"),
    Field("execution", "how it would be carried out, resolved"),
    Field("plan", "what is hashed: config.json"),
    Field("configHash", "first 12 hex digits of the plan's sha256"),
    Field("division", "devices, sequencesPerPass, accumulation, sequencesPerUpdate"),
    Field("steps", "the horizon, in updates"),
    Field("trainingRows", "rows in an epoch"),
    Field("validationRows", "rows held out"),
    Field("skippedRows", "rows whose assistant tokens do not fit"),
    Field("stated", "paths that the descriptor set itself"),
    Field("notes", "what is worth knowing before it starts"),
)
BLOCK = (
    Column("Config hash", "configHash"),
    Column("Steps", "steps"),
    Column("Training rows", "trainingRows"),
    Column("Held-out rows", "validationRows"),
    Column("Skipped rows", "skippedRows"),
    Column("Division", lambda run: f"{spread(run.division)} (devices x sequences per pass x accumulation)"),
    Column("Notes", lambda run: "\n".join(run.notes) or None),
)


VALIDATED = View(name="resolved run", fields=FIELDS, block=BLOCK)
RESOLVED = View(name="resolved run", fields=FIELDS, to_text=settings)
