"""The example's rows: what the script makes, fit for the model, and an evaluation that was not trained on."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from akka_optimize.trainer import base_models
from akka_optimize.trainer.engines import engine

FOLDER = Path(__file__).parents[2] / "examples" / "support-triage"
FILES = ("train.jsonl", "eval.jsonl")


def rows(name):
    """The rows of one file."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def asked(name):
    """What the customers of one file wrote, in small letters."""
    return {row["messages"][1]["content"].lower() for row in rows(name)}


@pytest.fixture(scope="module")
def script():
    """The script that made the files."""
    spec = importlib.util.spec_from_file_location("support_triage_make", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_what_the_script_makes(script, tmp_path):
    """Anyone can make the rows again, byte for byte."""
    script.main([str(tmp_path)])
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_nothing_is_in_both_files():
    """No message occurs twice, in one file or across both, whatever its capitals."""
    assert [len(asked(name)) for name in FILES] == [len(rows(name)) for name in FILES] == [400, 100]
    assert not asked("train.jsonl") & asked("eval.jsonl")


def test_some_wordings_are_for_the_evaluation_alone(script):
    """The last two wordings of each category never stand in a training row; some evaluation rows have them."""
    kept = [w.partition("{p}")[0].strip() for ways in script.WORDINGS.values() for w in ways[-2:]]
    openings = [part for part in kept if len(part) > 12]
    seen = {name: sum(any(o in text for o in openings) for text in asked(name)) for name in FILES}
    assert seen["train.jsonl"] == 0
    assert seen["eval.jsonl"] > 10


@pytest.mark.parametrize("name", FILES)
def test_every_answer_is_a_label_of_each_kind(script, name):
    """Instruction, message, and an answer that is JSON of category, priority and product."""
    for row in rows(name):
        assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]
        answer = json.loads(row["messages"][2]["content"])
        assert list(answer) == ["category", "priority", "product"]
        assert answer["category"] in script.WORDINGS
        assert answer["priority"] in script.URGENCY
        assert answer["product"] in script.PRODUCTS


@pytest.mark.parametrize("name", FILES)
def test_every_row_fits_the_model_whole(name):
    """Nothing is cut away at the context of the shipped model, and lengths are as ragged as real ones."""
    model = base_models.find("akka/byte-decoder-1m")
    lengths = [len(engine(model.engine).encode(row).ids) for row in rows(name)]
    assert max(lengths) <= model.context_length
    assert max(lengths) > 1.8 * min(lengths)
