"""Runs: submission, queue, phases, and what workers report."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import fields

import pytest
from support import processes
from support.catalog import DIVISION, make_run, make_workload, new_run

from akka_optimize import errors
from akka_optimize.core import plans
from akka_optimize.records import PHASES, TERMINAL_PHASES, Run
from akka_optimize.trainer.catalog import Catalog, NewRun
from akka_optimize.trainer.catalog.runs import RunState
from akka_optimize.trainer.home import Home

CLAIM = """
import sys
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
with Catalog.open(Home.open(sys.argv[1])) as catalog:
    print("ready", flush=True)
    sys.stdin.readline()
    while run := catalog.claim():
        print(run.run_id)
"""
SUBMIT = """
import sys
from akka_optimize import errors
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
from support.catalog import new_run
with Catalog.open(Home.open(sys.argv[1])) as catalog:
    new = new_run(catalog, submission_id="once")
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        print(catalog.add_run(new).run_id)
    except errors.Conflict:
        print("conflict")
"""


def at_once(code: str, home: Home, count: int) -> list[str]:
    """The lines printed by processes that were let go at the same moment, once each was ready."""
    started = [processes.start(code, home.path) for _ in range(count)]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [line for process in started for line in processes.output(process).splitlines()]


def test_a_run_is_kept_whole(catalog: Catalog) -> None:
    """Everything that was submitted comes back, equal and of the same types; the rest is a queued run's."""
    document = {"a": 8, "b": 8.0, "c": 1e-5, "d": [True, None, "ü\u2028"], "z": 2**53 + 1, "y": {}}
    new = new_run(
        catalog,
        name="base",
        purpose="why",
        description="what\nelse",
        config_name="rank=8",
        grader="exact",
        submission_id="s",
        plan=document,
        config=document,
        execution=document,
        stated=("config.seed", "name"),
        seed=2**32 - 1,
        dataset_name="train",
    )
    added = catalog.add_run(new)
    for field in fields(NewRun):
        assert getattr(added, field.name) == getattr(new, field.name), field.name
    assert repr(added.config) == repr(document)
    assert (added.phase, added.attempt, added.observed_step, added.saved_step) == ("QUEUED", 0, 0, None)
    assert (added.loss, added.validation_loss, added.environment, added.resumable) == (None, None, None, False)
    assert (added.started_at, added.ended_at, added.failure_code) == (None, None, None)
    assert (added.workload, added.division) == ("support-triage", DIVISION)
    assert catalog.run(added.run_id) == catalog.run("base") == catalog.submitted("s") == added


def test_a_plan_is_kept_byte_for_byte(home: Home, catalog: Catalog) -> None:
    """The stored text of a plan has the run's hash, with no way through Python."""
    run = catalog.add_run(new_run(catalog, settings={"hyperparams.optimizer.learningRate": 1e-05}))
    with sqlite3.connect(home.catalog) as database:
        (text,) = database.execute("SELECT plan FROM runs").fetchone()
    assert text == plans.plan_text(run.plan) == json.dumps(run.plan, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == run.config_hash


@pytest.mark.parametrize(
    ("stated", "field"),
    [
        pytest.param({"run_id": "0" * 16}, "runId", id="run-id"),
        pytest.param({"submission_id": "token"}, "submissionId", id="submission"),
    ],
)
def test_what_is_taken_is_refused(catalog: Catalog, stated: dict[str, str], field: str) -> None:
    """An id or a submission that was used is not used again; the queue stays as it was."""
    first = catalog.add_run(new_run(catalog, run_id="0" * 16, submission_id="token"))
    with pytest.raises(errors.Conflict, match="0" * 16) as caught:
        catalog.add_run(new_run(catalog, **stated))
    assert caught.value.field == field
    assert catalog.runs().items == (first,)


def test_one_submission_starts_one_run(home: Home, catalog: Catalog) -> None:
    """Processes that submit the same at the same moment start one run, and the others are told."""
    make_workload(catalog)
    printed = at_once(SUBMIT, home, 3)
    assert printed.count("conflict") == 2
    assert catalog.runs().total == 1


def test_each_run_is_claimed_once(home: Home, catalog: Catalog) -> None:
    """Workers that race for 50 runs get each of them once, all of them, the oldest first for each."""
    queued = [catalog.add_run(new_run(catalog)).run_id for _ in range(50)]
    claimed = at_once(CLAIM, home, 4)
    assert sorted(claimed) == sorted(queued)
    assert catalog.counts()["PREPARING"] == 50
    assert {run.attempt for run in catalog.active()} == {1}


def test_a_claim_begins_an_attempt(catalog: Catalog) -> None:
    """The oldest queued run is prepared as its next attempt; it began when it was first claimed."""
    older, newer = (catalog.add_run(new_run(catalog)).run_id for _ in range(2))
    first = catalog.claim()
    assert first is not None
    assert (first.run_id, first.phase, first.attempt) == (older, "PREPARING", 1)
    catalog.set_phase(older, "QUEUED", only_from=("PREPARING",))
    again = catalog.claim()
    assert again is not None
    assert (again.run_id, again.attempt, again.started_at) == (older, 2, first.started_at)
    last = catalog.claim()
    assert last is not None
    assert last.run_id == newer
    assert catalog.claim() is None


def test_order_does_not_follow_the_clock(home: Home) -> None:
    """A clock that goes back changes neither the queue's order nor the list's."""
    times = iter(f"2026-01-01T00:00:{60 - second:02}Z" for second in range(1, 60))
    with Catalog.open(home, now=lambda: next(times)) as catalog:
        ids = [catalog.add_run(new_run(catalog)).run_id for _ in range(3)]
        assert [run.run_id for run in catalog.runs().items] == ids[::-1]
        assert [catalog.claim().run_id for _ in ids] == ids  # type: ignore[union-attr]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("before", ["QUEUED", "TRAINING", "COMPLETED"])
def test_a_phase_changes_only_from_where_it_may(catalog: Catalog, before: str, phase: str) -> None:
    """A run moves when it is where the caller thinks, and stays as it is when it is not."""
    run = make_run(catalog, phase=before)
    assert catalog.set_phase(run.run_id, phase, only_from=set(PHASES) - {before}) is None
    assert catalog.run(run.run_id) == run
    moved = catalog.set_phase(
        run.run_id, phase, only_from={before}, failure_code="C", failure_reason="R", resumable=True
    )
    assert moved is not None
    assert moved == catalog.run(run.run_id)
    assert (moved.phase, moved.failure_code, moved.failure_reason, moved.resumable) == (phase, "C", "R", True)
    assert (moved.ended_at is not None) == (phase in TERMINAL_PHASES)


def test_a_run_that_goes_on_has_not_failed(catalog: Catalog) -> None:
    """What was said of an end is taken back when the run is queued again."""
    run = make_run(catalog, phase="TRAINING")
    catalog.set_phase(run.run_id, "FAILED", only_from={"TRAINING"}, failure_code="WORKER_LOST", resumable=True)
    again = catalog.set_phase(run.run_id, "QUEUED", only_from={"FAILED"})
    assert again is not None
    assert (again.failure_code, again.resumable, again.ended_at) == (None, False, None)


@pytest.mark.parametrize(
    ("before", "after", "asked"),
    [
        pytest.param("QUEUED", "CANCELLED", False, id="queued-ends-at-once"),
        pytest.param("PAUSED", "CANCELLED", False, id="paused-ends-at-once"),
        pytest.param("PREPARING", "PREPARING", True, id="preparing-is-asked"),
        pytest.param("TRAINING", "TRAINING", True, id="training-is-asked"),
    ],
)
def test_cancelling(catalog: Catalog, before: str, after: str, asked: bool) -> None:
    """A run that nobody works on ends at once; a worker is asked, and asked again without harm."""
    run = make_run(catalog, phase=before)
    for _ in range(2 if asked else 1):
        cancelled = catalog.request_cancel(run.run_id[:9])
    assert (cancelled.phase, cancelled.ended_at is not None) == (after, not asked)
    assert catalog.cancel_requested(run.run_id) == asked


def test_a_queued_run_that_was_cancelled_is_not_claimed(catalog: Catalog) -> None:
    """Nobody trains what was cancelled before its turn."""
    catalog.request_cancel(catalog.add_run(new_run(catalog)).run_id)
    assert catalog.claim() is None


def test_a_new_attempt_is_not_cancelled_by_an_old_wish(catalog: Catalog) -> None:
    """A wish to stop is for the attempt that it was made about."""
    run = make_run(catalog, phase="TRAINING")
    catalog.request_cancel(run.run_id)
    catalog.set_phase(run.run_id, "QUEUED", only_from={"TRAINING"})
    catalog.claim()
    assert not catalog.cancel_requested(run.run_id)


@pytest.mark.parametrize("phase", sorted(TERMINAL_PHASES))
def test_what_has_ended_cannot_be_cancelled(catalog: Catalog, phase: str) -> None:
    """The message says the run and how it ended; nothing changes."""
    run = make_run(catalog, phase=phase)
    with pytest.raises(errors.Refused, match=f"{run.run_id} is {phase}"):
        catalog.request_cancel(run.run_id)
    assert catalog.run(run.run_id) == run


def test_what_the_worker_says_is_kept(catalog: Catalog) -> None:
    """Environment and settings come back as they were given; before, there are none."""
    run = catalog.add_run(new_run(catalog))
    assert (run.environment, catalog.hparams(run.run_id)) == (None, None)
    catalog.set_environment(run.run_id, {"threads": 1, "torch": "2.13"})
    catalog.set_hparams(run.run_id, {"rank": 8, "lr": 1.0})
    assert catalog.run(run.run_id).environment == {"threads": 1, "torch": "2.13"}
    assert repr(catalog.hparams(run.run_id)) == "{'rank': 8, 'lr': 1.0}"


@pytest.mark.parametrize(
    "use",
    [
        lambda catalog: catalog.set_phase("0" * 16, "FAILED", only_from=PHASES),
        lambda catalog: catalog.cancel_requested("0" * 16),
        lambda catalog: catalog.set_environment("0" * 16, {}),
        lambda catalog: catalog.set_hparams("0" * 16, {}),
        lambda catalog: catalog.hparams("0" * 16),
        lambda catalog: catalog.request_cancel("0" * 16),
        lambda catalog: catalog.run("0" * 16),
    ],
    ids=["set-phase", "cancel-requested", "set-environment", "set-hparams", "hparams", "request-cancel", "run"],
)
def test_an_unknown_run_is_named(catalog: Catalog, use: object) -> None:
    """Whatever is asked of a run that is not there, the message says which and how to list runs."""
    with pytest.raises(errors.NotFound, match="0" * 16) as caught:
        use(catalog)  # type: ignore[operator]
    assert "runs list" in (caught.value.hint or "")


class TestListing:
    """What a page of runs holds."""

    @pytest.fixture
    def ids(self, catalog: Catalog) -> list[str]:
        """One run in each phase but QUEUED, then two queued ones; newest first."""
        made = [make_run(catalog, phase=phase).run_id for phase in PHASES if phase != "QUEUED"]
        made += [catalog.add_run(new_run(catalog)).run_id for _ in range(2)]
        return made[::-1]

    def listed(self, catalog: Catalog, **filters: object) -> list[str]:
        """The ids on a page, once its total was seen to be right for a page that holds all."""
        page = catalog.runs(**filters)  # type: ignore[arg-type]
        return [run.run_id for run in page.items]

    def test_newest_first(self, catalog: Catalog, ids: list[str]) -> None:
        """Without a filter, every run is there, the newest first."""
        assert self.listed(catalog) == ids

    @pytest.mark.parametrize("phase", PHASES)
    def test_by_phase(self, catalog: Catalog, ids: list[str], phase: str) -> None:
        """A phase lets its own runs through."""
        page = catalog.runs(phase=phase)
        assert [run.phase for run in page.items] == [phase] * (2 if phase == "QUEUED" else 1)
        assert page.total == len(page.items) == catalog.counts()[phase]

    def test_open_ones(self, catalog: Catalog, ids: list[str]) -> None:
        """An open run is one that has not ended."""
        found = {run.phase for run in catalog.runs(phase="open").items}
        assert found == set(PHASES) - TERMINAL_PHASES

    def test_active_ones(self, catalog: Catalog, ids: list[str]) -> None:
        """An active run is one that a worker has in hand."""
        assert [run.phase for run in catalog.active()] == ["PREPARING", "TRAINING"]

    def test_where_they_are(self, catalog: Catalog, ids: list[str]) -> None:
        """What changes about a run, without the rest of it, is what the whole run says; unknown ids are left out."""
        found = catalog.states([*ids, "0" * 16])
        names = [field.name for field in fields(RunState)]
        assert {id: [getattr(state, name) for name in names] for id, state in found.items()} == {
            id: [getattr(catalog.run(id), name) for name in names] for id in ids
        }
        assert [state.run_id for state in catalog.active_states()] == [run.run_id for run in catalog.active()]

    def test_by_workload(self, catalog: Catalog, ids: list[str]) -> None:
        """A workload, by name or prefix, lets its own runs through."""
        other = catalog.add_workload("other")
        run = make_run_of(catalog, other.workload_id)
        assert (
            self.listed(catalog, workload="other") == self.listed(catalog, workload=other.workload_id) == [run.run_id]
        )
        assert self.listed(catalog, workload="support-triage") == ids

    def test_pages_add_up(self, catalog: Catalog, ids: list[str]) -> None:
        """Pages of any size hold every run once, and each says how many there are in all."""
        for limit in (1, 3, len(ids), 100):
            pages = [catalog.runs(limit=limit, offset=offset) for offset in range(0, len(ids), limit)]
            assert [run.run_id for page in pages for run in page.items] == ids
            assert {page.total for page in pages} == {len(ids)}
        beyond = catalog.runs(offset=100)
        assert (beyond.items, beyond.offset, beyond.total) == ((), 100, len(ids))

    @pytest.mark.parametrize(
        ("filters", "kind", "field"),
        [
            pytest.param({"phase": "DONE"}, errors.Invalid, "phase", id="unknown-phase"),
            pytest.param({"phase": "queued"}, errors.Invalid, "phase", id="lower-case-phase"),
            pytest.param({"workload": "nothing"}, errors.NotFound, "workload", id="unknown-workload"),
            pytest.param({"limit": 0}, errors.Invalid, "limit", id="no-limit"),
            pytest.param({"offset": -1}, errors.Invalid, "offset", id="negative-offset"),
        ],
    )
    def test_bad_filters(
        self, catalog: Catalog, filters: dict[str, object], kind: type[errors.AkkaError], field: str
    ) -> None:
        """A filter that cannot be is refused with its field named."""
        with pytest.raises(kind) as caught:
            catalog.runs(**filters)  # type: ignore[arg-type]
        assert caught.value.field == field


def make_run_of(catalog: Catalog, workload_id: str) -> Run:
    """A queued run of a workload."""
    return catalog.add_run(new_run(catalog, workload_id=workload_id))
