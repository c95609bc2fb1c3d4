"""One run in training on one device."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors import SafetensorError

from akka_optimize.core.stream import RowStream, split
from akka_optimize.errors import Internal, Unsupported
from akka_optimize.trainer import base_models
from akka_optimize.trainer.engines.decoder import loop, lora, model, restore, state, tokens
from akka_optimize.trainer.engines.decoder.batches import cut
from akka_optimize.trainer.engines.decoder.schedule import rate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from akka_optimize.records import BaseModel, Document
    from akka_optimize.trainer.engines import Job, Source, Step, Tokens

PRECISIONS = {"FP32": torch.float32, "BF16": torch.bfloat16}


class DecoderSession:
    """A base model with an adapter in training; `steps_done` updates lie behind it.

    Its first update takes the rows of update `first`, from 0, of the stream: more than 0 where a training state was
    restored.
    """

    def __init__(self, job: Job) -> None:
        """Raises Unsupported for more than one device, Internal for weights that cannot be used.

        A source that cannot be restored raises Refused (not finite) or what reading it does.
        """
        if job.division.devices != 1:
            raise Unsupported(
                f"This trainer trains on one device, not on {job.division.devices}.",
                field="execution.gpus",
                hint="Set execution.gpus to 1; the curve is the same.",
            )
        deterministic(job.threads)
        self.job = job
        self.environment = environment(job.threads)
        self.steps_done = self.first = 0
        settings = job.plan["hyperparams"]
        self.rows = [cut(tokens.encode(row), job.plan["maxSeqLength"]) for row in job.rows]
        eligible = [row.fits(job.plan["maxSeqLength"]) for row in self.rows]
        parted = split(job.plan["seed"], eligible, settings["training"]["validationShare"])
        self.training = frozenset(parted.training)
        self.held_out = sorted((self.rows[i] for i in parted.held_out), key=lambda row: len(row.ids))  # less padding
        self.stream = RowStream(job.plan["seed"], len(self.rows), self.training)
        self.model = base(job.base_model).to(PRECISIONS[job.plan["model"]["precision"]])
        self.draws = generator(job.plan["seed"], "dropout")
        self.adapter = lora.attach(
            self.model,
            rank=settings["lora"]["rank"],
            alpha=settings["lora"]["alpha"],
            dropout=settings["lora"]["dropout"],
            initial=generator(job.plan["seed"], "adapter"),
            draws=self.draws,
        )
        adam = settings["optimizer"]
        self.optimizer = torch.optim.AdamW(
            self.adapter.values(),
            lr=adam["learningRate"],
            betas=(adam["beta1"], adam["beta2"]),
            eps=adam["epsilon"],
            weight_decay=adam["weightDecay"],
            fused=True,
        )
        if job.source is not None:
            self._restore(job.source)

    def steps(self) -> Iterator[Step]:
        """Train from where the session stands up to the plan's horizon, one record per update."""
        limit = self.job.plan["hyperparams"]["optimizer"]["maxGradNorm"]
        for record in loop.train(self.model, self._updates(), self.optimizer, self.job.division, limit):
            self.steps_done = record.step
            yield record

    def epoch(self) -> float:
        """How many times the training rows have been gone through, before a restored training state included."""
        return self._rows_taken() / len(self.training)

    def validate(self) -> float | None:
        """Token-weighted mean loss over the held-out rows, in nats; None when there are none. Draws nothing."""
        return loop.mean_loss(self.model, self.held_out) if self.held_out else None

    def save_weights(self, path: Path) -> None:
        """Write the adapter as safetensors; its metadata says what it belongs on."""
        settings = self.job.plan["hyperparams"]["lora"]
        state.save_adapter(
            self.adapter,
            path,
            {
                "baseModel": self.job.base_model.repository,
                "revision": self.job.base_model.revision,
                "rank": settings["rank"],
                "alpha": settings["alpha"],
                "targets": list(lora.TARGETS),
                "step": self.steps_done,
            },
        )

    def save_training_state(self, path: Path) -> None:
        """Write adapter, optimizer, generators and position; `load_training_state` goes on from there bit for bit."""
        position: Document = {
            "step": self.steps_done,
            "steps": self.job.plan["hyperparams"]["training"]["steps"],
            "rowsTaken": self._rows_taken(),
        }
        state.save_training_state(
            path, adapter=self.adapter, optimizer=self.optimizer, draws=self.draws, position=position
        )

    def load_training_state(self, path: Path) -> None:
        """Put this session where the one that wrote `path`, of the same run, stood."""
        self.steps_done, updates = self._load(path)
        self.first = updates - self.steps_done

    def close(self) -> None:
        """Nothing is held beyond memory."""

    def _restore(self, source: Source) -> None:
        """Begin where the parent's snapshot stood, with updates counted from 1."""
        if source.training_state is not None:
            _, self.first = self._load(source.training_state)
            return
        lora_settings = self.job.plan["hyperparams"]["lora"]
        fresh = {name.removesuffix(".A"): a.detach().numpy() for name, a in self.adapter.items() if name.endswith(".A")}
        tensors = dict(
            restore.fitted(
                restore.read(source.weights), fresh, rank=lora_settings["rank"], alpha=lora_settings["alpha"]
            )
        )
        with torch.no_grad():
            for name, parameter in self.adapter.items():
                parameter.copy_(torch.from_numpy(tensors[name]))

    def _load(self, path: Path) -> tuple[int, int]:
        """Put adapter, optimizer and generator where `path` has them; its step, and the updates its rows make."""
        position = state.load_training_state(path, adapter=self.adapter, optimizer=self.optimizer, draws=self.draws)
        updates, rest = divmod(position["rowsTaken"], self.job.division.sequences_per_update)
        if rest:
            raise Internal(f"{path} was saved in the middle of an update of this run's size.")
        return position["step"], updates

    def _rows_taken(self) -> int:
        return (self.first + self.steps_done) * self.job.division.sequences_per_update

    def _updates(self) -> Iterator[tuple[int, float, list[Tokens]]]:
        adam = self.job.plan["hyperparams"]["optimizer"]
        steps = self.job.plan["hyperparams"]["training"]["steps"]
        for step in range(self.steps_done + 1, steps + 1):
            at = self.stream.update(self.first + step - 1, self.job.division.sequences_per_update)
            now = rate(step, steps=steps, peak=adam["learningRate"], warmup=adam["warmupSteps"], kind=adam["schedule"])
            yield step, now, [self.rows[i] for i in at]


def base(entry: BaseModel) -> model.Decoder:
    """The pretrained model of a table entry. Raises Internal for weights that are not the entry's revision."""
    path = base_models.weights_path(entry)
    found = base_models.digest(path)
    if found != entry.revision:
        raise Internal(f"{path} is not revision {entry.revision[:12]} of {entry.repository} but {found[:12]}.")
    try:
        return model.load(path)
    except SafetensorError as error:
        raise Internal(f"{path} cannot be read as weights: {error}.") from error


def generator(seed: int, purpose: str) -> torch.Generator:
    """A stream of random numbers of its own for each purpose of one seed."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def deterministic(threads: int) -> None:
    """Make this process compute the same bits every time."""
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # costs time; nothing reads it


def environment(threads: int) -> Document:
    """What the bits of one plan may depend on beside the machine: torch's build and how it was set up."""
    return {
        "packages": {"torch": str(torch.__version__), "numpy": np.__version__},
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "device": "cpu",
        "threads": threads,
        "deterministic": True,
    }
