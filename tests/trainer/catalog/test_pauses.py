"""What is asked of a run between its attempts: to pause, and to wait for another one."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from support.attempts import claimed, fell, saved
from support.catalog import chunked, make_run, new_run

from akka_optimize import errors
from akka_optimize.records import Pause
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.catalog.attempts import Requests
from akka_optimize.trainer.home import Home


class TestPausing:
    """What is asked of a run, and what of it a worker is told."""

    @pytest.mark.parametrize("checkpoint", ["save", "latest"])
    def test_a_run_that_waits_pauses_at_once(self, catalog: Catalog, checkpoint: str) -> None:
        """It is not claimed, has not ended, holds nothing, and the end of its waiting is on record."""
        run_id = catalog.add_run(new_run(catalog)).run_id
        run = catalog.request_pause(run_id[:9], checkpoint)
        assert (run.phase, run.ended_at) == ("PAUSED", None)
        assert run.pause is not None
        assert (run.pause.checkpoint, run.pause.saved_step, run.pause.resources_released) == (checkpoint, None, True)
        assert [(event["kind"], event["phase"]) for event in run.events] == [("ended", "PAUSED")]
        assert catalog.claim() is None
        assert catalog.requests(run_id) == Requests(cancel=False, pause=None)

    @pytest.mark.parametrize("phase", ["PREPARING", "TRAINING"])
    def test_a_worker_is_asked(self, catalog: Catalog, phase: str) -> None:
        """The run says what was asked, goes on, and its worker finds the request."""
        run = make_run(catalog, phase=phase)
        asked = catalog.request_pause(run.run_id, "save")
        assert (asked.phase, catalog.requests(run.run_id)) == (phase, Requests(cancel=False, pause="save"))
        assert asked.pause is not None
        assert not asked.pause.resources_released

    def test_the_last_request_counts(self, catalog: Catalog) -> None:
        """Whoever asked for a save may change their mind."""
        run = make_run(catalog, phase="PREPARING")
        for checkpoint in ("save", "latest", "save"):
            catalog.request_pause(run.run_id, checkpoint)
            assert catalog.requests(run.run_id).pause == checkpoint

    def test_both_requests_are_seen_at_once(self, catalog: Catalog) -> None:
        """A run may be cancelled while it is to pause, and then never pauses."""
        run = make_run(catalog, phase="TRAINING")
        catalog.request_pause(run.run_id, "save")
        catalog.request_cancel(run.run_id)
        assert catalog.requests(run.run_id) == Requests(cancel=True, pause="save")
        with pytest.raises(errors.Refused, match="about to be CANCELLED"):
            catalog.request_pause(run.run_id, "save")

    @pytest.mark.parametrize("checkpoint", ["", "newest", "SAVE", "saved"])
    def test_another_checkpoint_is_no_request(self, catalog: Catalog, checkpoint: str) -> None:
        """It is named as the field at fault, and nothing is asked."""
        run = make_run(catalog, phase="TRAINING")
        with pytest.raises(errors.Invalid, match="save or latest") as caught:
            catalog.request_pause(run.run_id, checkpoint)
        assert caught.value.field == "checkpoint"
        assert catalog.run(run.run_id) == run

    @pytest.mark.parametrize("phase", ["COMPLETED", "FAILED", "CANCELLED", "PAUSED"])
    @pytest.mark.parametrize("checkpoint", ["save", "latest"])
    def test_what_stands_still_cannot_be_paused(self, catalog: Catalog, phase: str, checkpoint: str) -> None:
        """The message says how the run is; nothing changes."""
        run = make_run(catalog, phase=phase)
        with pytest.raises(errors.Refused, match=f"{run.run_id} is {phase}") as caught:
            catalog.request_pause(run.run_id, checkpoint)
        assert catalog.run(run.run_id) == run
        assert ("resume" in (caught.value.hint or "")) == (phase == "PAUSED")

    def test_latest_needs_something_to_fall_back_to(self, catalog: Catalog) -> None:
        """Once it has trained; before, the beginning is as good, and after a save there is that."""
        run = claimed(catalog)
        catalog.request_pause(run.run_id, "latest")
        catalog.record(run.run_id, chunked(1, [1], {"loss": [1.0]}), observed_step=1, loss=1.0)
        with pytest.raises(errors.Refused, match="1 updates and saved nothing") as caught:
            catalog.request_pause(run.run_id, "latest")
        assert (caught.value.field, "save" in (caught.value.hint or "")) == ("checkpoint", True)
        saved(catalog, run, 1, kinds=("weights",))
        with pytest.raises(errors.Refused, match="saved nothing that"):
            catalog.request_pause(run.run_id, "latest")
        saved(catalog, run, 2)
        pause = catalog.request_pause(run.run_id, "latest").pause
        assert pause is not None
        assert pause.saved_step == 2

    def test_how_a_worker_tells_of_a_pause(self, catalog: Catalog) -> None:
        """The run stands still, has not ended, and says what the worker says; the request is settled."""
        run = make_run(catalog, phase="TRAINING")
        catalog.request_pause(run.run_id, "save")
        told = Pause("save", "2026-01-01T00:00:00Z", 7, "the save failed", True)
        paused = catalog.set_phase(run.run_id, "PAUSED", only_from=("TRAINING",), pause=told)
        assert paused is not None
        assert (paused.phase, paused.ended_at, paused.pause) == ("PAUSED", None, told)
        assert catalog.requests(run.run_id).pause is None

    def test_by_default_the_pause_is_what_was_asked_for(self, catalog: Catalog) -> None:
        """Whoever finds a run whose worker is gone knows no more than the request, and that nothing is held."""
        run = make_run(catalog, phase="TRAINING")
        asked = catalog.request_pause(run.run_id, "save").pause
        paused = catalog.set_phase(run.run_id, "PAUSED", only_from=("TRAINING",))
        assert asked is not None
        assert paused is not None
        assert paused.pause == replace(asked, resources_released=True)

    @pytest.mark.parametrize("phase", ["COMPLETED", "FAILED", "CANCELLED"])
    def test_an_end_is_no_pause(self, catalog: Catalog, phase: str) -> None:
        """A run that ends before it could pause forgets that it was asked; its end is an event unless it completed."""
        run = make_run(catalog, phase="TRAINING")
        catalog.request_pause(run.run_id, "save")
        ended = catalog.set_phase(run.run_id, phase, only_from=("TRAINING",), ended_at="2026-02-03T00:00:00Z")
        assert ended is not None
        assert (ended.pause, ended.ended_at) == (None, "2026-02-03T00:00:00Z")
        assert catalog.requests(run.run_id).pause is None
        assert [event["phase"] for event in ended.events] == [phase] * (phase != "COMPLETED")

    def test_the_trainers_own_pause(self, catalog: Catalog) -> None:
        """A full disk pauses a run that nobody asked to; code and reason are kept, and taken back when it goes on."""
        run = make_run(catalog, phase="TRAINING")
        told = Pause(None, "2026-01-01T00:00:00Z", None, "no room", True)
        stated: dict[str, Any] = {"failure_code": "DISK_FULL", "failure_reason": "no room", "pause": told}
        paused = catalog.set_phase(run.run_id, "PAUSED", only_from=("TRAINING",), **stated)
        assert paused is not None
        assert (paused.failure_code, paused.pause) == ("DISK_FULL", told)
        assert paused.events[-1]["code"] == "DISK_FULL"
        queued = catalog.requeue(run.run_id)
        assert (queued.failure_code, queued.failure_reason, queued.pause) == (None, None, None)


class TestQueuedAgain:
    """Which runs another attempt may be made at."""

    @pytest.mark.parametrize(("phase", "resumable"), [("PAUSED", False), ("FAILED", True)])
    def test_one_that_may_go_on(self, catalog: Catalog, phase: str, resumable: bool) -> None:
        """It waits, and what was said of its end is taken back; what happened stays among its events."""
        run = make_run(catalog, phase="TRAINING")
        catalog.set_phase(run.run_id, phase, only_from=("TRAINING",), failure_code="X", resumable=resumable)
        queued = catalog.requeue(run.run_id)
        assert (queued.phase, queued.failure_code, queued.resumable, queued.ended_at, queued.pause) == (
            "QUEUED", None, False, None, None
        )  # fmt: skip
        assert len(queued.events) == 1

    def test_old_wishes_are_forgotten(self, catalog: Catalog) -> None:
        """A run that failed before it could be cancelled or paused waits as one of which nothing was asked."""
        run = make_run(catalog, phase="TRAINING")
        catalog.request_pause(run.run_id, "save")
        catalog.request_cancel(run.run_id)
        catalog.set_phase(run.run_id, "FAILED", only_from=("TRAINING",), resumable=True)
        catalog.requeue(run.run_id)
        assert catalog.requests(run.run_id) == Requests(cancel=False, pause=None)
        assert catalog.request_pause(run.run_id, "save").phase == "PAUSED"

    @pytest.mark.parametrize(
        ("phase", "advice"),
        [
            ("COMPLETED", "repeat"),
            ("CANCELLED", "repeat"),
            ("FAILED", "repeat"),
            ("QUEUED", "nothing has to be resumed"),
            ("PREPARING", "nothing has to be resumed"),
            ("TRAINING", "nothing has to be resumed"),
        ],
    )
    def test_any_other_is_told_what_to_do(self, catalog: Catalog, phase: str, advice: str) -> None:
        """The message says how the run is, the hint what there is instead; nothing changes."""
        run = make_run(catalog, phase=phase)
        with pytest.raises(errors.Refused, match=f"{run.run_id} is {phase}") as caught:
            catalog.requeue(run.run_id)
        assert advice in (caught.value.hint or "")
        assert catalog.run(run.run_id) == run

    def test_of_two_at_once_one_wins(self, home: Home, catalog: Catalog) -> None:
        """The run waits once, makes one more attempt, and the others are told that it waits already."""
        run = claimed(catalog)
        fell(catalog, run)
        told: list[str] = []
        ready = threading.Barrier(4)

        def resume() -> None:
            with Catalog.open(home) as own:
                ready.wait(20)
                try:
                    told.append(own.requeue(run.run_id).phase)
                except errors.Refused as error:
                    told.append(error.message)

        threads = [threading.Thread(target=resume) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(told) == ["QUEUED", *[f"run {run.run_id} is QUEUED already"] * 3]
        found = catalog.claim()
        assert found is not None
        assert found.attempt == 2
        assert catalog.claim() is None

    def test_it_keeps_its_place_in_the_queue(self, catalog: Catalog) -> None:
        """A run that was begun comes before those that were submitted after it."""
        run = claimed(catalog)
        catalog.add_run(new_run(catalog))
        fell(catalog, run)
        catalog.requeue(run.run_id)
        found = catalog.claim()
        assert found is not None
        assert found.run_id == run.run_id
