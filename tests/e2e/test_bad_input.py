"""Every kind of bad input: a clear sentence, the right exit code, nothing on stdout, and nothing changed."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from support.catalog import make_run
from support.homes import DESCRIPTOR, CommandLine, jsonl

from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

RUN, BASELINE, TWIN = "7d496e82c3a15f04", "be2a310245ea0c11", "7d496e82aaaaaaaa"
GOOD = jsonl(3)


@pytest.fixture(scope="module")
def shell(tmp_path_factory) -> CommandLine:
    """A home with rows, a workload and finished runs that no worker made; no test changes it."""
    shell = CommandLine(tmp_path_factory.mktemp("bad") / "home").prepare()
    curve = np.linspace(3, 1, 40)
    with Catalog.open(Home.open(shell.folder)) as catalog:
        make_run(catalog, loss=curve, grad_norm=np.ones(40), run_id=RUN, name="first")
        make_run(catalog, loss=curve, grad_norm=np.ones(40), run_id=BASELINE, name="second")
        make_run(catalog, loss=curve, run_id=TWIN)
        make_run(catalog, loss=curve, at=np.arange(101, 141), steps=40, name="late")
        make_run(catalog, loss=curve, method="grpo", name="rewarded")
        make_run(catalog, phase="CANCELLED", steps=40, name="silent")
    return shell


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that commands run in, with the files that they name."""
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "blank").write_bytes(b" \n\n")
    (tmp_path / "latin1").write_bytes("name: caf\u00e9".encode("latin-1"))
    (tmp_path / "utf16").write_bytes(DESCRIPTOR.encode("utf-16"))
    (tmp_path / "folder").mkdir()
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(200 * 10**6)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(shell: CommandLine, argv: str | list[str], code: int, fragment: str, stdin: str = "") -> str:
    """Carry out a command that has to be refused; what it says on stderr."""
    before = shell.state()
    ended = shell(argv, stdin=stdin)
    assert (ended.code, ended.out) == (code, ""), ended.err
    assert fragment in ended.err
    assert "Error: " in ended.err
    assert "fault in akka-optimize" not in ended.err
    assert shell.state() == before
    return ended.err


COMPARE = [
    pytest.param("nobody second", 1, "no run goes by 'nobody'", id="unknown-run"),
    pytest.param("first nobody", 1, "no run goes by 'nobody'", id="unknown-baseline"),
    pytest.param("7d496e82 second", 1, f"fits 2 runs: {TWIN}, {RUN} (first)", id="ambiguous-prefix"),
    pytest.param("first first", 1, "is its own baseline", id="itself"),
    pytest.param(f"first {RUN[:12]}", 1, "is its own baseline", id="itself-by-another-name"),
    pytest.param("rewarded second", 1, "was trained by grpo, which records a reward", id="reinforcement-run"),
    pytest.param("second rewarded --across-plans", 1, "supervised runs only", id="reinforcement-baseline"),
    pytest.param("late second", 1, "a loss at no common step", id="no-step-in-common"),
    pytest.param("silent second --across-plans", 1, "has recorded no training loss", id="no-loss"),
    pytest.param("first second --window 0", 2, "--window: '0' is not a whole number of 1 or more", id="window-0"),
    pytest.param("first second --window -3", 2, "--window: '-3' is not", id="window-negative"),
    pytest.param("first second --window ten", 2, "--window: 'ten' is not", id="window-no-number"),
    pytest.param("first second --window 1e1", 2, "--window: '1e1' is not", id="window-float"),
    pytest.param("first second --margin -0.1", 2, "--margin: '-0.1' is not a number of 0", id="margin-negative"),
    pytest.param("first second --margin NaN", 2, "--margin: 'NaN' is not", id="margin-nan"),
    pytest.param("first second --margin inf", 2, "--margin: 'inf' is not", id="margin-infinite"),
    pytest.param("first second --spike-factor 0", 2, "--spike-factor: '0' is not a number above 0", id="spike-0"),
    pytest.param("first second --jq .parting[", 2, "--jq: ", id="jq-broken"),
    pytest.param("first second --json partings", 2, "did you mean parting?", id="json-unknown"),
    pytest.param("first second --exit-stat", 2, "did you mean --exit-status?", id="option-mistyped"),
    pytest.param("first second third", 2, "third", id="one-argument-too-many"),
]


@pytest.mark.parametrize(("words", "code", "fragment"), COMPARE)
def test_compare(shell, words, code, fragment):
    """Two runs that cannot be compared, and numbers that are none."""
    refused(shell, f"training runs compare {words}", code, fragment)


FILES = [
    pytest.param("nowhere", 2, "nowhere: no such file", id="missing"),
    pytest.param("folder", 2, "folder: a directory", id="directory"),
    pytest.param("empty", 1, "empty: the descriptor is empty", id="empty"),
    pytest.param("blank", 1, "the document is empty", id="blank"),
    pytest.param("latin1", 1, "latin1:1:10: the byte 0xe9 is not UTF-8", id="not-utf-8"),
    pytest.param("utf16", 1, "utf16:1:1: UTF-16; save it as UTF-8", id="utf-16"),
    pytest.param("/dev/zero", 1, "the descriptor is larger than 10 MiB", id="endless"),
]


@pytest.mark.parametrize("mode", ["--force", "--dry-run"])
@pytest.mark.parametrize(("name", "code", "fragment"), FILES)
def test_a_file_that_is_no_descriptor(shell, folder, name, code, fragment, mode):
    """It is told by its name, and by line and column where there are any; a dry run says the same."""
    refused(shell, f"training runs start -f {name} {mode}", code, fragment)


RANK, RATE = "config.hyperparams.lora.rank", "config.hyperparams.optimizer.learningRate"
VALUES = [
    pytest.param("config.hyperparams.lora.rnak", "8", "rnak", id="unknown-field"),
    pytest.param("excution.gpus", "1", "excution", id="unknown-root-field"),
    pytest.param("config.dataset", '"nobody"', "no dataset goes by 'nobody'", id="missing-dataset"),
    pytest.param("config.dataset", "null", "config.dataset", id="no-dataset"),
    pytest.param("workload", '"nobody"', "no workload goes by 'nobody'", id="missing-workload"),
    pytest.param("baseModel", '"nobody/model"', "nobody/model", id="missing-base-model"),
    pytest.param("kind", '"sweep"', "kind", id="another-kind"),
    pytest.param("config.method", '"grpo"', "grpo", id="another-method"),
    pytest.param(RANK, "-1", "-1", id="negative-rank"),
    pytest.param(RANK, "0", "0", id="rank-0"),
    pytest.param(RANK, "8.0", "8.0", id="float-for-a-rank"),
    pytest.param(RANK, '"8"', '"8"', id="quoted-rank"),
    pytest.param(RANK, "true", "true", id="boolean-rank"),
    pytest.param(RATE, '"1e-5"', '"1e-5"', id="quoted-rate"),
    pytest.param(RATE, "0", "0", id="rate-0"),
    pytest.param(RATE, "-1e-4", "-0.0001", id="negative-rate"),
    pytest.param(RATE, "1e400", "1e400", id="rate-beyond-floats"),
    pytest.param("config.seed", "4294967296", "4294967296", id="seed-too-large"),
    pytest.param("config.maxSeqLength", "100000", "100000", id="longer-than-the-model-reads"),
    pytest.param("config.maxSeqLength", "8", "none of its 40 has an assistant token", id="rows-all-too-long"),
    pytest.param("config.hyperparams.training.validationShare", "0.9", "0.9", id="holds-out-most"),
    pytest.param("execution.sequencesPerPass", "3", "3", id="division-that-does-not-divide"),
    pytest.param("execution.sequencesPerPass", "16", "16", id="a-pass-larger-than-an-update"),
    pytest.param("execution.gpus", "9", "1 to 8", id="more-devices-than-a-run-takes"),
    pytest.param("execution.saveEvery", "0", "0", id="save-every-0"),
]


@pytest.mark.parametrize("mode", ["--force", "--dry-run"])
@pytest.mark.parametrize(("path", "value", "fragment"), VALUES)
def test_a_field_that_is_wrong(shell, path, value, fragment, mode):
    """The field is named by its path, and what stands in it is shown; a dry run says the same."""
    said = refused(shell, ["training", "runs", "start", "-f", "-", mode], 1, fragment, stdin=document(path, value))
    if value != "1e400":  # which no reader lets through, so that no field holds it
        assert path.rsplit(".", 1)[0] in said


def document(path: str, value: str) -> str:
    """A descriptor in JSON, valid but for the value, written as it is, at the path."""
    base = {
        "kind": "run",
        "workload": "triage",
        "baseModel": "akka/arithmetic",
        "config": {
            "dataset": "triage-train",
            "hyperparams": {"lora": {}, "optimizer": {}, "training": {"maxSteps": 5}},
        },
        "execution": {},
    }
    *parents, last = path.split(".")
    into = base
    for parent in parents:
        into = into.setdefault(parent, {})
    into[last] = "PLACE"
    return json.dumps(base).replace('"PLACE"', value)


TEXTS = [
    pytest.param(
        "config: {hyperparams: {optimizer: {learningRate: .nan}}}",
        ":1:50: .nan is not a finite number",
        id="nan-in-yaml",
    ),
    pytest.param('{"config": {"hyperparams": {"optimizer": {"learningRate": NaN}}}}', "NaN", id="nan-in-json"),
    pytest.param("kind: run\nkind: run", "2:1", id="a-key-twice"),
    pytest.param("kind: !!python/object:os.system run", "1:7", id="a-tag"),
    pytest.param("a: &a [x, x]\nb: *a", "unknown", id="unknown-fields"),
    pytest.param("just text", "is a mapping", id="text"),
    pytest.param("[1, 2]", "is a mapping", id="list"),
    pytest.param('{"kind": "run"', "1:", id="cut-off"),
    pytest.param("[" * 100 + "]" * 100, "deep", id="nested-too-deep"),
    pytest.param("{}", "workload", id="nothing-stated"),
]


@pytest.mark.parametrize(("text", "fragment"), TEXTS)
def test_a_text_that_is_no_descriptor(shell, text, fragment):
    """It is refused by line and column, or by the fields that are missing or too many."""
    refused(shell, "training runs start -f - --force", 1, fragment, stdin=text)


ASSIGNMENTS = [
    pytest.param("hyperparams.lora.rank=8.0", 1, "config.hyperparams.lora.rank", id="float-for-a-rank"),
    pytest.param("hyperparams.lora.rank=-1", 1, "config.hyperparams.lora.rank", id="negative-rank"),
    pytest.param('hyperparams.optimizer.learningRate="1e-5"', 1, '"1e-5"', id="quoted-rate"),
    pytest.param(
        "hyperparams.optimizer.learningRate=.nan",
        1,
        "--set hyperparams.optimizer.learningRate:1:1: .nan is not",
        id="nan",
    ),
    pytest.param("hyperparams.lora.rnak=8", 1, "lora.rank", id="unknown-field"),
    pytest.param("hyperparams.lora.rank", 2, "write path=value", id="no-value"),
    pytest.param("workload.deeper=1", 2, "'workload' holds no fields", id="below-a-value"),
    pytest.param("name=[", 1, "", id="broken"),
]


@pytest.mark.parametrize(("assignment", "code", "fragment"), ASSIGNMENTS)
def test_an_assignment_that_is_wrong(shell, assignment, code, fragment):
    """`--set` is checked as the descriptor is."""
    argv = ["training", "runs", "start", "-f", "-", "--force", "--set", assignment]
    refused(shell, argv, code, fragment, stdin=DESCRIPTOR)


ROWS = [
    pytest.param(GOOD + '{"messages": [', "line 4", id="broken-line"),
    pytest.param(GOOD + "not json\n" + GOOD, "line 4", id="broken-line-in-the-middle"),
    pytest.param('{"messages": [{"role": "user", "content": "a"}]}', "line 1", id="no-assistant-message"),
    pytest.param('{"prompt": "a", "completion": "b"}', "line 1", id="no-messages"),
    pytest.param('{"messages": []}', "line 1", id="no-message"),
    pytest.param('{"messages": [{"role": "assistant", "content": NaN}]}', "line 1", id="nan"),
    pytest.param('{"messages": [{"role": "assistant", "content": "\\ud800"}]}', "line 1", id="lone-surrogate"),
    pytest.param(f"[{GOOD.splitlines()[0]}]", "line 1", id="one-list"),
    pytest.param("\n\n \n", "row", id="blank-lines-only"),
    pytest.param("", "the file is empty", id="nothing"),
]


@pytest.mark.parametrize(("content", "fragment"), ROWS)
def test_rows_that_are_refused(shell, content, fragment):
    """The first line that is wrong is named by its number; neither the rows before it nor the name are kept."""
    refused(shell, "datasets create -f - --name bad-rows", 1, fragment, stdin=content)


SOURCES = [
    pytest.param("nowhere", 2, "nowhere: the file of examples cannot be read: No such file", id="missing"),
    pytest.param("folder", 2, "folder: the file of examples cannot be read: Is a directory", id="directory"),
    pytest.param("empty", 1, "the file is empty", id="empty"),
    pytest.param("latin1", 1, "line 1", id="not-utf-8"),
    pytest.param("huge", 1, "larger than a dataset may be, 64 MiB", id="200-mb"),
    pytest.param("/dev/zero", 1, "larger than a dataset may be, 64 MiB", id="endless"),
]


@pytest.mark.parametrize(("name", "code", "fragment"), SOURCES)
def test_a_file_that_holds_no_rows(shell, folder, name, code, fragment):
    """It is refused, quickly, and nothing of it is kept."""
    begun = time.monotonic()
    refused(shell, f"datasets create -f {name} --name bad-rows", code, fragment)
    assert time.monotonic() - begun < 10, "no 200 MB are read to find out that they are too many"


OTHERS = [
    pytest.param("training runs get nobody", 1, "no run goes by 'nobody'", id="get"),
    pytest.param("training runs get 7d496e", 1, "fits 2 runs", id="get-ambiguous"),
    pytest.param(["training", "runs", "get", ""], 2, "an empty value has no meaning", id="get-nothing"),
    pytest.param("training runs get %", 1, "no run goes by '%'", id="no-wildcard"),
    pytest.param("training runs logs nobody", 1, "no run goes by 'nobody'", id="logs"),
    pytest.param("training runs metrics nobody", 1, "no run goes by 'nobody'", id="metrics"),
    pytest.param("training runs metrics first --fields lss", 2, "lss", id="metrics-column"),
    pytest.param("training runs hparams nobody", 1, "no run goes by 'nobody'", id="hparams"),
    pytest.param("training runs hparams first", 1, "no hyperparameters", id="hparams-not-yet"),
    pytest.param("training runs snapshots nobody", 1, "no run goes by 'nobody'", id="snapshots"),
    pytest.param("training runs wait nobody", 1, "no run goes by 'nobody'", id="wait"),
    pytest.param("training runs wait first --timeout 1d", 2, "'1d' is not a duration", id="wait-a-day"),
    pytest.param("training runs wait first --timeout -1s", 2, "'-1s' is not a duration", id="wait-negative"),
    pytest.param("training runs cancel nobody --force", 1, "no run goes by 'nobody'", id="cancel"),
    pytest.param("training runs cancel first --force", 1, "COMPLETED", id="cancel-ended"),
    pytest.param("training runs cancel first", 2, "--force", id="cancel-unasked"),
    pytest.param("training runs list --phase OPENED", 1, "OPENED", id="list-phase"),
    pytest.param("training runs list --workload nobody", 1, "no workload goes by 'nobody'", id="list-workload"),
    pytest.param("training runs list --limit 0", 2, "--limit", id="list-limit"),
    pytest.param("training workloads get nobody", 1, "no workload goes by 'nobody'", id="workload"),
    pytest.param("training workloads create triage", 1, "triage", id="workload-taken"),
    pytest.param(["training", "workloads", "create", "Two Words"], 1, "Two Words", id="workload-name"),
    pytest.param("training workloads create x --dataset nobody", 1, "nobody", id="workload-dataset"),
    pytest.param("training workloads create x --grader y", 2, "add --dataset", id="workload-grader-alone"),
    pytest.param(
        "training workloads create x --dataset triage-train --grader y", 1, "json-label-match", id="workload-grader"
    ),
    pytest.param("training base-models get nobody", 1, "nobody", id="base-model"),
    pytest.param("datasets get nobody", 1, "no dataset goes by 'nobody'", id="dataset"),
    pytest.param("datasets name x nobody", 1, "no dataset goes by 'nobody'", id="name-nobody"),
    pytest.param(["datasets", "name", "Two Words", "triage-train"], 1, "Two Words", id="name-with-a-blank"),
    pytest.param("datasets create -f - --name Bad/Name", 1, "Bad/Name", id="create-under-a-bad-name"),
    pytest.param("training runs init --workload x", 2, "--dataset", id="init-without-a-dataset"),
    pytest.param("training runs start --force", 2, "--file", id="start-without-a-file"),
    pytest.param("training runs strat", 2, "did you mean start?", id="command-mistyped"),
    pytest.param("trainings", 2, "did you mean training?", id="group-mistyped"),
    pytest.param("training info --timeout 1d", 2, "--timeout", id="timeout-in-days"),
    pytest.param("training info --timeout 0", 2, "--timeout", id="timeout-0"),
    pytest.param("training info -o yaml", 2, "yaml", id="format-unknown"),
    pytest.param("training info --page-mode x", 2, "--page-mode is not supported by this release", id="option-to-come"),
]


@pytest.mark.parametrize(("argv", "code", "fragment"), OTHERS)
def test_the_other_commands(shell, argv, code, fragment):
    """References that fit nothing, names that are none, options out of range."""
    refused(shell, argv, code, fragment, stdin=GOOD)


def test_what_holds_no_request_is_started_by_nobody(shell):
    """`start` without --force and without a terminal is refused after its descriptor was found good."""
    refused(shell, "training runs start -f -", 2, "--force goes on without asking", stdin=DESCRIPTOR)


def test_every_fault_of_a_descriptor_is_reported(shell):
    """One attempt tells of all of them."""
    text = "kind: run\nexecution: {gpus: 0}\nconfig: {seed: -1, hyperparams: {lora: {rank: 8.0}, nonsense: 1}}"
    said = refused(shell, "training runs start -f - --force", 1, "workload", stdin=text)
    for path in ("baseModel", "config.dataset", "config.seed", "lora.rank", "nonsense", "execution.gpus"):
        assert path in said
