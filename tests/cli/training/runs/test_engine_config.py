"""`training runs engine-config`."""

from __future__ import annotations

import json
from unittest.mock import call

from support.commands_fake import RUN, carry_out
from support.homes import CommandLine

from akka_optimize.errors import NotFound
from akka_optimize.records import EngineConfig

TOLD = EngineConfig(
    RUN.run_id,
    {"config": {"device": None, "gpus": 2, "adam_beta1": 0.9}},
    {"config": {"device": "cpu", "gpus": 0, "adam_beta1": 0.9}, "adapter": {"scale": 2.0}},
)


def test_what_was_asked_for_stands_beside_what_came_of_it():
    """One request; a mark where the engine does otherwise than asked, none where it was to choose."""
    done = carry_out("training runs engine-config first", engine_config=TOLD)
    assert (done.code, done.calls) == (0, [call.engine_config("first")])
    assert [line.split() for line in done.out.splitlines()] == [
        ["PATH", "REQUESTED", "RESOLVED"],
        ["config.device", "—", "cpu"],
        ["config.gpus", "2", "0", "differs"],
        ["config.adam_beta1", "0.9", "0.9"],
        ["adapter.scale", "—", "2.0"],
    ]


def test_json_has_both_documents_whole():
    """`.requested`, `.resolved`, and where they differ."""
    done = carry_out("training runs engine-config first -o json", engine_config=TOLD)
    assert json.loads(done.out) == {
        "runId": RUN.run_id,
        "requested": TOLD.requested,
        "resolved": TOLD.resolved,
        "differences": [{"path": "config.gpus", "requested": 2, "resolved": 0}],
    }
    assert carry_out("training runs engine-config first --jq .resolved.config.adam_beta1", engine_config=TOLD).out == (
        "0.9\n"
    )


def test_before_the_worker_has_begun_there_is_none(tmp_path):
    """It is refused, with the exit code 1, for a run that waits and for one that is not there."""
    done = carry_out("training runs engine-config first", engine_config=NotFound("nothing yet"))
    assert (done.code, done.out) == (1, "")
    shell = CommandLine(tmp_path / "home").prepare()
    assert shell("training runs engine-config first").code == 1


def test_a_real_trainer_tells_it(tmp_path):
    """Once a run has trained, with what its plan asks for."""
    shell = CommandLine(tmp_path / "home").prepare()
    run = shell.start("hyperparams.lora.rank=4", wait=True)
    told = shell.json(f"training runs engine-config {run}")
    assert told["requested"]["config"]["lora_rank"] == told["resolved"]["config"]["lora_rank"] == 4
