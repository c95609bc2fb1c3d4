"""What a command line loads: help and the version pay for no heavy package."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numpy", "grpc", "httpx", "rich", "jq", "yaml", "sqlalchemy", "torch", "google", "safetensors"}
PROBE = """
import sys
sys.argv = ["akka-optimize", *sys.argv[1:]]
from akka_optimize.cli.main import main
try:
    main()
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def loaded(*argv: str) -> set[str]:
    """The top-level modules in the process once the command line is carried out."""
    done = subprocess.run([sys.executable, "-c", PROBE, *argv], capture_output=True, text=True, check=False)
    return {name.partition(".")[0] for name in done.stderr.split("\n")}


@pytest.mark.parametrize(
    "argv",
    [
        ["--version"],
        ["--help"],
        [],
        ["training", "--help"],
        ["training", "runs", "--help"],
        ["training", "runs", "compare", "--help"],
        ["training", "runs", "start", "--help"],
        ["training", "runs", "metrics", "--help"],
        ["datasets", "create", "--help"],
        ["training", "runs", "compare", "--json="],
        ["training", "runs", "compare", "a", "b", "--window", "0"],
        ["training", "rnus"],
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_loaded(argv):
    """Help at any depth, the version, the list of fields, and a refusal of the command line."""
    modules = loaded(*argv)
    assert "click" in modules
    assert modules & HEAVY == set()


def test_the_probe_sees_a_heavy_package():
    """A jq program loads jq, and nothing else that is heavy, before any request is sent."""
    assert loaded("training", "runs", "compare", "a", "b", "--jq", ".[") & HEAVY == {"jq"}


@pytest.mark.parametrize(
    "argv", [["status"], ["training", "info"], ["training", "runs", "list"], ["--use-grpc-web", "status"]]
)
def test_nothing_of_the_network_is_loaded_for_an_embedded_trainer(argv, tmp_path, monkeypatch):
    """Neither transport, nor the reader of configurations, nor torch."""
    monkeypatch.setenv("TRAINER_URL", f"local:{tmp_path}")
    modules = loaded(*argv)
    assert "sqlalchemy" in modules
    assert modules & {"grpc", "httpx", "yaml", "tenacity", "torch"} == set()
