"""One run in training, on one device or several."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import torch

from akka_optimize.trainer.engines.decoder import devices, loop, lora, report, state
from akka_optimize.trainer.engines.decoder.group import Alone, Broken
from akka_optimize.trainer.engines.decoder.peers import HOLD, STEP, Peers
from akka_optimize.trainer.engines.decoder.replica import Replica

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.records import Document
    from akka_optimize.trainer.engines import Job, Step
    from akka_optimize.trainer.engines.decoder.state import Held


class DecoderSession(Replica):
    """The first process of a run, which drives the others, where there are any, in step with itself.

    Validation is its own: the others wait meanwhile.
    """

    def __init__(self, job: Job) -> None:
        """Raises Internal for weights that cannot be used, ProcessLost, OSError for a process that cannot be started.

        A training state or source that cannot be restored raises Refused, or what reading it does.
        """
        self._taken = devices.chosen(job.division.devices)
        self._memory: Document = {}
        self._peers: Peers | None = None
        self.group = Alone()
        with ExitStack() as undo:
            undo.callback(self.close)
            if len(self._taken) > 1:
                self._peers = Peers(job, self._taken)
                self._peers.order()
            super().__init__(job, device=self._taken[0])
            self.environment = report.environment(job.threads, self._taken)
            self.requested = report.requested(job)
            self.resolved = report.resolved(self, self.requested, self._taken)
            self._copies = state.Copies(self.adapter, self.optimizer)
            if self._peers is not None:
                with self._noticing(self._peers):
                    self.group = self._peers.meet(self)
            undo.pop_all()
        self._memory["afterLoad"] = devices.resident_bytes(self.device)

    def runtime(self) -> Document:
        """What it decided and used so far: what setup changed, processes, backend, model, and memory in bytes."""
        asked, made = self.requested["config"], self.resolved["config"]
        changed = [name for name in asked if asked[name] is not None and asked[name] != made[name]]
        return report.runtime(self, self._taken, changed, self._memory)

    def steps(self) -> Iterator[Step]:
        """Train from where the session stands up to the plan's horizon, one record per update. Raises ProcessLost."""
        for record in self._driven() if self._peers is not None else super().steps():
            if "afterFirstStep" not in self._memory:
                self._memory["afterFirstStep"] = devices.resident_bytes(self.device)
            yield record

    def epoch(self) -> float:
        """How many times the training rows have been gone through, before a restored training state included."""
        return self.rows_taken() / len(self.training)

    def validate(self) -> float | None:
        """Token-weighted mean loss over the held-out rows, in nats; None when there are none. Draws nothing."""
        return loop.mean_loss(self.model, self.held_out) if self.held_out else None

    def hold(self) -> Held:
        """A copy of adapter, optimizer, generators and position, to be written whenever. Raises ProcessLost."""
        adapter = self.job.plan["hyperparams"]["lora"]
        steps = self.job.plan["hyperparams"]["training"]["steps"]
        return self._copies.hold(
            generators={state.generator_name(rank): drawn for rank, drawn in enumerate(self._drawn())},
            position={"step": self.steps_done, "steps": steps, "rowsTaken": self.rows_taken()},
            about={
                "baseModel": self.job.base_model.repository,
                "revision": self.job.base_model.revision,
                "rank": adapter["rank"],
                "alpha": adapter["alpha"],
                "targets": list(lora.TARGETS),
                "step": self.steps_done,
            },
        )

    def close(self) -> None:
        """End the other processes."""
        if self._peers is not None:
            self._peers.close()
        self.group.close()

    def _driven(self) -> Iterator[Step]:
        assert self._peers is not None
        steps = super().steps()
        for _ in range(self.steps_done, self.job.plan["hyperparams"]["training"]["steps"]):
            with self._noticing(self._peers):
                self._peers.tell(STEP)
                record = next(steps)
            yield record

    def _drawn(self) -> list[torch.Tensor]:
        """Where each process's dropout stands."""
        own = self.draws.get_state()
        if self._peers is None:
            return [own]
        with self._noticing(self._peers):
            self._peers.tell(HOLD)
            return self.group.gather(own)

    @contextmanager
    def _noticing(self, peers: Peers) -> Iterator[None]:
        try:
            yield
        except Broken as error:
            raise peers.lost(self.steps_done) from error
