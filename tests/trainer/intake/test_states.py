"""Runs in every state in which a record is closed, as they arrive in another home."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support import life, parents, records
from support.catalog import points

from akka_optimize.actions.training.runs.export import export
from akka_optimize.records import Run
from akka_optimize.trainer import annotate, cancel, claims, intake, pause, resume, start
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.worker.attempt import Attempt
from akka_optimize.trainer.worker.drain import Stop

SAVES = {"execution.saveEvery": 8, "execution.keepTrainingStates": 2}


class Acting(Stop):
    """Does something when the worker has asked a number of times whether to stop."""

    def __init__(self, act: Callable[[], bool], after: int = 12) -> None:
        self._act, self._left = act, after

    @property
    def asked(self) -> bool:  # type: ignore[override]
        """What the act answers, from that time on."""
        self._left -= 1
        return self._left <= 0 and self._act()


def attempted(catalog: Catalog, home: Home, act: Callable[[str], bool]) -> Run:
    """A run whose attempt is acted upon after a few updates."""
    start.start(catalog, home, life.descriptor(SAVES))
    taken = claims.take(catalog, home)
    assert taken is not None
    run, lock = taken
    done: list[bool] = []

    def once() -> bool:
        if not done:
            done.append(act(run.run_id))
        return done[0]

    with lock:
        Attempt(catalog, home, run, Acting(once)).carry_out()
    return catalog.run(run.run_id)


def paused(catalog: Catalog, home: Home) -> Run:
    """Paused with a save, in the middle."""
    return attempted(catalog, home, lambda run_id: bool(pause.pause(catalog, home, run_id, "save")) and False)


def stopped(catalog: Catalog, home: Home) -> Run:
    """Failed since its worker was told to stop; resumable."""
    return attempted(catalog, home, lambda _run_id: True)


def cancelled(catalog: Catalog, home: Home) -> Run:
    """Cancelled while it waited."""
    return cancel.cancel(catalog, home, start.start(catalog, home, life.descriptor()).run_id)


def waiting(catalog: Catalog, home: Home) -> Run:
    """Paused before it began."""
    return pause.pause(catalog, home, start.start(catalog, home, life.descriptor(SAVES)).run_id, "latest")


def resumed(catalog: Catalog, home: Home) -> Run:
    """Stopped, and then carried to its end by a second attempt."""
    resume.resume(catalog, home, stopped(catalog, home).run_id)
    return parents.carry_out(catalog, home)


def annotated(catalog: Catalog, home: Home) -> Run:
    """Complete, with a comment, another description and another label."""
    run = parents.trained(catalog, home, {"description": "first", "configName": "first"})
    return annotate.annotate(catalog, home, run.run_id, comment="odd", description="second", config_name="")


STATES = {
    "PAUSED": paused,
    "FAILED": stopped,
    "CANCELLED": cancelled,
    "PAUSED before it began": waiting,
    "COMPLETED, resumed": resumed,
    "COMPLETED, annotated": annotated,
}


def moved(folder: Path, run: Run, into: Path) -> Home:
    """A new home with the run of the home at `folder`."""
    with records.trainer(folder) as client:
        export(client, run.run_id, str(into / "records"))
    home = records.fresh(into / "home")
    with Catalog.open(home) as catalog:
        intake.take(catalog, home, records.sent(home, into / "records"))
    return home


def told(run: Run) -> Run:
    """A run without what a catalog adds of its own."""
    return replace(run, created_at="", workload_id="")


@pytest.mark.parametrize("name", STATES)
def test_a_run_arrives_in_the_state_that_it_was_in(tmp_path: Path, name: str) -> None:
    """Phase, attempts, reasons, events, pause, description and label, curves, and what its engine said."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        run = catalog.run(STATES[name](catalog, home).run_id)
        assert run.phase == name.split()[0].strip(",")
        curve = points(catalog.metrics(run.run_id))
        settings = catalog.hparams(run.run_id)
        saved = [replace(each, created_at="") for each in catalog.snapshots(run.run_id).items]
    with records.opened(moved(home.path, run, tmp_path / "moved").path) as (here, _):
        assert told(here.run(run.run_id)) == told(run)
        assert points(here.metrics(run.run_id)) == curve
        assert here.hparams(run.run_id) == settings
        assert [replace(each, created_at="") for each in here.snapshots(run.run_id).items] == saved


@pytest.mark.parametrize("state", [paused, stopped, waiting])
def test_a_run_goes_on_where_it_arrived(tmp_path: Path, state: Callable[[Catalog, Home], Run]) -> None:
    """Resumed in another home, it gives the curve of a run that was never stopped, bit for bit."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        run = state(catalog, home)
        undisturbed = parents.trained(catalog, home)
        wanted = points(catalog.metrics(undisturbed.run_id, ("loss", "gradNorm")))
    with records.opened(moved(home.path, run, tmp_path / "moved").path) as (here, there):
        resume.resume(here, there, run.run_id)
        ended = parents.carry_out(here, there)
        assert (ended.run_id, ended.phase) == (run.run_id, "COMPLETED")
        found: dict[str, list[tuple[int, bytes]]] = {}
        for (name, _), pairs in points(here.metrics(run.run_id, ("loss", "gradNorm"))).items():
            found[name] = sorted(found.get(name, []) + pairs)
        assert found == {name: pairs for (name, _), pairs in wanted.items()}
