"""How a run's flat hyperparameters are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.output.text import labelled
from akka_optimize.output.view import Field, View

if TYPE_CHECKING:
    from akka_optimize.records import Hparams


def _text(record: Hparams) -> str:
    return labelled([*record.hparams.items(), ("sha", record.sha)])


HPARAMS = View(
    name="hyperparameters",
    fields=(
        Field("runId", "the run"),
        Field("hparams", "every setting that decides the arithmetic, by its path"),
        Field("sha", "sha256 of the plan: equal for equal settings and data"),
    ),
    to_text=_text,
)
