"""`training runs engine-runtime`."""

from __future__ import annotations

import json
from unittest.mock import call

from support.commands_fake import RUN, carry_out
from support.homes import CommandLine

from akka_optimize.errors import NotFound
from akka_optimize.records import EngineRuntime

TOLD = EngineRuntime(
    RUN.run_id,
    2,
    {
        "trainer": {"changedBySetup": ["gpus"]},
        "processes": [{"rank": 0, "device": "cpu"}, {"rank": 1, "device": "cpu"}],
        "memory": {"afterLoad": 1048576},
        "weather": "fine",
    },
)


def test_every_part_has_a_line():
    """One request; a path for each leaf, those in lists by their place."""
    done = carry_out("training runs engine-runtime first", engine_runtime=TOLD)
    assert (done.code, done.calls) == (0, [call.engine_runtime("first")])
    assert [line.split() for line in done.out.splitlines()] == [
        ["runId", RUN.run_id],
        ["attempt", "2"],
        ["trainer.changedBySetup", '["gpus"]'],
        ["processes[0].rank", "0"],
        ["processes[0].device", "cpu"],
        ["processes[1].rank", "1"],
        ["processes[1].device", "cpu"],
        ["memory.afterLoad", "1048576"],
        ["weather", "fine"],
    ]


def test_json_has_the_parts_at_the_top():
    """Under the names that scripts know; what an engine does not tell is null, and what else it tells is kept."""
    done = carry_out("training runs engine-runtime first -o json", engine_runtime=TOLD)
    assert json.loads(done.out) == {
        "runId": RUN.run_id,
        "attempt": 2,
        "rolloutEngine": [],
        "trainer": {"changedBySetup": ["gpus"]},
        "processes": TOLD.runtime["processes"],
        "backend": None,
        "model": None,
        "memory": {"afterLoad": 1048576},
        "further": {"weather": "fine"},
    }
    assert carry_out("training runs engine-runtime first --jq .rolloutEngine[]", engine_runtime=TOLD).out == ""


def test_before_the_worker_has_begun_there_is_none():
    """It is refused, and not shown empty."""
    done = carry_out("training runs engine-runtime first", engine_runtime=NotFound("nothing yet"))
    assert (done.code, done.out) == (1, "")


def test_a_real_trainer_tells_it(tmp_path):
    """Once a run has trained, of its attempt."""
    shell = CommandLine(tmp_path / "home").prepare()
    run = shell.start(wait=True)
    told = shell.json(f"training runs engine-runtime {run}")
    assert (told["attempt"], told["trainer"]["changedBySetup"]) == (1, ["gpus"])
