"""The table of fields: complete, consistent with itself, and the page that is made of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from akka_optimize.core import values
from akka_optimize.core.fields import BY_PATH, CONTAINERS, FIELDS, field, nearest
from akka_optimize.core.texts import RULES
from akka_optimize.errors import Invalid

ROOT = Path(__file__).parents[2]

# Written out by hand, so that a change to what users write is seen: path, kind, part, default, range.
TABLE = """
kind string identity required run
workload string identity required -
baseModel string plan required -
name string identity null -
purpose string identity null -
description string identity null -
configName string identity null -
grader string identity null -
submissionId string identity null -
config.dataset string plan required -
config.method string plan 'sft' sft
config.seed int plan 0 0 … 4294967295
config.maxSeqLength int plan 512 8 … the model's context
config.model.precision string plan 'FP32' FP32, BF16
config.hyperparams.lora.rank int plan 8 1 … 256
config.hyperparams.lora.alpha float plan 16.0 > 0
config.hyperparams.lora.dropout float plan 0.0 0 <= x < 1
config.hyperparams.optimizer.learningRate float plan 0.0001 > 0
config.hyperparams.optimizer.weightDecay float plan 0.0 >= 0
config.hyperparams.optimizer.beta1 float plan 0.9 0 <= x < 1
config.hyperparams.optimizer.beta2 float plan 0.999 0 <= x < 1
config.hyperparams.optimizer.epsilon float plan 1e-08 > 0
config.hyperparams.optimizer.schedule string plan 'linear' constant, linear, cosine
config.hyperparams.optimizer.warmupSteps int plan 0 >= 0
config.hyperparams.optimizer.maxGradNorm float plan 1.0 >= 0
config.hyperparams.training.sequencesPerUpdate int plan 8 1 … 4096
config.hyperparams.training.epochs float plan 1.0 > 0
config.hyperparams.training.maxSteps int plan null >= 1
config.hyperparams.training.validationShare float plan 0.1 0 <= x <= 0.5
config.hyperparams.training.validationFrequencySteps int plan 0 >= 0
execution.gpus int division 1 1 … 8
execution.sequencesPerPass int division null 1 … 4096
execution.saveEvery int execution null >= 1
execution.keepAdapters int execution 3 >= 1
execution.keepTrainingStates int execution 1 >= 1
"""


def test_the_table():
    """The fields, their types, defaults and ranges are the contract with everyone who writes a descriptor."""
    lines = []
    for one in FIELDS:
        default = "required" if one.required else "null" if one.default is None else repr(one.default)
        lines.append(f"{one.path} {one.kind} {one.part} {default} {one.range or '-'}")
    assert lines == TABLE.strip().splitlines()


@pytest.mark.parametrize("one", FIELDS, ids=lambda one: one.path)
def test_a_default_is_a_value_of_its_field(one):
    """A default is faultless and already in the field's own type."""
    if not one.required:
        assert values.fault(one, one.default) is None
        assert repr(values.resolved(one, one.default)) == repr(one.default)
    assert one.form in RULES
    assert one.meaning
    assert len(one.meaning) < 80


def test_paths_are_unique_and_no_field_holds_another():
    """A path is a field or a part that holds fields, never both, and none is there twice."""
    assert len(BY_PATH) == len(FIELDS)
    assert not set(BY_PATH) & set(CONTAINERS)
    assert set(CONTAINERS) == {
        "config",
        "config.model",
        "config.hyperparams",
        "config.hyperparams.lora",
        "config.hyperparams.optimizer",
        "config.hyperparams.training",
        "execution",
    }


def test_a_field_is_found_by_its_path():
    """A path gives its field; one that is none gives the nearest."""
    assert field("config.hyperparams.lora.rank").maximum == 256
    with pytest.raises(Invalid) as caught:
        field("config.hyperparams.lora.rnk")
    assert str(caught.value) == (
        "config.hyperparams.lora.rnk: unknown field; the nearest known one is config.hyperparams.lora.rank"
    )
    assert caught.value.field == "config.hyperparams.lora.rnk"


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("config.hyperparams.rank", "config.hyperparams.lora.rank"),
        ("learningRate", "config.hyperparams.optimizer.learningRate"),
        ("config.hyperparams.optimizer.learning_rate", "config.hyperparams.optimizer.learningRate"),
        ("config.hyperparams.optimizer.learningrate", "config.hyperparams.optimizer.learningRate"),
        ("config.lora", "config.hyperparams.lora"),
        ("config.hyperparam", "config.hyperparams"),
        ("executions", "execution"),
        ("base_model", "baseModel"),
        ("config.gpus", "execution.gpus"),
        ("config.zzzzz", None),
    ],
)
def test_the_nearest_field(path, meant):
    """A field of the same name wins, then a close spelling; what resembles nothing has no nearest field."""
    assert nearest(path) == meant


def test_the_page_is_current():
    """docs/fields.md is what the table gives now."""
    script = ROOT / "scripts" / "generate_fields_page.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
