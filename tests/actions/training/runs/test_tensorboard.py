"""Event files that keep up with a run, and the TensorBoard over them."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime

import numpy as np
import pytest
from support.boards import RUN_ID, Training, program, scalars, state
from support.curves import column

from akka_optimize import errors
from akka_optimize.actions.training.runs import board, eventfiles, tensorboard

BEGAN = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Nobody waits between two fetches."""
    monkeypatch.setattr(tensorboard, "EVERY_SECONDS", 0.001)


def columns(losses, steps=None, attempts=None, seconds=None):
    """Loss and seconds of each step; half a second unless stated."""
    spent = [0.5] * len(losses) if seconds is None else seconds
    return {"loss": column(losses, steps, attempts), "seconds": column(spent, steps, attempts)}


def mirrored(trainer, folder):
    """Follow a run to its end; what the files hold, the record, and what was said."""
    said = []
    with tensorboard.opened(trainer, RUN_ID, directory=folder, port=None, say=said.append) as mirror:
        mirror.follow()
    found = scalars(folder)
    return {step: value for step, value, _ in found.get("loss/training", [])}, mirror.record, said


def resumed(attempt, at):
    """The event of an attempt that went on."""
    return {"at": at, "kind": "resumed", "attempt": attempt, "restoredStep": 2, "replacedSteps": 1}


def test_a_run_is_followed_until_it_ends(tmp_path):
    """What was new at each look is in the files once, and the last look is at the whole curve."""
    losses = [5.0, 4.0, 3.0, 2.0, 1.0]
    trainer = Training(
        state("QUEUED", {}),
        state("TRAINING", columns(losses[:2])),
        state("TRAINING", columns(losses[:2])),
        state("TRAINING", columns(losses[:4])),
        state("COMPLETED", columns(losses)),
    )
    found, record, said = mirrored(trainer, tmp_path / "events")
    assert found == dict(enumerate(losses, 1))
    assert record == tensorboard.Mirrored(RUN_ID, str(tmp_path / "events"), 5, 5, None)
    assert said == []
    assert trainer.asked[0] == trainer.asked[-1] == 0


def test_a_long_run_is_not_fetched_whole_again(tmp_path):
    """A look at a run in training asks for what is new, and a little before it for what was recorded late."""
    losses = np.arange(1000.0)
    trainer = Training(
        state("TRAINING", columns(losses[:900])),
        state("TRAINING", columns(losses[:910]) | {"validationLoss": column([2.5, 2.25], [890, 910])}),
        state("TRAINING", columns(losses[:910]) | {"validationLoss": column([2.5, 2.25], [890, 910])}),
        state("COMPLETED", columns(losses) | {"validationLoss": column([2.5, 2.25], [890, 910])}),
    )
    found, record, _ = mirrored(trainer, tmp_path)
    assert trainer.asked == [0, 10 + tensorboard.AGAIN, tensorboard.AGAIN, 0]
    assert list(found.values()) == losses.tolist()
    assert record.step == 1000
    assert [step for step, _, _ in scalars(tmp_path)["loss/validation"]] == [890, 910]


def test_what_a_later_attempt_trained_again_replaces_what_was_shown(tmp_path):
    """A run that was taken up from an earlier step is shown as its one curve is then."""
    again = {"attempt": 2, "replaced_steps": 1, "events": (resumed(2, "2026-01-01T01:00:00Z"),)}
    trainer = Training(
        state("TRAINING", columns([5.0, 4.0, 3.0])),
        state("TRAINING", columns([5.0, 4.0]), **again),
        state("TRAINING", columns([5.0, 4.0, 2.5], attempts=[1, 1, 2]), **again),
        state("COMPLETED", columns([5.0, 4.0, 2.5, 1.0], attempts=[1, 1, 2, 2]), **again),
    )
    found, record, _ = mirrored(trainer, tmp_path)
    assert found == {1: 5.0, 2: 4.0, 3: 2.5, 4: 1.0}
    assert record.step == 4
    walls = [wall for _, _, wall in scalars(tmp_path)["loss/training"]]
    assert walls == [BEGAN + 0.5, BEGAN + 1.0, BEGAN + 3600.5, BEGAN + 3601.0]


@pytest.mark.parametrize("phase", ["COMPLETED", "FAILED", "CANCELLED", "PAUSED"])
def test_a_run_that_does_not_go_on_is_written_once(tmp_path, phase):
    """Nobody waits for a run that has ended, nor for one that somebody would have to resume."""
    trainer = Training(state(phase, columns([5.0, 4.0])))
    assert mirrored(trainer, tmp_path)[0] == {1: 5.0, 2: 4.0}
    assert trainer.asked == [0]


def test_a_curve_of_two_attempts_in_one_look_is_shown_once(tmp_path):
    """Where a step was recorded twice, the latest attempt's value stands."""
    both = columns([5.0, 4.0, 3.0, 2.0, 1.0], [1, 2, 3, 2, 3], [1, 1, 1, 2, 2])
    assert mirrored(Training(state("COMPLETED", both, attempt=2)), tmp_path)[0] == {1: 5.0, 2: 2.0, 3: 1.0}


def test_what_is_no_finite_number_is_told_once(tmp_path):
    """By the name of the metric and at how many steps."""
    spiky = {"loss": column([5.0, np.nan, np.inf]), "gradNorm": column([1.0, 1.0, 1.0])}
    trainer = Training(state("TRAINING", spiky), state("COMPLETED", spiky))
    said = mirrored(trainer, tmp_path)[2]
    assert said == ["Note: loss is not a finite number at 2 steps; it is written as it is"]


def test_a_trainer_that_is_gone_for_a_moment_is_asked_again(tmp_path):
    """Ten failures in a row are the end, and anything that arrives makes the count begin anew."""
    trainer = Training(state("TRAINING", columns([5.0])), state("COMPLETED", columns([5.0, 4.0])))
    faults = iter([None, None, *[errors.Unreachable("nobody answers")] * 9])

    def look():
        if (fault := next(faults, None)) is not None:
            raise fault

    trainer.before_look = look
    found, _, said = mirrored(trainer, tmp_path / "one")
    assert found == {1: 5.0, 2: 4.0}
    assert said == ["The curves could not be fetched (nobody answers); trying again"] * 9
    lost = Training(state("TRAINING", columns([5.0])))
    faults = iter([None, None, *[errors.Unreachable("nobody answers")] * 10])
    lost.before_look = look
    with pytest.raises(errors.Unreachable):
        mirrored(lost, tmp_path / "two")


def test_a_folder_of_the_runs_own_is_this_users_alone(tmp_path, monkeypatch):
    """Below the system's temporary folder, with mode 0700; one that somebody else put there is refused."""
    monkeypatch.setattr(tensorboard.tempfile, "gettempdir", lambda: str(tmp_path))
    mine = tensorboard.own_folder(RUN_ID)
    assert mine.name == RUN_ID
    assert mine.parent.stat().st_mode & 0o777 == 0o700
    mine.parent.rmdir()
    (tmp_path / "elsewhere").mkdir()
    mine.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.Refused, match="is not a folder of this user's"):
        tensorboard.own_folder(RUN_ID)


# with TensorBoard


def shown(trainer, folder, port=0):
    """Open the stand-in on a run; what was said, and the record."""
    said = []
    with tensorboard.opened(trainer, RUN_ID, directory=folder, port=port, say=said.append) as mirror:
        mirror.follow()
    return said, mirror.record


def test_tensorboard_is_opened_on_the_folder_and_closed_with_the_command(tmp_path, monkeypatch):
    """It answers at the address of the record; what it prints is told; afterwards nothing listens there."""
    monkeypatch.setenv("PATH", program(tmp_path))
    trainer, said = Training(state("COMPLETED", columns([5.0]))), []
    with tensorboard.opened(trainer, RUN_ID, directory=tmp_path / "events", port=0, say=said.append) as mirror:
        port = int(mirror.record.url.removeprefix("http://localhost:").rstrip("/"))
        socket.create_connection(("127.0.0.1", port)).close()
    assert said[0] == f"stub on {tmp_path / 'events'}"
    assert "to stderr" in said
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_a_paused_run_is_waited_for_while_tensorboard_is_open(tmp_path, monkeypatch):
    """The curve goes on when the run does, and once it has ended TensorBoard stays open until it is closed."""
    monkeypatch.setenv("PATH", program(tmp_path))
    trainer = Training(
        state("PAUSED", columns([5.0])), state("TRAINING", columns([5.0, 4.0])), state("COMPLETED", columns([5.0, 4.0]))
    )
    looks = iter([False] * 2)
    monkeypatch.setattr(board.Board, "ended", lambda _self, within: within < 0.05 and next(looks, True))
    monkeypatch.setattr(board.Board, "_await_answer", lambda _self: None)
    said, record = shown(trainer, tmp_path / "events")
    assert record.step == 2
    assert f"Run {RUN_ID} is COMPLETED; TensorBoard stays open until Ctrl-C" in said


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("print('ERROR: could not bind'); sys.exit(1)", "exit code 1: ERROR: could not bind"),
        ("sys.exit(0)", "exit code 0: stub on"),
    ],
)
def test_a_tensorboard_that_does_not_start_is_told_with_its_last_words(tmp_path, monkeypatch, body, says):
    """The command fails; the event files are there."""
    monkeypatch.setenv("PATH", program(tmp_path, body))
    with pytest.raises(errors.Refused, match=says):
        shown(Training(state("COMPLETED", columns([5.0]))), tmp_path / "events")
    assert scalars(tmp_path / "events")


def test_a_tensorboard_that_fails_later_ends_the_command(tmp_path, monkeypatch):
    """It is not taken for one that was closed."""
    body = "socket.create_server((words['--host'], int(words['--port']))).accept(); print('lost'); sys.exit(3)"
    monkeypatch.setenv("PATH", program(tmp_path, body))
    monkeypatch.setattr(tensorboard, "EVERY_SECONDS", 5.0)
    with pytest.raises(errors.Refused, match="exit code 3: lost"):
        shown(Training(state("COMPLETED", columns([5.0]))), tmp_path / "events")


def test_a_tensorboard_that_never_answers_is_given_up(tmp_path, monkeypatch):
    """And ended, even where it takes no notice of being asked to."""
    body = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os.getpid(), flush=True); time.sleep(600)"
    )
    monkeypatch.setenv("PATH", program(tmp_path, body))
    monkeypatch.setattr(board, "START_SECONDS", 0.5)
    monkeypatch.setattr(board, "STOP_SECONDS", 0.5)
    said = []
    trainer = Training(state("COMPLETED", columns([5.0])))
    with (
        pytest.raises(errors.TimedOut, match="did not answer"),
        tensorboard.opened(trainer, RUN_ID, directory=tmp_path / "events", port=0, say=said.append),
    ):
        pass
    with pytest.raises(ProcessLookupError):
        os.kill(int(said[-1]), 0)


@pytest.mark.parametrize("missing", ["program", "port", "library"])
def test_what_is_missing_is_told_before_anything_is_written(tmp_path, monkeypatch, missing):
    """No `tensorboard` on PATH, a port that is taken, or no tensorboardX: one sentence, no request, no folder."""
    monkeypatch.setenv("PATH", program(tmp_path) if missing != "program" else str(tmp_path))
    trainer = Training(state("COMPLETED", columns([5.0])))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1] if missing == "port" else 0
        if missing == "library":
            monkeypatch.setattr(
                eventfiles, "require_library", lambda: (_ for _ in ()).throw(errors.Unsupported("none"))
            )
        with pytest.raises((errors.Refused, errors.Unsupported)) as caught:
            shown(trainer, tmp_path / "events", port)
    said = {"program": "no program `tensorboard` is on PATH", "port": f"port {port}: address already in use"}
    assert said.get(missing, "none") in caught.value.message
    assert missing == "library" or "--sync-only" in caught.value.hint
    assert trainer.asked == []
    assert not (tmp_path / "events").exists()
