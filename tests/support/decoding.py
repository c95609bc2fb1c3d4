"""Small jobs for the built-in engine, of ragged rows."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from support import life

from akka_optimize.core import descriptor, plans
from akka_optimize.records import Division, Document
from akka_optimize.trainer import base_models
from akka_optimize.trainer.engines import Job, Session, Step

MODEL = "akka/byte-decoder-1m"
OPTIMIZER = "config.hyperparams.optimizer"
TRAINING = "config.hyperparams.training"
LORA = "config.hyperparams.lora"
WORDS = ("rain", "soup", "goal", "song", "ticket", "horse", "lesson", "tulip", "doctor", "coin", "scarf", "comet")


def rows(count: int = 24, longest: int = 12) -> list[Document]:
    """Chat rows of one to `longest` words each way; every third has a system message."""
    draw = random.Random(count)
    made = []
    for i in range(count):
        asked = " ".join(draw.choices(WORDS, k=draw.randint(1, longest)))
        row = life.row(asked, " ".join(reversed(asked.split()[:3])))
        if i % 3 == 0:
            row["messages"].insert(0, {"role": "system", "content": "Backwards."})
        made.append(row)
    return made


def job(
    settings: Mapping[str, Any] | None = None,
    *,
    steps: int = 5,
    passes: int = 1,
    devices: int = 1,
    chats: list[Document] | None = None,
) -> Job:
    """A job of `steps` updates of 8 rows, in this many passes on each of so many devices.

    `settings` change the descriptor by dotted path.
    """
    document = life.descriptor({f"{OPTIMIZER}.learningRate": 1e-3, **(settings or {})})
    config = descriptor.resolve(document).config
    model = base_models.find(MODEL)
    plan = plans.plan(config, dataset_hash="0" * 64, steps=steps, base_model=model.repository, revision=model.revision)
    size = config["hyperparams"]["training"]["sequencesPerUpdate"]
    division = Division(devices, size // (devices * passes), passes, size)
    return Job("0" * 16, plan, division, chats or rows(), model)


def advance(session: Session, updates: int) -> list[Step]:
    """The records of the next updates, without the time that each took."""
    steps = session.steps()
    return [replace(next(steps), seconds=0.0) for _ in range(updates)]


def curve(session: Session) -> list[Step]:
    """The records of all updates that are left, without the time that each took."""
    return [replace(step, seconds=0.0) for step in session.steps()]
