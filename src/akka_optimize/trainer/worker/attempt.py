"""One attempt at one run, from the claim to the last file of its record."""

from __future__ import annotations

import math
import os
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import plans
from akka_optimize.records import Pause
from akka_optimize.trainer import base_models, datasets, environment, failures, folder, retention, seeds, unclosed
from akka_optimize.trainer import closing as record
from akka_optimize.trainer.catalog.base import utc_now
from akka_optimize.trainer.engines import Job, engine
from akka_optimize.trainer.worker import log, source
from akka_optimize.trainer.worker.clocks import Clocks
from akka_optimize.trainer.worker.curves import Curves
from akka_optimize.trainer.worker.ending import Ending, failure_reason
from akka_optimize.trainer.worker.room import Room
from akka_optimize.trainer.worker.save import Moment, save
from akka_optimize.trainer.worker.saver import Saver

if TYPE_CHECKING:
    from collections.abc import Collection

    from akka_optimize.records import Document, Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.engines import Held, Session, Step
    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.worker.drain import Stop

ACTIVE = ("PREPARING", "TRAINING")


class Attempt:
    """A claimed run, in the hands of this worker."""

    def __init__(self, catalog: Catalog, home: Home, run: Run, stop: Stop, *, clocks: Clocks | None = None) -> None:
        self._catalog, self._home, self._run, self._stop = catalog, home, run, stop
        self._folder = home.path / run.folder
        self._clocks = clocks or Clocks()
        self._curves = Curves(catalog, run.run_id, run.attempt, self._clocks.steady)
        self._ending = Ending()
        self._saver = Saver()
        self._room = Room(self._folder)
        self._done = 0  # the last update that lies behind the session
        self._validated: tuple[int, float | None] = (0, None)  # the update after which it was, and the loss

    def carry_out(self) -> None:
        """Train, and leave the run paused or in a terminal phase with its record closed.

        Raises only where even that could not be written; the next one who opens the catalog finds the run lost.
        """
        with self._ending, folder.kept(self._folder), log.into(self._folder / folder.LOG):
            with self._ending, folder.kept(self._folder), self._saver:
                self._train()
            self._say_how_it_ended()
        self._room.give_up()
        paused = self._put_on_record(ACTIVE) and self._ending.phase == "PAUSED"
        if paused and self._catalog.requests(self._run.run_id).cancel:  # asked for while the record was being closed
            self._ending.cancel()
            self._put_on_record(("PAUSED",))

    def _put_on_record(self, only_from: Collection[str]) -> bool:
        """Close the record and move the run from one of these phases to the one it ended in; False from another one."""
        closed, at = False, utc_now()
        with self._ending, folder.kept(self._folder):
            ended = self._ending
            record.close(
                self._catalog,
                self._folder,
                self._run,
                phase=ended.phase,
                code=ended.code,
                reason=ended.reason,
                ended_at=at,
                pause=self._pause(at),
            )
            self._catalog.merge_metrics(self._run.run_id)
            closed = True
        moved = self._catalog.set_phase(
            self._run.run_id,
            self._ending.phase,
            only_from=only_from,
            failure_code=self._ending.code,
            failure_reason=self._ending.reason,
            resumable=self._ending.resumable,
            pause=self._pause(at),
            ended_at=at,
        )
        if closed:
            unclosed.clear(self._home, self._run.run_id)
        return moved is not None

    def _pause(self, at: str) -> Pause | None:
        """How the run stands still, where it does."""
        if self._ending.phase != "PAUSED":
            return None
        point = self._catalog.restore_point(self._run.run_id)
        asked = self._catalog.run(self._run.run_id).pause
        return Pause(
            checkpoint=self._ending.checkpoint,
            requested_at=at if asked is None or self._ending.checkpoint is None else asked.requested_at,
            saved_step=None if point is None else point.step,
            reason=self._ending.reason,
            resources_released=True,
        )

    def _train(self) -> None:
        run = self._run
        log.say(f"run {run.run_id}, attempt {run.attempt}: preparing, in process {os.getpid()}")
        record.reopen(self._folder)
        self._room.keep()
        if self._is_over():
            return
        with closing(self._session()) as session:
            self._describe(session)
            if self._is_over():
                return
            self._catalog.set_phase(run.run_id, "TRAINING", only_from=("PREPARING",))
            log.say(f"training, {run.steps} updates of {run.division.sequences_per_update} rows")
            try:
                over = self._step_on(session)
            finally:
                self._commit()
            self._saver.finish()
            self._catalog.set_engine_runtime(run.run_id, run.attempt, session.runtime())
            if not over and self._done != run.steps:
                raise errors.Internal(f"the engine stopped after update {self._done} of {run.steps}")

    def _step_on(self, session: Session) -> bool:
        """Train to the last update; True where somebody asked for the end before it."""
        for step in session.steps():
            self._done = step.step
            self._curves.add(step)
            self._saver.check()
            if self._keep(session, step) and self._done < self._run.steps and self._is_over(session):
                return True
        return False

    def _session(self) -> Session:
        """The run's engine, ready for the attempt's first update.

        Raises Refused (other base model), SourceLost (a child's snapshot), StateLost (the run's own), and what engines
        do.
        """
        run = self._run
        model = base_models.find(run.base_model)
        if model.revision != run.plan["baseModel"]["revision"]:
            raise errors.Refused(
                f"base model {model.repository} has revision {model.revision[:12]}, and the run's plan names "
                f"{run.plan['baseModel']['revision'][:12]}",
                field="baseModel",
            )
        rows = datasets.rows(self._home, run.dataset)
        job = partial(Job, run.run_id, run.plan, run.division, rows, model)
        restored = source.own(self._catalog, self._home, run) if run.attempt > 1 else None
        if restored is not None:
            self._done = self._saver.step = restored.step
            log.say(f"going on after update {restored.step}; {_replaced(run)} recorded updates are trained again")
            return engine(model.engine).start(job(resume=restored.path))
        found = source.find(self._catalog, self._home, run)
        if found is not None:
            log.say(f"from update {run.source_step} of run {run.parent_run_id}, {run.restore} restored")
        return engine(model.engine).start(job(source=found))

    def _describe(self, session: Session) -> None:
        """Put on record, before the first update, what the numbers may depend on."""
        run = self._run
        found = environment.joined(environment.known(), session.environment)
        folder.describe(self._folder, environment=found, seeds=seeds.document(run.seed, run.division.devices))
        self._catalog.set_environment(run.run_id, found)
        self._catalog.set_hparams(run.run_id, hparams(run.plan))
        self._catalog.set_engine_config(run.run_id, requested=session.requested, resolved=session.resolved)
        self._catalog.set_engine_runtime(run.run_id, run.attempt, session.runtime())

    def _keep(self, session: Session, step: Step) -> bool:
        """Validate, commit and save as far as this update calls for it; was anything committed?"""
        at, last = step.step, step.step == self._run.steps
        every = self._run.execution.get("saveEvery")
        often = self._run.plan["hyperparams"]["training"]["validationFrequencySteps"]
        saves = last or bool(every and at % every == 0)
        if saves or (often and at % often == 0):
            self._validate(session)
        if saves or self._curves.due():
            self._commit()
        elif not self._stop.asked:
            return False
        if saves:
            self._saver.finish()
            self._save(session, f"; loss {step.loss:.4f}")
        return True

    def _validate(self, session: Session) -> None:
        loss = session.validate()
        self._validated = self._done, loss
        if loss is not None:
            self._curves.add_validation(self._done, loss)
            if not math.isfinite(loss):
                log.say(f"the validation loss after update {self._done} is {loss}")

    def _commit(self) -> None:
        """Have the curves in the catalog, and a clock that jumped since the last time among the run's events."""
        self._curves.commit()
        if (seconds := self._clocks.jump()) is not None:
            self._catalog.add_event(self._run.run_id, "clock", self._run.attempt, step=self._done, seconds=seconds)

    def _save(self, session: Session, more: str = "") -> None:
        """Hold the session as it is, and have that written while it goes on."""
        at, loss = self._validated
        moment = Moment(self._done, session.epoch(), loss if at == self._done else session.validate())
        self._saver.start(self._done, partial(self._write, session.hold(), moment, more))

    def _write(self, held: Held, at: Moment, more: str) -> None:
        save(self._catalog, self._folder, self._run, held, at)
        log.say(f"saved after update {at.step} of {self._run.steps}{more}")
        retention.sweep(self._catalog, self._folder, self._run)

    def _is_over(self, session: Session | None = None) -> bool:
        """Has somebody asked for the end, for now or for good? Then the ending says so."""
        asked = self._catalog.requests(self._run.run_id)
        if asked.cancel:
            self._ending.cancel()
        elif asked.pause is not None:
            self._stand_still(asked.pause, session)
        elif self._stop.asked:
            self._ending.fail(failures.WORKER_STOPPED, "the worker was told to stop, and stopped between two updates")
        else:
            return False
        return True

    def _stand_still(self, checkpoint: str, session: Session | None) -> None:
        """Pause, after a save where one is asked for and this update has none.

        Its validation is in its manifest and not among the curves: once the run goes on, they are those of a run that
        was never paused. One that fails leaves the run with what was saved before.
        """
        fault = self._saver.settled()
        if checkpoint == "save" and session is not None and (fault is not None or self._saver.step != self._done):
            self._commit()
            self._save(session, ", for a pause")
            fault = self._saver.settled()
        reason = None if fault is None else f"nothing was saved after update {self._done}: {failure_reason(fault)}"
        self._ending.pause(checkpoint, reason)

    def _say_how_it_ended(self) -> None:
        reason = f": {self._ending.reason}" if self._ending.reason else ""
        log.say(f"{self._ending.phase}{reason}")


def _replaced(run: Run) -> int:
    """How many recorded updates the attempt at hand found after the one that it goes on from."""
    here = [event["replacedSteps"] for event in run.events if event["kind"] == "resumed"]
    return int(here[-1]) if here else 0


def hparams(plan: Document) -> Document:
    """The plan's settings by dotted path, and as `sha` the plan's whole hash.

    >>> sorted(hparams({"seed": 0, "model": {"precision": "FP32"}}))
    ['model.precision', 'seed', 'sha']
    """
    return {**_flat(plan, ""), "sha": plans.plan_hash(plan)}


def _flat(document: Document, prefix: str) -> Document:
    flat: Document = {}
    for key, value in document.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
