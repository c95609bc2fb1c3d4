"""The two programs as a shell starts them, from a fresh home to an answer."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support.homes import AKKA, DESCRIPTOR, PATIENCE_SECONDS, PROGRAM, STEPS, CommandLine, jsonl

from akka_optimize.cli.training.runs.compare import compare

ONE_LINE = (
    "import hashlib, json; print(hashlib.sha256(json.dumps(json.load(open('config.json')), sort_keys=True).encode())"
    ".hexdigest()[:12])"
)
BOTH = pytest.mark.parametrize("program", [[PROGRAM], AKKA], ids=["akka-optimize", "akka-optimize-as-akka"])


def bash(shell: CommandLine, script: str) -> subprocess.CompletedProcess[str]:
    """A script in the user's shell, which ends at the first command that fails."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env=shell.variables(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def test_from_nothing_to_a_comparison(tmp_path):
    """Register rows, start two runs of one plan, wait, compare: every step a process, both programs on one home."""
    (tmp_path / "rows.jsonl").write_text(jsonl(40))
    (tmp_path / "run.yaml").write_text(DESCRIPTOR)
    done = bash(
        CommandLine(tmp_path / "home"),
        f"""
        cd {tmp_path}
        akka-optimize datasets create -f rows.jsonl --name triage-train -q > /dev/null
        akka optimize training workloads create triage -q > /dev/null
        FIRST=$(akka-optimize training runs start -f run.yaml --set {STEPS}=40 --force --jq .runId)
        SECOND=$(akka optimize training runs start -f run.yaml --set {STEPS}=40 --force --wait -q --jq .runId)
        akka-optimize training runs wait $FIRST --exit-status -q --jq .phase
        akka-optimize training runs compare $FIRST $SECOND --exit-status --jq '.parting, .overall.fullWindows'
        """,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "COMPLETED\nnull\n4\n", "")


@BOTH
def test_the_examples_of_compare_run_as_they_are_written(shell, program):
    """The examples of its help, under both programs, with the ids replaced by those of real runs."""
    examples = compare.examples.partition("# In a script")[0]
    examples = examples.replace("7d496e82c3a15f04", "first").replace("be2a310245ea0c11", "second")
    done = bash(shell, examples.replace("akka-optimize", " ".join(program)))
    assert (done.returncode, done.stderr) == (0, "")
    verdicts = [line for line in done.stdout.splitlines() if line.startswith(("no parting", "null"))]
    assert [line.split(";")[0] for line in verdicts] == [
        "no parting in 4 full windows of 10 steps",
        "no parting in 2 full windows of 20 steps",
        "null",
    ]


def test_codes_are_those_of_the_process(shell):
    """What a script branches on: wrong usage, nobody there, parted."""
    done = bash(
        shell,
        """
        code() { set +e; "$@" > /dev/null 2>&1; echo $?; set -e; }
        code akka-optimize training runs compare hotter first --window 0
        code akka-optimize training info --trainer-url http://127.0.0.1:1
        code akka optimize training runs compare hotter first --across-plans --exit-status
        """,
    )
    assert done.stdout.split() == ["2", "3", "5"]


def test_the_hash_in_a_folders_name_can_be_recomputed(shell):
    """One line of Python over `config.json` gives the hash in the folder's name; so does sha256 of its bytes."""
    runs = shell.json("training runs list")["runs"]
    for run in runs[:2]:
        folder = shell.folder / run["folder"]
        printed = subprocess.run(
            [sys.executable, "-c", ONE_LINE], cwd=folder, check=True, capture_output=True, text=True
        ).stdout.strip()
        assert folder.name == f"{run['runId']}-{printed}"
        (digest, _) = subprocess.run(
            ["sha256sum", "config.json"], cwd=folder, check=True, capture_output=True, text=True
        ).stdout.split()
        assert digest[:12] == run["configHash"] == printed
        assert json.loads((folder / "config.json").read_text()) == run["plan"]


def test_a_reader_that_leaves_ends_the_command_quietly(shell):
    """`… | head -1`: nothing on stderr, no traceback, and not the code of an answer."""
    line = "akka-optimize training runs compare first second --window 1 -o json | head -1; echo ${PIPESTATUS[0]}"
    done = bash(shell, f"set +e; {line}")
    first, code = done.stdout.splitlines()
    assert (first, done.stderr) == ("{", "")
    assert code in {"0", "141"}, "written before the reader left, or after"


def test_rows_from_another_program(tmp_path):
    """`… | akka-optimize datasets create -f -` registers what is piped in, and prints what a script asks for."""
    shell = CommandLine(tmp_path / "home")
    (tmp_path / "rows.jsonl").write_text(jsonl(5))
    done = bash(shell, f"cat {tmp_path}/rows.jsonl | akka-optimize datasets create -f - --jq .exampleCount")
    assert (done.returncode, done.stdout, done.stderr) == (0, "5\n", "")


@pytest.mark.parametrize("command", ["datasets create -f -", "training runs start -f - --force"])
def test_a_standard_input_that_is_closed(shell, command):
    """It is wrong usage, and no fault of the program."""
    done = bash(shell, f"akka-optimize {command} <&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: standard input is closed")
