"""What a run's block says of its snapshots, pauses, restarts, comments and where it was asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.commands_fake import RUN

from akka_optimize.output import text
from akka_optimize.output.view import document
from akka_optimize.output.views.run import RUN as VIEW
from akka_optimize.records import Pause

AT = "2026-01-01T00:00:00.000Z"
RESUMED = {"at": AT, "kind": "resumed", "attempt": 2, "restoredStep": 30, "replacedSteps": 4}
COMMENT = {"at": AT, "kind": "comment", "attempt": 1, "text": "the disk was slow"}
ENDED = {"at": AT, "kind": "ended", "attempt": 1, "phase": "FAILED", "code": "WORKER_LOST", "reason": "x", "step": 34}


def row(label, **fields):
    """What the block of a run with these fields says under a label."""
    lines = text.render(VIEW, replace(RUN, **fields)).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{label}  "))
    more = []
    for line in lines[start + 1 :]:
        if not line.startswith(" "):
            break
        more.append(line.strip())
    return [lines[start].removeprefix(label).strip(), *more]


@pytest.mark.parametrize(
    "label", ["Best snapshot", "Last snapshot", "Paused", "Restarts", "Repeats", "Comments", "Origin"]
)
def test_what_did_not_happen_is_a_dash(label):
    """Every run has the same rows."""
    assert row(label) == [text.MISSING]


def test_both_snapshots_are_named():
    """The best by validation with its loss, and the last one."""
    fields = {
        "best_snapshot_id": "b" * 64,
        "best_step": 20,
        "best_validation_loss": 1.25,
        "last_snapshot_id": "a" * 64,
        "saved_step": 40,
    }
    assert row("Best snapshot", **fields) == [f"{'b' * 12} of step 20, validation loss 1.25"]
    assert row("Last snapshot", **fields) == [f"{'a' * 12} of step 40"]


@pytest.mark.parametrize(
    ("pause", "shown"),
    [
        (Pause("save", AT, 40, None, True), f"on demand (checkpoint save) at {AT}, goes on from step 40"),
        (
            Pause("save", AT, 30, None, False),
            f"on demand (checkpoint save) at {AT}, not yet carried out, goes on from the save that it is to make",
        ),
        (
            Pause("latest", AT, None, None, False),
            f"on demand (checkpoint latest) at {AT}, not yet carried out, goes on from the beginning",
        ),
        (
            Pause(None, AT, 30, "the disk is full", True),
            f"by the trainer at {AT}, goes on from step 30: the disk is full",
        ),
    ],
    ids=["save", "save-to-come", "latest", "by-the-trainer"],
)
def test_a_pause_says_by_whom_and_from_where_it_goes_on(pause, shown):
    """And why, where the trainer did it."""
    assert row("Paused", pause=pause) == [shown]


def test_restarts_say_from_where_and_what_they_replaced():
    """A line for each; the ends of attempts are in the JSON."""
    second = RESUMED | {"attempt": 3, "restoredStep": 0, "replacedSteps": 7}
    assert row("Restarts", events=(ENDED, RESUMED, COMMENT, second)) == [
        "attempt 2 from step 30, 4 replaced",
        "attempt 3 from step 0, 7 replaced",
    ]


def test_comments_have_their_dates():
    """As they were made."""
    assert row("Comments", events=(RESUMED, COMMENT)) == [f"{AT}  the disk was slow"]


@pytest.mark.parametrize(
    ("digest", "shown"),
    [(None, f"commit {'c' * 12}, clean"), ("d" * 64, f"commit {'c' * 12} with changes, diff {'d' * 12}")],
)
def test_the_origin_says_whether_the_folder_was_clean(digest, shown):
    """By the hash of what differed."""
    assert row("Origin", origin={"commit": "c" * 40, "diffSha256": digest}) == [shown]


def test_a_repeat_names_the_run():
    """Whose plan it is."""
    assert row("Repeats", repeats="a" * 16) == ["a" * 16]


def test_events_are_json_whole():
    """Every one as it is in the record."""
    found = document(VIEW, replace(RUN, events=(ENDED, RESUMED), pause=Pause("save", AT, 40, None, True)))
    assert found["events"] == [ENDED, RESUMED]
    assert found["pause"] == {
        "checkpoint": "save",
        "requestedAt": AT,
        "savedStep": 40,
        "reason": None,
        "resourcesReleased": True,
    }
