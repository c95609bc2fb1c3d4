"""An engine that trains nothing: curves from arithmetic, at any speed, without torch.

It stands in for a real engine where the life of a run is what matters. A curve is a function of the plan and the
source: the loss falls with the learning rate spent so far, the noise on it comes from the seed, the dataset, the
sequences per update and the position in the data (what decides the rows of an update), and the division changes
nothing. Equal plans give equal curves, all columns included. A snapshot's weights hold the rate spent; its training
state holds the data position too, so that a child goes on in the parent's noise, and a run that was stopped in its own.

Two environment variables, read when a run starts:

    AKKA_ARITHMETIC_STEP_SECONDS=0.01   sleep this long in every update
    AKKA_ARITHMETIC_FAULT=KIND:STEP     misbehave at one update; several, apart by commas
    AKKA_ARITHMETIC_FAULT=KIND:STEP@S   … only in runs with the seed S

        kill    the process ends itself by SIGKILL
        raise   RuntimeError
        memory  MemoryError
        disk    OSError, no space left on device
        nan     the loss is NaN
        spike   the gradient norm is a thousand times what it was
"""

from __future__ import annotations

import errno
import json
import math
import os
import signal
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from akka_optimize.errors import Invalid
from akka_optimize.trainer.engines import METADATA, Step
from akka_optimize.trainer.engines.decoder import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from akka_optimize.records import Document
    from akka_optimize.trainer.engines import Job, Session, Tokens

BLOCK = 4096  # updates computed at once
START, FLOOR = 5.5, 0.4  # nats
KINDS = ("kill", "raise", "memory", "disk", "nan", "spike")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong at one update."""

    kind: str
    step: int


@dataclass(frozen=True, slots=True)
class ArithmeticHeld:
    """A session after one update: `step` of the run, `spent` learning rate, `updates` that the data was read for."""

    rank: int
    alpha: float
    step: int
    spent: float
    updates: int

    def save_weights(self, path: Path) -> None:
        """Two small matrices that depend on the plan and the update, and the rate spent, to the last bit."""
        from safetensors.numpy import save_file

        down = np.full((self.rank, 4), self.spent, np.float32)
        up = np.full((4, self.rank), self.step, np.float32)
        about = {"rank": self.rank, "alpha": self.alpha, "spent": self.spent}
        save_file({"made_up.A": down, "made_up.B": up}, path, metadata={METADATA: json.dumps(about)})

    def save_training_state(self, path: Path) -> None:
        """The update, the learning rate spent and the updates that the data has been read for, as JSON."""
        path.write_text(json.dumps({"step": self.step, "spent": self.spent, "updates": self.updates}))


class ArithmeticEngine:
    """The engine of base models whose entry says `arithmetic`."""

    def encode(self, row: Document) -> Tokens:
        """Tokenise one chat row, one token a byte. Raises Invalid for a row that is no chat."""
        return tokens.encode(row)

    def start(self, job: Job) -> Session:
        """A session at update 0, or where `job.resume` was saved.

        Raises Invalid when the environment variables are not understood.
        """
        return ArithmeticSession(job, os.environ)


class ArithmeticSession:
    """A run that is made up as it goes."""

    def __init__(self, job: Job, environ: Mapping[str, str]) -> None:
        self._job = job
        self._delay = float(environ.get("AKKA_ARITHMETIC_STEP_SECONDS", "0"))
        self._faults = parse_faults(environ.get("AKKA_ARITHMETIC_FAULT", ""), int(job.plan["seed"]))
        self._step, self._spent, self._updates_before = before(job)
        processes = job.division.devices
        self.environment: Document = {
            "engine": "arithmetic",
            "device": "none",
            "processes": processes,
            "threads": job.threads,
        }
        self.requested = requested(job)
        rank = job.plan["hyperparams"]["lora"]["rank"]
        self.resolved: Document = {
            "config": self.requested["config"] | {"gpus": 0, "device": "none"},
            "adapter": {"trainable": 8 * rank, "layers": {"made_up": {"A": [rank, 4], "B": [4, rank]}}},
        }

    def runtime(self) -> Document:
        """As many processes as were asked for, none of which is there, and nothing that takes memory."""
        count, threads = self._job.division.devices, self._job.threads
        return {
            "trainer": {"changedBySetup": ["gpus"]},
            "processes": [{"rank": rank, "device": "none", "threads": threads} for rank in range(count)],
            "model": {"trainable": self.resolved["adapter"]["trainable"], "wrapped": ["made_up"]},
            "memory": {},
        }

    def steps(self) -> Iterator[Step]:
        """One record per update, up to the plan's horizon."""
        training = self._job.plan["hyperparams"]["training"]
        limit = float(self._job.plan["hyperparams"]["optimizer"]["maxGradNorm"])
        size = int(training["sequencesPerUpdate"])
        for at in range(self._step, int(training["steps"]), BLOCK):
            last = min(at + BLOCK, int(training["steps"]))
            for step, rate, spent, quiet_loss, quiet_norm in self._block(at, last, size):
                if self._delay:
                    time.sleep(self._delay)
                loss, norm = self._misbehave(step, quiet_loss, quiet_norm)
                self._step, self._spent = step, spent
                yield Step(step, loss, norm, 0 < limit < norm, rate, 24 * size, self._delay)

    def epoch(self) -> float:
        """Updates done, a restored state's included, times their rows, over the rows that are not held out."""
        training = self._job.plan["hyperparams"]["training"]
        rows = len(self._job.rows) - self._held_out()
        done = self._updates_before + self._step
        return float(done * int(training["sequencesPerUpdate"]) / max(rows, 1))

    def validate(self) -> float | None:
        """The curve without its noise, a little higher; None when no row is held out."""
        return FLOOR + 0.02 + (START - FLOOR) * math.exp(-self._spent) if self._held_out() else None

    def hold(self) -> ArithmeticHeld:
        """All that the session is made of."""
        lora = self._job.plan["hyperparams"]["lora"]
        updates = self._updates_before + self._step
        return ArithmeticHeld(lora["rank"], lora["alpha"], self._step, self._spent, updates)

    def close(self) -> None:
        """Nothing to let go of."""

    def _held_out(self) -> int:
        share = self._job.plan["hyperparams"]["training"]["validationShare"]
        return round(float(share) * len(self._job.rows))

    def _block(self, first: int, last: int, size: int) -> Iterator[tuple[int, float, float, float, float]]:
        """Updates first+1 … last as (step, rate, rate spent so far in units of learning, loss, gradient norm)."""
        plan = self._job.plan
        t = np.arange(first, last)  # (updates,)
        rates = learning_rates(plan, t)
        strength = 40 * math.sqrt(plan["hyperparams"]["lora"]["rank"] / 8)
        # Summed one by one from the start on, so that a run that was cut anywhere goes on in the same bits.
        spent = np.cumsum(np.concatenate(([self._spent], rates * strength)))[1:]
        left = np.exp(-spent)
        noise = noise_at(f"{plan['seed']}/{plan['dataset']}/{size}", t + self._updates_before)
        loss = FLOOR + (START - FLOOR) * left + 0.2 / math.sqrt(size) * noise
        norm = 0.3 + 1.5 * left + 0.1 * np.abs(noise)
        columns = ((t + 1).tolist(), rates.tolist(), spent.tolist(), loss.tolist(), norm.tolist())
        return iter(list(zip(*columns, strict=True)))

    def _misbehave(self, step: int, loss: float, norm: float) -> tuple[float, float]:
        for fault in self._faults:
            if fault.step != step:
                continue
            match fault.kind:
                case "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "raise":
                    raise RuntimeError(f"made-up fault at update {step}")
                case "memory":
                    raise MemoryError(f"made-up lack of memory at update {step}")
                case "disk":
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                case "nan":
                    loss = math.nan
                case "spike":
                    norm *= 1000
        return loss, norm


def requested(job: Job) -> Document:
    """What the plan and the division ask for, in an engine's words; null: the engine is to choose."""
    settings = job.plan["hyperparams"]
    return {
        "config": {
            "seed": job.plan["seed"],
            "gpus": job.division.devices,
            "processes": job.division.devices,
            "device": None,
            "threads": job.threads,
            "max_steps": settings["training"]["steps"],
            "learning_rate": settings["optimizer"]["learningRate"],
            "schedule": settings["optimizer"]["schedule"],
            "lora_rank": settings["lora"]["rank"],
            "lora_alpha": settings["lora"]["alpha"],
        }
    }


def before(job: Job) -> tuple[int, float, int]:
    """What a job starts with: updates of its own, learning rate spent, updates of others that read the data."""
    if job.resume is not None:
        state = json.loads(job.resume.read_text())
        return state["step"], state["spent"], state["updates"] - state["step"]
    if job.source is None:
        return 0, 0.0, 0
    if job.source.training_state is not None:
        state = json.loads(job.source.training_state.read_text())
        return 0, state["spent"], state["updates"]
    from safetensors import safe_open

    with safe_open(job.source.weights, framework="np") as file:
        return 0, json.loads(file.metadata()[METADATA])["spent"], 0


def learning_rates(plan: Document, t: np.ndarray) -> np.ndarray:
    """The rate of each update `t`, int64 (updates,), from 0: linear warm-up, then the plan's schedule down to 0."""
    optimizer = plan["hyperparams"]["optimizer"]
    warmup, steps = optimizer["warmupSteps"], plan["hyperparams"]["training"]["steps"]
    left = np.clip((steps - t) / max(steps - warmup, 1), 0, 1)  # (updates,)
    shape = {"constant": np.ones_like(left), "linear": left, "cosine": (1 - np.cos(np.pi * left)) / 2}
    rise = np.minimum((t + 1) / (warmup + 1), 1) if warmup else 1.0
    rates: np.ndarray = optimizer["learningRate"] * rise * shape[optimizer["schedule"]]
    return rates


def noise_at(key: str, t: np.ndarray) -> np.ndarray:
    """Noise of mean 0 in (-1, 1), float64 (updates,): the splitmix64 of `key` and `t` alone, so any update at once."""
    start = np.uint64(int.from_bytes(sha256(key.encode()).digest()[:8], "little"))
    z = start + (t.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    noise: np.ndarray = z.astype(np.float64) / 2.0**63 - 1
    return noise


def parse_faults(text: str, seed: int) -> tuple[Fault, ...]:
    """The faults of a run with this seed, as the module's docstring writes them. Raises Invalid."""
    faults = []
    for item in filter(None, text.split(",")):
        kind, _, where = item.partition(":")
        step, at, only = where.partition("@")
        if kind not in KINDS or not step.isdecimal() or (at and not only.isdecimal()):
            raise Invalid(f"AKKA_ARITHMETIC_FAULT: {item!r} is not KIND:STEP or KIND:STEP@SEED", hint=", ".join(KINDS))
        if not at or int(only) == seed:
            faults.append(Fault(kind, int(step)))
    return tuple(faults)


ENGINE = ArithmeticEngine()
