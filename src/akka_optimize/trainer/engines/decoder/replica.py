"""What one process of a session has: the model with its adapter, the optimizer, its share of every update's rows."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError

from akka_optimize.core.stream import RowStream, split
from akka_optimize.errors import Internal, Refused
from akka_optimize.trainer import base_models
from akka_optimize.trainer.engines.decoder import devices, loop, lora, model, restore, state, tokens
from akka_optimize.trainer.engines.decoder.batches import cut
from akka_optimize.trainer.engines.decoder.group import Alone
from akka_optimize.trainer.engines.decoder.schedule import rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from akka_optimize.records import BaseModel, Document
    from akka_optimize.trainer.engines import Job, Source, Step, Tokens
    from akka_optimize.trainer.engines.decoder.group import Group

PRECISIONS = {"FP32": torch.float32, "BF16": torch.bfloat16}


class Replica:
    """A base model with an adapter in training; `steps_done` updates lie behind it.

    Its first update takes the rows of update `first`, from 0, of the stream: more than 0 where a training state was
    restored. All replicas of a session are equal but for the passes that they carry out and what dropout draws; they
    stay so through the `group` that adds up their gradients.
    """

    def __init__(self, job: Job, rank: int = 0, device: torch.device = devices.CPU) -> None:
        """Raises Internal for weights that cannot be used.

        A training state or source that cannot be restored raises Refused, or what reading it does.
        """
        seed, settings = job.plan["seed"], job.plan["hyperparams"]
        devices.deterministic(job.threads, device)
        self.job = job
        self.rank = rank
        self.device = device
        self.group: Group = Alone()
        self.steps_done = self.first = 0
        self.rows = [cut(tokens.encode(row), job.plan["maxSeqLength"]) for row in job.rows]
        eligible = [row.fits(job.plan["maxSeqLength"]) for row in self.rows]
        parted = split(seed, eligible, settings["training"]["validationShare"])
        self.training = frozenset(parted.training)
        self.held_out = sorted((self.rows[i] for i in parted.held_out), key=lambda row: len(row.ids))  # less padding
        self.stream = RowStream(seed, len(self.rows), self.training)
        self.model = base(job.base_model).to(PRECISIONS[job.plan["model"]["precision"]])
        self.draws = devices.generator(seed, "dropout", rank, device)
        self.adapter = lora.attach(
            self.model,
            rank=settings["lora"]["rank"],
            alpha=settings["lora"]["alpha"],
            dropout=settings["lora"]["dropout"],
            initial=devices.generator(seed, "adapter"),
            draws=self.draws,
        )
        model.place(self.model, device)
        devices.seeded(seed, rank)  # what building a model drew for weights that are loaded lies before
        self.optimizer = adam(self.adapter.values(), settings["optimizer"])
        if job.resume is not None:
            self._resume(job.resume)
        elif job.source is not None:
            self._restore(job.source)

    def steps(self) -> Iterator[Step]:
        """Train from where the session stands up to the plan's horizon, one record per update. Raises Broken."""
        limit = self.job.plan["hyperparams"]["optimizer"]["maxGradNorm"]
        for record in loop.train(self.model, self._updates(), self.optimizer, self.job.division, limit, self.group):
            self.steps_done = record.step
            yield record

    def digest(self) -> torch.Tensor:
        """The sha256 of the adapter's bits, uint8 (32,)."""
        found = hashlib.sha256()
        for tensor in self.adapter.values():
            found.update(tensor.detach().cpu().numpy().tobytes())
        return torch.frombuffer(bytearray(found.digest()), dtype=torch.uint8)

    def rows_taken(self) -> int:
        """How many rows of the stream lie behind, those before a restored training state included."""
        return (self.first + self.steps_done) * self.job.division.sequences_per_update

    def _resume(self, path: Path) -> None:
        """Stand where this run stood when it saved `path`."""
        saved = self._load(path)
        position, steps = saved["position"], self.job.plan["hyperparams"]["training"]["steps"]
        step = position["step"]
        if position["steps"] != steps or step > min(steps, self.first):
            raise Refused(f"{path} was saved after update {step} of another run")
        self.steps_done, self.first = step, self.first - step
        self.optimizer.param_groups[0]["lr"] = saved["optimizer"]["param_groups"][0]["lr"]

    def _restore(self, source: Source) -> None:
        """Begin where the parent's snapshot stood, with updates counted from 1."""
        if source.training_state is not None:
            self._load(source.training_state)
            return
        settings = self.job.plan["hyperparams"]["lora"]
        fresh = {
            name.removesuffix(".A"): a.detach().cpu().numpy() for name, a in self.adapter.items() if name.endswith(".A")
        }
        saved = restore.read(source.weights)
        tensors = dict(restore.fitted(saved, fresh, rank=settings["rank"], alpha=settings["alpha"]))
        with torch.no_grad():
            for name, parameter in self.adapter.items():
                parameter.copy_(torch.from_numpy(tensors[name]))

    def _load(self, path: Path) -> Document:
        """Put adapter, optimizer, generator and `first` where `path` has them; what is in it."""
        saved = state.load(path, self.adapter)
        updates, rest = divmod(saved["position"]["rowsTaken"], self.job.division.sequences_per_update)
        if rest:
            raise Refused(f"{path} was saved in the middle of an update of this run's size")
        self._draw_on(path, saved["generators"])
        state.restore(saved, adapter=self.adapter, optimizer=self.optimizer)
        self.first = updates
        return saved

    def _draw_on(self, path: Path, saved: Document) -> None:
        """Let dropout go on as saved; without dropout nothing is drawn, and it does not matter who did not draw."""
        now = self.job.division.devices
        if saved.keys() == {state.generator_name(process) for process in range(now)}:
            try:
                self.draws.set_state(saved[state.generator_name(self.rank)])
            except (RuntimeError, TypeError) as error:
                raise Refused(f"{path} holds the generators of another kind of device") from error
        elif self.job.plan["hyperparams"]["lora"]["dropout"]:
            raise Refused(
                f"{path} holds the dropout generators of {len(saved)} processes, and the run has {now}",
                field="execution.gpus",
            )

    def _updates(self) -> Iterator[tuple[int, float, list[Tokens]]]:
        optimizer = self.job.plan["hyperparams"]["optimizer"]
        steps = self.job.plan["hyperparams"]["training"]["steps"]
        peak, warmup, kind = optimizer["learningRate"], optimizer["warmupSteps"], optimizer["schedule"]
        for step in range(self.steps_done + 1, steps + 1):
            at = self.stream.update(self.first + step - 1, self.job.division.sequences_per_update)
            yield step, rate(step, steps=steps, peak=peak, warmup=warmup, kind=kind), [self.rows[i] for i in at]


def adam(parameters: Iterable[torch.Tensor], settings: Document) -> torch.optim.AdamW:
    """The optimizer of a plan's settings."""
    return torch.optim.AdamW(
        parameters,
        lr=settings["learningRate"],
        betas=(settings["beta1"], settings["beta2"]),
        eps=settings["epsilon"],
        weight_decay=settings["weightDecay"],
        fused=True,
    )


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
