"""A home with finished runs that tests look at and do not change."""

from __future__ import annotations

import subprocess

import pytest
from support.homes import RATE, CommandLine

from akka_optimize.trainer import launch


@pytest.fixture(scope="session", autouse=True)
def every_worker_ends():
    """Workers that commands left behind in this process drain their queues and go."""
    yield
    for worker in launch._started:
        if isinstance(worker, subprocess.Popen):  # and no stand-in that a test left there
            worker.wait(timeout=120)


@pytest.fixture(scope="session")
def shell(tmp_path_factory) -> CommandLine:
    """A home with rows, a workload and seven runs, which are all that it will ever have.

    `first` and `second` share a plan; each other one is named after its only difference from them.
    """
    shell = CommandLine(tmp_path_factory.mktemp("shell") / "home").prepare()
    shell.start("name=first", "purpose=the baseline")
    shell.start("name=second")
    shell.start("name=reseeded", "seed=1")
    shell.start("name=hotter", f"{RATE}=1e-3")
    shell.start("name=divided", "execution.sequencesPerPass=2")
    shell.start("name=short", "hyperparams.training.maxSteps=5")
    shell.start("name=short-too", "hyperparams.training.maxSteps=5", wait=True)
    assert shell.json("training runs list --phase open")["total"] == 0
    return shell
