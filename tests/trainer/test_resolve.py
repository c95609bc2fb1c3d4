"""What a descriptor means on this trainer, and what is refused."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import life

from akka_optimize import errors
from akka_optimize.trainer import lengths as lengths_module
from akka_optimize.trainer import resolve
from akka_optimize.trainer.engines import Tokens

TRAINING = "config.hyperparams.training"
LONG_QUESTION = "why? " * 40


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def resolved(trainer, settings=None):
    """The default descriptor with `settings` changed, resolved."""
    return resolve.resolve(*trainer, life.descriptor(settings))


def test_every_default_is_filled_in(trainer):
    """Rows, horizon, division and both documents follow from the descriptor and the dataset."""
    run = resolved(trainer)
    assert (run.training_rows, run.validation_rows, run.skipped_rows, run.steps) == (36, 4, 0, 20)
    assert (run.division.devices, run.division.sequences_per_pass, run.division.accumulation) == (1, 8, 1)
    assert run.config["hyperparams"]["optimizer"]["learningRate"] == 1e-4
    assert run.execution["sequencesPerPass"] == 8
    assert f"{TRAINING}.epochs" in run.stated


def test_the_hash_is_that_of_the_plan(trainer):
    """Anybody can recompute the shown hash from the plan, which names the rows and not the dataset's name."""
    run = resolved(trainer)
    digest = hashlib.sha256(json.dumps(run.plan, sort_keys=True).encode()).hexdigest()
    assert run.config_hash == digest[:12]
    assert run.plan["dataset"] == trainer[0].dataset(life.ROWS).hash
    assert run.plan["hyperparams"]["training"]["steps"] == 20


def test_the_horizon_counts_rows_that_are_left(trainer):
    """An epoch is the rows that are neither held out nor cut away: 36 of 40 in updates of 8 are 4.5, so 5."""
    assert resolved(trainer, {f"{TRAINING}.epochs": 1, f"{TRAINING}.maxSteps": None}).steps == 5


REFUSALS = [
    pytest.param({"workload": "nobody"}, errors.NotFound, "workload", id="unknown-workload"),
    pytest.param({"config.dataset": "nothing"}, errors.NotFound, "config.dataset", id="unknown-dataset"),
    pytest.param({"baseModel": "org/none"}, errors.NotFound, "baseModel", id="unknown-base-model"),
    pytest.param({"config.maxSeqLength": 5000}, errors.Invalid, "config.maxSeqLength", id="longer-than-the-context"),
    pytest.param({"config.maxSeqLength": 8}, errors.Refused, "config.maxSeqLength", id="rows-all-too-long"),
    pytest.param({"execution.sequencesPerPass": 3}, errors.Invalid, "execution.sequencesPerPass", id="does-not-divide"),
    pytest.param(
        {"config.hyperparams.lora.rank": -1}, errors.Invalid, "config.hyperparams.lora.rank", id="a-negative-rank"
    ),
]


@pytest.mark.parametrize(("settings", "error", "field"), REFUSALS)
def test_refusals_name_their_field(trainer, settings, error, field):
    """Each refusal is of its kind, names the descriptor's field, and leaves neither a run nor a folder."""
    with pytest.raises(error) as caught:
        resolved(trainer, settings)
    assert caught.value.field == field
    assert trainer[0].runs().total == 0
    assert list(trainer[1].runs.iterdir()) == []


def test_what_the_base_model_does_not_offer_is_not_supported(trainer, monkeypatch):
    """A method and a precision that the model's entry does not list are refused by name."""
    narrow = replace(life.model_entry(), methods=("dpo",), precisions=("FP32",))
    monkeypatch.setattr("akka_optimize.trainer.base_models.find", lambda _ref: narrow)
    with pytest.raises(errors.Unsupported, match="'sft'"):
        resolved(trainer)
    monkeypatch.setattr("akka_optimize.trainer.base_models.find", lambda _ref: replace(narrow, methods=("sft",)))
    with pytest.raises(errors.Unsupported, match="BF16"):
        resolved(trainer, {"config.model.precision": "BF16"})


def test_rows_that_are_all_too_long_are_refused_in_a_sentence(trainer):
    """The sentence has the dataset, the length, and how much the shortest row would need."""
    with pytest.raises(errors.Refused) as caught:
        resolved(trainer, {"config.maxSeqLength": 8})
    assert "none of its 40 has an assistant token within maxSeqLength 8" in caught.value.message
    needed = int(caught.value.hint.rsplit(" ", 1)[1])
    assert resolved(trainer, {"config.maxSeqLength": needed}).training_rows > 0
    with pytest.raises(errors.Refused):
        resolved(trainer, {"config.maxSeqLength": needed - 1})


def test_rows_that_do_not_fit_are_skipped_and_counted(trainer):
    """A row whose assistant tokens are cut away takes no part, and is counted; one that is only cut is noted."""
    catalog, home = trainer
    rows = [life.row(f"q{i}", "yes") for i in range(18)]
    rows += [life.row(LONG_QUESTION, "no"), life.row("q", "a long answer " * 20)]
    life.add_rows(home, catalog, rows, name="mixed")
    run = resolved(trainer, {"config.dataset": "mixed", "config.maxSeqLength": 64})
    assert (run.training_rows + run.validation_rows, run.skipped_rows) == (19, 1)
    assert any(note.startswith("1 row is skipped") for note in run.notes)
    assert any(note.startswith("1 row is cut") for note in run.notes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param({}, "no purpose is stated", id="no-purpose"),
        pytest.param({"config.hyperparams.optimizer.warmupSteps": 100}, "warmupSteps", id="warm-up-beyond-the-end"),
        pytest.param({f"{TRAINING}.validationShare": 0.01}, "no row is held out", id="a-share-of-nothing"),
    ],
)
def test_what_is_allowed_and_probably_not_meant_is_said(trainer, settings, said):
    """Notes are sentences about a good descriptor."""
    assert any(said in note for note in resolved(trainer, settings).notes)


def test_a_stated_purpose_is_not_remarked_on(trainer):
    """A run with everything in order has no note."""
    assert resolved(trainer, {"purpose": "To see whether the curve falls."}).notes == ()


@given(
    st.lists(st.lists(st.booleans(), min_size=1, max_size=12), min_size=1, max_size=8),
    st.integers(0, 14),
)
def test_lengths_answer_what_the_tokens_answer(marks, length):
    """For every row and every length, the remembered lengths say the same as the row itself."""
    rows = [Tokens(np.zeros(len(mark), np.uint16), np.array(mark)) for mark in marks]
    assert lengths_module.measured(rows).fits(length).tolist() == [row.fits(length) for row in rows]


def cache_file(trainer):
    """The one file that the tokeniser left."""
    (found,) = (trainer[1].path / "cache").iterdir()
    return found


def test_a_dataset_is_tokenised_once(trainer, monkeypatch):
    """The second resolution reads no row."""
    first = resolved(trainer)
    monkeypatch.setattr("akka_optimize.trainer.datasets.rows", lambda *_args: pytest.fail("read again"))
    assert resolved(trainer) == first


def a_flipped_byte(content: bytes) -> bytes:
    """The same file with one byte of its numbers changed."""
    at = content.index(b"NUMPY") + 140
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda _content: b"", id="empty"),
        pytest.param(lambda _content: b"not a cache", id="other-content"),
        pytest.param(lambda content: content[:-50], id="cut"),
        pytest.param(a_flipped_byte, id="a-flipped-byte"),
    ],
)
def test_a_damaged_cache_is_made_again(trainer, damage):
    """Whatever is wrong with the file, the answer is the right one and the file is whole afterwards."""
    first = resolved(trainer)
    place = cache_file(trainer)
    good = place.read_bytes()
    place.write_bytes(damage(good))
    assert resolved(trainer) == first
    assert place.read_bytes() == good


def test_a_cache_of_other_rows_is_not_believed(trainer):
    """Lengths of another number of rows are not these rows'."""
    first = resolved(trainer)
    with cache_file(trainer).open("wb") as out:
        np.savez(out, tokens=np.zeros(3, np.int64), first=np.zeros(3, np.int64))
    assert resolved(trainer) == first


def test_no_torch_is_loaded(tmp_path):
    """Resolving a run of the built-in engine tokenises without a deep-learning library."""
    code = (
        "import sys; from pathlib import Path; from support import life; from akka_optimize.trainer import resolve;"
        "home, catalog = life.open_home(Path(sys.argv[1]));"
        "resolve.resolve(catalog, home, life.descriptor({'baseModel': 'akka/byte-decoder-1m'}));"
        "print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    run = subprocess.run(command, cwd=life.TESTS, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
