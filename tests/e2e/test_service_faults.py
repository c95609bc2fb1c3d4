"""A service that is killed while it carries out a request, and asked again under the token: nothing lost or doubled."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support import processes


def outcomes(kind: str, every: int) -> list[dict]:
    """What became of one kind of request, the service killed at every `every`th stage and at the last ones."""
    printed = subprocess.run(
        [sys.executable, "-m", "support.service_faults", "--json", kind, str(every)],
        env={"PYTHONPATH": processes.PATH, "OMP_NUM_THREADS": "1", "PATH": ""},
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return json.loads(printed.stdout)


@pytest.mark.parametrize(
    ("kind", "every", "made", "stages"),
    [
        ("sweep", 4, 50, {"insert into submissions", "insert into runs", "commit", "committed", "reply"}),
        ("start", 3, 1, {"rename folder beside", "insert into runs", "commit", "committed", "reply"}),
        ("dataset", 2, 1, {"write upload", "insert into datasets", "commit", "committed", "remove upload", "reply"}),
    ],
)
def test_a_killed_service_is_restarted_and_asked_again(kind, every, made, stages):
    """All of it was made, or nothing; then all of it, once, with the ids of the dry run, each with its folder."""
    found = outcomes(kind, every)
    assert stages <= {outcome["stage"].split(",")[0] for outcome in found}
    for outcome in found:
        told = (outcome["again"], outcome["doubled"], outcome["wrong"])
        assert told == (made, 0, None), outcome
        committed = outcome["stage"].split(",")[0] in ("committed", "reply", "remove upload", "remove unfinished.json")
        assert outcome["after"] == made * committed or outcome["stage"].startswith("end of reading"), outcome
