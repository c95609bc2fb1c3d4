"""What -o, --json and --jq mean together: every row of the table, and every way to get it wrong."""

from __future__ import annotations

import json
from itertools import product

import pytest
from support.tree.records import RUN, Client

from akka_optimize import errors
from akka_optimize.output import formats
from akka_optimize.output.view import Field, View

REFUSED_LIST = "--json= lists the fields on offer, which is no document for --jq to read"
PLAIN = formats.Format()

# Written out by hand, from the page that documents them: -o, --json, --jq -> what is printed.
ROWS = [
    (None, None, None, "text"),
    ("text", None, None, "text"),
    ("json", None, None, "json"),
    ("json-compact", None, None, "json-compact"),
    ("csv", None, None, "csv"),
    (None, "", None, "list"),
    ("text", "", None, "list"),
    ("json", "", None, "list"),
    ("json-compact", "", None, "list"),
    ("csv", "", None, "list"),
    (None, "", ".", REFUSED_LIST),
    ("text", "", ".", REFUSED_LIST),
    ("json", "", ".", REFUSED_LIST),
    ("json-compact", "", ".", REFUSED_LIST),
    ("csv", "", ".", REFUSED_LIST),
    (None, "phase,runId", None, "json"),
    ("json", "phase,runId", None, "json"),
    ("json-compact", "phase,runId", None, "json-compact"),
    ("text", "phase,runId", None, "--json prints JSON, and -o text asks for something else"),
    ("csv", "phase,runId", None, "--json prints JSON, and -o csv asks for something else"),
    (None, None, ".", "jq"),
    ("json", None, ".", "jq"),
    ("json-compact", None, ".", "jq"),
    ("text", None, ".", "--jq reads JSON, and -o text asks for something else"),
    ("csv", None, ".", "--jq reads JSON, and -o csv asks for something else"),
    (None, "phase,runId", ".", "jq"),
    ("json", "phase,runId", ".", "jq"),
    ("json-compact", "phase,runId", ".", "jq"),
    ("text", "phase,runId", ".", "--json prints JSON, and -o text asks for something else"),
    ("csv", "phase,runId", ".", "--json prints JSON, and -o csv asks for something else"),
]


@pytest.mark.parametrize(("output", "fields", "program", "result"), ROWS)
def test_the_truth_table(output, fields, program, result):
    """Each combination gives one format, or one sentence."""
    if result in {"text", "json", "json-compact", "csv", "list", "jq"}:
        found = formats.decide(RUN, output=output, fields=fields, program=program)
        assert found == formats.Format(result, ("phase", "runId") if fields else (), program)
    else:
        with pytest.raises(errors.WrongUsage) as refusal:
            formats.decide(RUN, output=output, fields=fields, program=program)
        assert refusal.value.message == result


def test_no_combination_is_left_out():
    """The rows above are all there are, and so is the table in the code."""
    every = set(product((None, "text", "json", "json-compact", "csv"), (None, "", "phase,runId"), (None, ".")))
    assert {row[:3] for row in ROWS} == every
    assert len(formats.TABLE) == len(every)


@pytest.mark.parametrize(
    ("output", "message", "hint"),
    [
        ("yaml", "there is no output format 'yaml'", "use one of text, json, json-compact, csv"),
        ("", "there is no output format ''", "use one of text, json, json-compact, csv"),
        ("JSON", "there is no output format 'JSON'", "use one of text, json, json-compact, csv"),
        ("go-template={{.runId}}", "-o go-template is not supported by this release", "use --jq, or -o "),
    ],
)
def test_an_unknown_format_is_refused(output, message, hint):
    """The sentence names what was given, the hint what there is."""
    with pytest.raises(errors.WrongUsage) as refusal:
        formats.decide(RUN, output=output, fields=None, program=None)
    assert refusal.value.message == message
    assert refusal.value.hint.startswith(hint)


def test_another_commands_format_is_refused():
    """`-o csv` works only where the view has it."""
    with pytest.raises(errors.WrongUsage, match="there is no output format 'csv'"):
        formats.decide(View("x", fields=()), output="csv", fields=None, program=None)


@pytest.mark.parametrize(
    ("fields", "message", "hint"),
    [
        ("runid", "--json: run has no field 'runid'", "did you mean runId? --json= lists the fields"),
        ("phase,observedSteps", "--json: run has no field 'observedSteps'", "did you mean observedStep? "),
        ("qqq", "--json: run has no field 'qqq'", "--json= lists the fields"),
        (",", "--json ',' holds an empty name", "write the names as in a,b"),
        ("phase,", "--json 'phase,' holds an empty name", "write the names as in a,b"),
        (" ", "--json ' ' holds an empty name", "write the names as in a,b"),
        ("phase,runId,phase", "--json names 'phase' twice", None),
    ],
)
def test_field_names_are_checked(fields, message, hint):
    """An unknown, an empty and a repeated name are refused, the unknown one with the nearest."""
    with pytest.raises(errors.WrongUsage) as refusal:
        formats.decide(RUN, output=None, fields=fields, program=None)
    assert refusal.value.message == message
    assert (refusal.value.hint or "").startswith(hint or "")


def test_blanks_around_names_do_not_matter():
    """`--json 'runId, phase'` is read as it is meant."""
    assert formats.decide(RUN, output=None, fields="runId, phase", program=None).fields == ("runId", "phase")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"fields": ""}, "this command prints no record, so --json does not apply"),
        ({"program": "."}, "this command prints no record, so --jq does not apply"),
        ({"output": "json"}, "this command prints no record, so -o json does not apply"),
    ],
)
def test_a_command_without_a_record_refuses_them(asked, message):
    """Nothing is accepted and ignored."""
    with pytest.raises(errors.WrongUsage) as refusal:
        formats.decide(None, **({"output": None, "fields": None, "program": None} | asked))
    assert refusal.value.message == message


def test_a_command_without_a_record_prints_text():
    """With no option, and with -o text."""
    assert formats.decide(None, output=None, fields=None, program=None) == PLAIN
    assert formats.decide(None, output="text", fields=None, program=None) == PLAIN


RECORD = Client().run("")
ONE = {"runId": "7d49", "phase": "TRAINING", "observedStep": 12, "loss": 0.30000000000000004}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (formats.Format("json"), json.dumps(ONE, indent=2) + "\n"),
        (formats.Format("json-compact"), json.dumps(ONE, separators=(",", ":")) + "\n"),
        (formats.Format("json-compact", ("phase",)), '{"phase":"TRAINING"}\n'),
        (formats.Format("jq", ("phase",), ".x"), '{"phase":"TRAINING"}\n'),
        (formats.Format("text"), "RUN    7d49\nPHASE  Training\nSTEP   12\nLOSS   0.3\n"),
        (formats.Format("csv"), "7d49,TRAINING\n"),
        (formats.Format("list"), "runId\nphase\nobservedStep\nloss\n"),
    ],
    ids=lambda value: value.kind if isinstance(value, formats.Format) else "",
)
def test_rendering(form, expected):
    """Each format is a function from a record to text; jq's is the document that its program reads."""
    assert formats.render(form, RUN, RECORD) == expected


@pytest.mark.parametrize(
    ("form", "streams"),
    [
        (formats.Format("json"), True),
        (formats.Format("json-compact"), True),
        (formats.Format("json", ("phase",)), False),
        (formats.Format("jq", (), "."), False),
        (formats.Format("text"), False),
    ],
)
def test_only_whole_json_streams(form, streams):
    """A filter reads the final record alone, so that its output stays one thing."""
    assert form.streams is streams


def test_the_list_names_the_views_fields():
    """`--json=` of any view is its names, one a line."""
    assert formats.render(formats.Format("list"), View("x", fields=(Field("a"), Field("b"))), None) == "a\nb\n"
