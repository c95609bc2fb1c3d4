"""A script's own record: the same folder as a trainer's, with no home."""

from __future__ import annotations

import json
import math

import pytest
from support import recorded

from akka_optimize import errors
from akka_optimize.record import curves
from akka_optimize.record.verify import verify
from akka_optimize.trainer.alone import Record

RUN_ID = "7d496e82c3a15f04"


@pytest.fixture
def record(tmp_path):
    """A run whose configuration is on the disk."""
    return Record(tmp_path, {"seed": 7}, seeds={"torch": 7}, name="first", purpose="to see it", run_id=RUN_ID)


def save(record, step, validation_loss=None):
    """A snapshot of made-up files."""
    return record.save(
        step,
        weights=lambda path: path.write_bytes(b"weights"),
        training_state=lambda path: path.write_bytes(recorded.archive({"step": step})),
        validation_loss=validation_loss,
    )


def test_configuration_and_seeds_are_there_before_the_first_update(record):
    """With what the run is for, and where it is carried out."""
    told = json.loads((record.place / "run.json").read_text())
    assert (record.place / "config.json").read_text() == '{"seed": 7}'
    assert (told["name"], told["purpose"], told["seeds"]) == ("first", "to see it", {"torch": 7})
    assert told["environment"]["packages"]["numpy"]
    assert record.place.name == f"{RUN_ID}-{record.config_hash}"


def test_a_closed_record_is_sound(record):
    """Its curves are those that were added; the best snapshot is that of the lowest loss, the earliest of equals."""
    for step in range(1, 31):
        record.add(step, loss=1 / step, seconds=0.1)
    record.add(20, validationLoss=0.5)
    ids = [save(record, step, loss) for step, loss in ((10, 0.75), (20, 0.5), (30, 0.5), (40, math.nan))]
    assert verify(record.close()).mismatches == ()
    summary = json.loads((record.place / "summary.json").read_text())
    assert summary["best"] == {"snapshotId": ids[1], "step": 20, "validationLoss": 0.5}
    assert (summary["observedStep"], summary["savedStep"]) == (30, 40)
    with (record.place / "metrics.csv").open(newline="") as lines:
        (piece,) = curves.read(lines)
    assert piece.columns["loss"][1].tolist() == [1 / step for step in range(1, 31)]


def test_a_record_without_an_update_is_sound(record):
    """Nothing happened, and that is on record."""
    assert verify(record.close()).mismatches == ()


def test_two_records_of_one_configuration_have_one_hash(tmp_path):
    """And folders of their own."""
    first, second = (Record(tmp_path, {"seed": 7}, seeds={}) for _ in range(2))
    assert first.config_hash == second.config_hash
    assert first.place != second.place


def test_a_record_is_never_written_over(record, tmp_path):
    """Nor is a snapshot."""
    with pytest.raises(errors.Refused):
        Record(tmp_path, {"seed": 7}, seeds={}, run_id=RUN_ID)
    save(record, 10)
    with pytest.raises(errors.Refused):
        save(record, 10)
