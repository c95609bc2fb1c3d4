"""Whole commands against a client that answers everything and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
from support.commands import Clients, RecordingApp, invoke
from support.curves import a_run, column

from akka_optimize.actions.training.runs import origin as origins
from akka_optimize.client.trainer import Trainer
from akka_optimize.output.console import Console
from akka_optimize.records import (
    BaseModel,
    Branch,
    Branches,
    Dataset,
    Division,
    EngineConfig,
    EngineRuntime,
    Fan,
    Hparams,
    Info,
    Metrics,
    Origin,
    Page,
    Repeats,
    ResolvedRun,
    RunEvent,
    RunTree,
    Snapshot,
    Verification,
    Workload,
)

HASH = "4b1c2f9b2ae4" + "0" * 52
RUN = a_run("7d496e82c3a15f04", name="first")
BASELINE = a_run("be2a310245ea0c11", name="second")
DATASET = Dataset(HASH, ("triage",), 80, 8000, 1, (), "2026-01-01T00:00:00Z")
WORKLOAD = Workload("a6ca7475c01ca4df", "triage", None, None, "2026-01-01T00:00:00Z", 2)
MODEL = BaseModel("832f2bf87d6a0ac4", "akka/m", "0" * 64, "ready", "decoder", ("sft",), ("FP32",), 9, 512, "x", "y")
INFO = Info("embedded", "0.1.0", "/home/me", 1, 0, 0, "complete", (), "Python 3.11", "2026-12-01T00:00:00Z")
EVENT = RunEvent(RUN.run_id, "COMPLETED", 40, 40, 1.25, "2026-01-01T00:00:00Z", True, None, None)
SNAPSHOT = Snapshot("s" * 16, RUN.run_id, 1, 40, 1.0, (), "committed", None, "2026-01-01T00:00:00Z", True)
RESOLVED = ResolvedRun(
    descriptor={"kind": "run"},
    config={"seed": 0},
    execution={"gpus": 1},
    plan={"seed": 0},
    config_hash="e14ea5ff5f88",
    division=Division(1, 8, 1, 8),
    steps=40,
    training_rows=72,
    validation_rows=8,
    skipped_rows=0,
    stated=("config.seed",),
    notes=("no purpose is stated",),
)
CHILD = replace(
    a_run("c0ffee0123456789"),
    parent_run_id=RUN.run_id,
    source_snapshot_id="3f2a9c71bd04" + "0" * 52,
    source_step=20,
    restore="weights",
    changes={"hyperparams.lora.rank": 16},
    config_name="rank=16",
)
POINT = Branch(0, "rank=16", CHILD.changes, CHILD.run_id, False, "a" * 12, {"seed": 0}, {"gpus": 1}, None, False, None)
FAN = Branches(RUN.run_id, CHILD.source_snapshot_id, "weights", 40, "token", (POINT,), Fan(0, 1, 1, 50), ("a note",))
METRICS = Metrics({"loss": column([3.0, 2.0, 1.0]), "gradNorm": column(np.ones(3))})
ORIGIN = Origin("c" * 40, None)
DESCRIPTOR = "kind: run\nconfig: {seed: 0}\n"


@dataclass(frozen=True)
class Done:
    """How a command ended, the records that it emitted, and the calls that it made but for the client's `close`."""

    code: int
    out: str
    err: str
    emitted: list[Any]
    calls: list[Any]


class Answers(Console):
    """A console with a person who answers every question in one way, and what was asked."""

    def __init__(self, answer: str | None) -> None:
        super().__init__({})
        self.answer = answer
        self.asked: list[str] = []

    def can_ask(self) -> bool:
        return True

    def ask(self, question: str) -> str | None:
        self.asked.append(question)
        return self.answer


def client(**answers: Any) -> Any:
    """A client with the real one's methods and their signatures; `answers` by name replace what they return.

    An answer that is an exception is raised.
    """
    usual = {
        "info": INFO,
        "create_dataset": DATASET,
        "datasets": Page((DATASET,), 0, 1),
        "dataset": DATASET,
        "name_dataset": DATASET,
        "create_workload": WORKLOAD,
        "workloads": Page((WORKLOAD,), 0, 1),
        "workload": WORKLOAD,
        "base_models": Page((MODEL,), 0, 1),
        "base_model": MODEL,
        "validate_run": RESOLVED,
        "start_run": RUN,
        "repeat_run": lambda _ref, *, times, **_: Repeats((CHILD,) * times, ("a note",)),
        "runs": Page((RUN,), 0, 1),
        "run": lambda ref: BASELINE if ref.startswith(("be2a", "second")) else RUN,
        "cancel_run": RUN,
        "pause_run": RUN,
        "resume_run": RUN,
        "annotate_run": RUN,
        "engine_config": EngineConfig(RUN.run_id, {"config": {"seed": 0}}, {"config": {"seed": 0}}),
        "engine_runtime": EngineRuntime(RUN.run_id, 1, {"processes": []}),
        "verify_run": Verification("runs/x", RUN.run_id, RUN.config_hash, 1, 1, ()),
        "watch_run": [EVENT],
        "run_log": [b"step 1\n", b"step 2\n"],
        "metrics": METRICS,
        "hparams": Hparams(RUN.run_id, {"config.seed": 0}, "f" * 64),
        "snapshots": Page((SNAPSHOT,), 0, 1),
        "snapshot": SNAPSHOT,
        "pin_snapshot": SNAPSHOT,
        "unpin_snapshot": SNAPSHOT,
        "validate_branches": FAN,
        "submit_branches": FAN,
        "branches": Page((CHILD,), 0, 1),
        "descendants": RunTree((RUN, CHILD)),
        "ancestry": Page((RUN, CHILD), 0, 2),
        "cancel_submission": Page((CHILD,), 0, 1),
        "delete_run": RUN,
    }
    made = mock.create_autospec(Trainer, instance=True, spec_set=True)
    for name, answer in (usual | answers).items():
        raised = callable(answer) or isinstance(answer, BaseException)
        getattr(made, name).configure_mock(**{"side_effect" if raised else "return_value": answer})
    return made


def carry_out(
    argv: str | Sequence[str],
    *,
    stdin: str = "",
    environ: dict[str, str] | None = None,
    console: Console | None = None,
    origin: BaseException | None = None,
    **answers: Any,
) -> Done:
    """Carry out a command line (text is split at blanks) against `client(**answers)`, in a folder of ORIGIN.

    `origin`: what is raised, instead, when the folder is looked at.
    """
    trainer = client(**answers)
    app = RecordingApp(Clients(trainer))
    app._console = console
    with mock.patch.object(origins, "origin", return_value=ORIGIN, side_effect=origin):
        ended = invoke(argv, app=app, environ=environ, stdin=stdin)
    calls = [call for call in trainer.mock_calls if call != mock.call.close()]
    return Done(ended.code, ended.out, ended.err, app.emitted, calls)
