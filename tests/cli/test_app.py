"""What a command is handed."""

from __future__ import annotations

import pytest
from support.commands import Clients, RecordingApp, invoke
from support.tree import tree
from support.tree.records import Client

COMPARE = "runs compare a b "
WHOLE = '{"runId":"7d49","phase":"TRAINING","observedStep":12,"loss":0.30000000000000004}\n'


@pytest.mark.parametrize(
    ("flags", "code", "out"),
    [
        ("", 0, "RUN    7d49\nPHASE  Training\nSTEP   12\nLOSS   0.3\n"),
        ("-o json-compact", 0, WHOLE),
        ("-o json --json runId,loss", 0, '{\n  "runId": "7d49",\n  "loss": 0.30000000000000004\n}\n'),
        ("-o csv", 0, "7d49,TRAINING\n"),
        ("--jq .", 0, WHOLE),
        ("--jq .phase", 0, "TRAINING\n"),
        ("--jq .runId,.observedStep", 0, "7d49\n12\n"),
        ("--json runId --jq .", 0, '{"runId":"7d49"}\n'),
        ("--jq .loss|error", 1, ""),
        ("--jq .[", 2, ""),
        ("-o yaml", 2, ""),
        ("--json nope", 2, ""),
    ],
)
def test_a_record_is_printed_in_the_format_asked_for(flags, code, out):
    """From the command line to stdout, one row for each way to ask."""
    outcome = invoke(COMPARE + flags, Client(), tree=tree)
    assert (outcome.code, outcome.out) == (code, out)


@pytest.mark.parametrize(
    "flags", ["--jq .[", "--jq input", "--json nope", "-o yaml", "-o text --jq .", "--json= --jq ."]
)
def test_what_is_wrong_with_the_output_costs_no_request(flags):
    """The client is not even made."""
    clients = Clients(Client())
    assert invoke(COMPARE + flags, clients, tree=tree).code == 2
    assert clients.asked == []


def test_the_client_is_made_once_when_it_is_needed_and_closed():
    """With the address as typed and the time allowed."""
    clients = Clients(Client())
    invoke("--trainer-url local: --timeout 3s runs compare a b", clients, tree=tree)
    assert clients.asked == [("local:", 3.0)]
    assert clients.client.closed == 1
    assert invoke("runs init", clients, tree=tree).out == "kind: run\n"
    assert len(clients.asked) == 1


def test_jq_is_held_to_the_timeout():
    """A program that does not end is ended, as a service that does not answer is."""
    outcome = invoke([*COMPARE.split(), "--timeout", "300ms", "--jq", "repeat(1)|select(false)"], Client(), tree=tree)
    assert outcome.code == 3
    assert outcome.err.startswith("Error: --jq: the program did not finish within 0.3s\n")


def test_what_a_command_emits_is_a_record():
    """Rendering is not its business."""
    app = RecordingApp(Clients(Client()))
    invoke(COMPARE, tree=tree, app=app)
    assert app.emitted == [Client().run("")]


@pytest.mark.parametrize(
    ("flags", "out", "err"),
    [
        ("-o json-compact", '{"runId":"7d49","phase":"TRAINING"}\n{"runId":"7d49","phase":"COMPLETED"}\n' + WHOLE, ""),
        ("--json phase -o json-compact", '{"phase":"TRAINING"}\n', "7d49 TRAINING\n7d49 COMPLETED\n"),
        ("--jq .phase", "TRAINING\n", "7d49 TRAINING\n7d49 COMPLETED\n"),
    ],
)
def test_events_stream_as_json_only_where_the_whole_json_was_asked_for(flags, out, err):
    """Elsewhere they are progress, on stderr, and a filter reads the final record alone."""
    outcome = invoke(f"runs wait {flags}", Client(), tree=tree)
    assert outcome.out == out
    assert outcome.err == err + "waited 0.0 of 10.0, quiet False\n"


@pytest.mark.parametrize(
    ("environ", "flags", "message"),
    [
        ({}, "", "Start one run? There is no terminal to ask on"),
        ({}, "--disable-prompt", "Start one run? Prompts are disabled"),
        ({"AKKA_DISABLE_PROMPTS": "true"}, "", "Start one run? Prompts are disabled"),
    ],
)
def test_a_question_that_cannot_be_asked_is_an_error_that_names_force(environ, flags, message):
    """Nothing is spent without a yes; stdin is not read."""
    outcome = invoke(f"runs start --steps 1 {flags}", Client(), tree=tree, environ=environ, stdin="y\n")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"Error: {message}\n  hint: --force goes on without asking\n"


@pytest.mark.parametrize("flags", ["--force", "--force --disable-prompt"])
def test_force_goes_on_without_asking(flags):
    """With or without prompts."""
    outcome = invoke(f"runs start --steps 1 -o csv {flags}", Client(), tree=tree)
    assert (outcome.code, outcome.out, outcome.err) == (0, "7d49,TRAINING\n", "starting\n")


@pytest.mark.parametrize(
    ("answer", "code"), [("y\n", 0), ("YES \n", 0), ("n\n", 1), ("\n", 1), ("", 1), ("yep\n", 1)], ids=repr
)
def test_only_a_yes_is_a_yes(answer, code, monkeypatch):
    """Anything else, and the end of input, means that nothing was done."""
    monkeypatch.setattr("akka_optimize.output.console.Console.can_ask", lambda _: True)
    clients = Clients(Client())
    outcome = invoke("runs start --steps 1 -o csv", clients, tree=tree, stdin=answer)
    assert outcome.code == code
    assert outcome.err.startswith("Start one run? [y/N] ")
    assert outcome.err.endswith("starting\n" if code == 0 else "Error: nothing was done\n")
    assert bool(clients.asked) is (code == 0)


def test_quiet_silences_notes_and_no_error():
    """The result and what went wrong are still said."""
    assert invoke("-q runs start --steps 1 --force", Client(), tree=tree).err == ""
    assert invoke("-q runs fail NotFound", tree=tree).err.startswith("Error: what was wrong\n")
