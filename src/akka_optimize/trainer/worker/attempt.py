"""One attempt at one run, from the claim to the last file of its record."""

from __future__ import annotations

import math
import os
import time
from contextlib import closing
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import plans
from akka_optimize.trainer import base_models, datasets, environment, folder, retention, unclosed
from akka_optimize.trainer import closing as record
from akka_optimize.trainer.engines import Job, engine
from akka_optimize.trainer.worker import log, source
from akka_optimize.trainer.worker.curves import Curves
from akka_optimize.trainer.worker.ending import Ending
from akka_optimize.trainer.worker.save import save

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.records import Document, Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.engines import Session, Step
    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.worker.drain import Stop

ACTIVE = ("PREPARING", "TRAINING")


class Attempt:
    """A claimed run, in the hands of this worker."""

    def __init__(
        self, catalog: Catalog, home: Home, run: Run, stop: Stop, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._catalog, self._home, self._run, self._stop = catalog, home, run, stop
        self._folder = home.path / run.folder
        self._curves = Curves(catalog, run.run_id, run.attempt, clock)
        self._ending = Ending()
        self._validation: float | None = None

    def carry_out(self) -> None:
        """Train, and leave the run in a terminal phase with its record closed.

        Raises only where even that could not be written; the next one who opens the catalog finds the run lost.
        """
        closed = False
        with self._ending, folder.kept(self._folder), log.into(self._folder / folder.LOG):
            with self._ending, folder.kept(self._folder):
                self._train()
            self._say_how_it_ended()
        with self._ending, folder.kept(self._folder):
            record.close(
                self._catalog,
                self._folder,
                self._run,
                phase=self._ending.phase,
                code=self._ending.code,
                reason=self._ending.reason,
            )
            self._catalog.merge_metrics(self._run.run_id)
            closed = True
        self._catalog.set_phase(
            self._run.run_id,
            self._ending.phase,
            only_from=ACTIVE,
            failure_code=self._ending.code,
            failure_reason=self._ending.reason,
            resumable=self._ending.resumable,
        )
        if closed:
            unclosed.clear(self._home, self._run.run_id)

    def _train(self) -> None:
        run = self._run
        log.say(f"run {run.run_id}, attempt {run.attempt}: preparing, in process {os.getpid()}")
        if self._is_over():
            return
        with closing(self._session()) as session:
            self._describe(session)
            if self._is_over():
                return
            self._catalog.set_phase(run.run_id, "TRAINING", only_from=("PREPARING",))
            log.say(f"training, {run.steps} updates of {run.division.sequences_per_update} rows")
            done = 0
            try:
                for step in session.steps():
                    done = step.step
                    self._curves.add(step)
                    if self._keep(session, step) and done < run.steps and self._is_over():
                        return
            finally:
                self._curves.commit()
            if done != run.steps:
                raise errors.Internal(f"the engine stopped after update {done} of {run.steps}")

    def _session(self) -> Session:
        """The run's engine, ready for the first update.

        Raises Refused (other base model), SourceLost (a child's snapshot), and what engines do.
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
        found = source.find(self._catalog, self._home, run)
        if found is not None:
            log.say(f"from update {run.source_step} of run {run.parent_run_id}, {run.restore} restored")
        return engine(model.engine).start(Job(run.run_id, run.plan, run.division, rows, model, source=found))

    def _describe(self, session: Session) -> None:
        """Put on record, before the first update, what the numbers may depend on."""
        found = environment.joined(environment.known(), session.environment)
        folder.add_environment(self._folder, found)
        self._catalog.set_environment(self._run.run_id, found)
        self._catalog.set_hparams(self._run.run_id, hparams(self._run.plan))

    def _keep(self, session: Session, step: Step) -> bool:
        """Validate, commit and save as far as this update calls for it; was anything committed?"""
        at, last = step.step, step.step == self._run.steps
        every = self._run.execution.get("saveEvery")
        often = self._run.plan["hyperparams"]["training"]["validationFrequencySteps"]
        saves = last or bool(every and at % every == 0)
        if saves or (often and at % often == 0):
            self._validate(session, at)
        if saves or self._curves.due():
            self._curves.commit()
        elif not self._stop.asked:
            return False
        if saves:
            save(self._catalog, self._folder, self._run, session, step=at, validation=self._validation)
            log.say(f"saved after update {at} of {self._run.steps}; loss {step.loss:.4f}")
            retention.sweep(self._catalog, self._folder, self._run)
        return True

    def _validate(self, session: Session, at: int) -> None:
        self._validation = session.validate()
        if self._validation is not None:
            self._curves.add_validation(at, self._validation)
            if not math.isfinite(self._validation):
                log.say(f"the validation loss after update {at} is {self._validation}")

    def _is_over(self) -> bool:
        """Has somebody asked for the end? Then the ending says so."""
        if self._catalog.cancel_requested(self._run.run_id):
            self._ending.cancel()
        elif self._stop.asked:
            self._ending.fail("WORKER_STOPPED", "the worker was told to stop, and stopped between two updates")
        else:
            return False
        return True

    def _say_how_it_ended(self) -> None:
        reason = f": {self._ending.reason}" if self._ending.reason else ""
        log.say(f"{self._ending.phase}{reason}")


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
