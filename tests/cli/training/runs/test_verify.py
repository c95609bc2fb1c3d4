"""`training runs verify`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from unittest.mock import call

import pytest
from support import recorded
from support.commands_fake import carry_out

from akka_optimize.errors import NotFound
from akka_optimize.records import Mismatch, Verification

SOUND = Verification("runs/7d496e82c3a15f04-e14ea5ff5f88", "7d496e82c3a15f04", "e14ea5ff5f88", 12, 3400, ())
DAMAGED = Verification("runs/odd", None, None, 1, 2, (Mismatch("", "is not there"), Mismatch("run.json", "is missing")))
LOADED = """
import sys
sys.argv = ["akka-optimize", *sys.argv[1:]]
from akka_optimize.cli.main import main
try:
    main()
finally:
    print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


def test_a_sound_run_is_one_line():
    """Where it lies, below the trainer's home, and how much was read."""
    done = carry_out("training runs verify first", verify_run=SOUND)
    assert (done.code, done.calls) == (0, [call.verify_run("first")])
    assert done.out == "runs/7d496e82c3a15f04-e14ea5ff5f88: sound (12 files, 3400 bytes)\n"


def test_each_mismatch_is_a_line_with_its_file():
    """On stdout, as a result; the command fails."""
    done = carry_out("training runs verify first", verify_run=DAMAGED)
    assert done.code == 1
    assert done.out == "runs/odd: the folder is not there\nruns/odd: run.json is missing\n"
    assert "the record did not pass" in done.err


def test_the_document_is_a_contract():
    """Names and nesting; the result is there even where the command fails."""
    done = carry_out(
        "training runs verify first second -o json-compact",
        verify_run=lambda ref: SOUND if ref == "first" else DAMAGED,
    )
    assert done.code == 1
    assert json.loads(done.out) == {
        "sound": False,
        "folders": [
            {
                "folder": "runs/7d496e82c3a15f04-e14ea5ff5f88",
                "runId": "7d496e82c3a15f04",
                "configHash": "e14ea5ff5f88",
                "files": 12,
                "bytes": 3400,
                "mismatches": [],
                "sound": True,
            },
            {
                "folder": "runs/odd",
                "runId": None,
                "configHash": None,
                "files": 1,
                "bytes": 2,
                "mismatches": [{"file": "", "problem": "is not there"}, {"file": "run.json", "problem": "is missing"}],
                "sound": False,
            },
        ],
    }


def test_names_of_files_cannot_break_lines():
    """Control characters in what somebody else named are made visible."""
    odd = Verification("runs/odd", None, None, 1, 2, (Mismatch("a\nb\x1b[2J", "is \x07"),))
    out = carry_out("training runs verify first", verify_run=odd).out
    assert out.count("\n") == 1
    assert not {"\x1b", "\x07"} & set(out)


@pytest.mark.parametrize("name", ["run.json", "metrics.csv", "snapshots/20/weights.safetensors", "checksums.txt"])
def test_a_flipped_byte_in_a_folder_is_named(tmp_path, name):
    """With the file, and exit code 1, asking no trainer."""
    folder = recorded.write(tmp_path)
    assert carry_out(["training", "runs", "verify", str(folder)]).code == 0
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    done = carry_out(["training", "runs", "verify", str(folder), "--jq", ".folders[].mismatches[].file"])
    assert (done.code, set(done.out.splitlines()), done.calls) == (1, {name}, [])


def test_a_run_that_nobody_knows_is_refused():
    """Nothing is shown."""
    done = carry_out("training runs verify first", verify_run=NotFound("no run is named first"))
    assert (done.code, done.out) == (1, "")


def test_something_has_to_be_named():
    """It is wrong usage to check nothing."""
    assert carry_out("training runs verify").code == 2


def test_a_folder_is_checked_without_any_trainer(tmp_path):
    """Nothing of the trainer is loaded: no torch, no database, no network; where none is installed, it works."""
    folder = recorded.write(tmp_path)
    environ = {**os.environ, "TRAINER_URL": "http://127.0.0.1:1", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "training", "runs", "verify", str(folder)],
        capture_output=True, text=True, check=False, env=environ,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split(": ")[1][:5]) == (0, "sound")
    assert set(done.stderr.split()) & {"torch", "safetensors", "sqlalchemy", "grpc", "httpx", "google"} == set()
