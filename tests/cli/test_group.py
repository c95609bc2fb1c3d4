"""The tree: found lazily, by name; help; and what a mistyped word gets for an answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from support.commands import invoke
from support.tree import tree
from support.tree.records import Client

from akka_optimize.cli.options import INHERITED

TESTS = Path(__file__).parents[1]


def imported(argv: list[str]) -> set[str]:
    """The modules of the small tree that a command line loads."""
    code = (
        "import sys; from support.tree import tree; from akka_optimize.cli.main import run;"
        f"run({argv!r}, tree=tree); print(*[m for m in sys.modules if m.startswith('support.tree.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TESTS)
    return {name.removeprefix("support.tree.") for name in done.stderr.split()}


def test_a_groups_help_imports_no_child():
    """The list is written down, so that help costs nothing more."""
    assert imported(["--help"]) == set()
    assert imported(["runs", "--help"]) == {"runs"}


def test_a_command_imports_itself_alone():
    """Not its neighbours."""
    assert imported(["runs", "init"]) == {"runs", "runs.init"}


def test_children_are_listed_sorted_with_their_help():
    """From the list in the group."""
    outcome = invoke("--help", tree=tree)
    assert "\nCommands:\n  broken   A module that cannot be imported\n  runs     Some runs\n" in outcome.out


@pytest.mark.parametrize("argv", ["", "runs", "--force runs"])
def test_a_group_alone_prints_its_help(argv):
    """On stdout, and it is no error."""
    outcome = invoke(argv, tree=tree)
    assert (outcome.code, outcome.err) == (0, "")
    assert "COMMAND [flags]" in outcome.out


def test_an_alias_reaches_the_same_command_under_its_own_name():
    """`run` is `runs`, and help says `runs`."""
    outcome = invoke("run compare --help", tree=tree)
    assert "\n  akka-optimize runs compare RUN BASELINE [flags]\n" in outcome.out


def test_a_hyphen_in_a_name_is_an_underscore_in_its_file():
    """`engine-config` lives in `engine_config.py`."""
    assert "\n  akka-optimize runs engine-config OUTPUT [flags]\n" in invoke("runs engine-config -h", tree=tree).out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("rusn", "there is no command 'rusn' in 'akka-optimize'; did you mean runs?"),
        ("runs comapre a b", "there is no command 'comapre' in 'akka-optimize runs'; did you mean compare?"),
        ("runs COMPARE", "there is no command 'COMPARE' in 'akka-optimize runs'; did you mean compare?"),
        ("runs zzz", "there is no command 'zzz' in 'akka-optimize runs'"),
        ("runs compare a b --widow 3", "there is no option --widow; did you mean --window?"),
        ("runs compare a b --trainer-ulr x", "there is no option --trainer-ulr; did you mean --trainer-url?"),
        ("--forec runs", "there is no option --forec; did you mean --force?"),
        ("runs compare a b --window=1 -x", "there is no option -x"),
        ("runs compare a b --zzz", "there is no option --zzz"),
        ("runs compare a", "BASELINE is missing"),
        ("runs start", "--steps is missing"),
        ("runs compare a b --window 0", "--window: '0' is not a whole number of 1 or more"),
        ("runs compare a b --margin nan", "--margin: 'nan' is not a number of 0 or more, as in 0.05 or 1e-3"),
        ("runs compare a b c", "Got unexpected extra argument (c)"),
        ("runs compare a b --force=x", "Option '--force' does not take a value."),
    ],
)
def test_wrong_usage_names_what_was_probably_meant(argv, message):
    """Exit 2, one sentence, and where to read on; no request is sent."""
    outcome = invoke(argv, tree=tree)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.split("\n")[0] == f"Error: {message}"
    assert outcome.err.split("\n")[1].endswith("--help")


def test_help_of_a_command_has_its_sections_in_order():
    """Synopsis, usage, examples, its options, and apart from them the inherited ones."""
    help_text = invoke("runs compare --help", tree=tree, environ={"COLUMNS": "120"}).out
    headings = [
        "Compare a run with a baseline.\n\nThe second",
        "Usage:\n",
        "Examples:\n",
        "Options:\n",
        "Options inherited",
    ]
    places = [help_text.index(heading) for heading in headings]
    assert places == sorted(places)
    own, inherited = help_text.split("Options inherited from parent commands:\n")
    assert [line.split()[0] for line in own.split("Options:\n")[1].splitlines() if line.strip()] == [
        "--across-plans",
        "-h,",
        "--margin",
        "--window",
    ]
    for option in INHERITED:
        assert f"{max(option.opts, key=len)} " in inherited


def test_help_shows_types_and_defaults():
    """As the reference does: a type for a value, a default where there is one."""
    help_text = invoke("runs compare --help", tree=tree, environ={"COLUMNS": "120"}).out
    for line in (
        "      --across-plans   Compare runs of different plans\n",
        "  -h, --help           Help for compare\n",
        "      --margin float   Largest difference that still agrees (default 0.03)\n",
        "      --window int     Number of steps averaged into each row (default 10)\n",
    ):
        assert line in help_text
    assert 'text, json, json-compact, csv (default "text")' in help_text
    assert "      --steps int      How many (required)\n" in invoke("runs start --help", tree=tree).out
    assert "runs start --steps STEPS [flags]" in invoke("runs start --help", tree=tree).out


def test_a_shadowed_option_is_shown_once():
    """As the command's own."""
    own, inherited = invoke("runs wait --help", tree=tree).out.split("Options inherited from parent commands:\n")
    assert "--timeout duration   Longest wait" in own
    assert "--timeout" not in inherited
    assert "--quiet" not in inherited


@pytest.mark.parametrize("width", [40, 80, 120])
def test_help_fits_its_width(width):
    """Wrapped beside its column; what stands in Examples is left as it was written."""
    command = tree.get_command(click.Context(tree), "runs").get_command(None, "compare")
    context = click.Context(command, info_name="compare", terminal_width=width)
    lines = command.get_help(context).split("\n")
    assert max(map(len, lines)) <= max(width, 63)


@pytest.mark.parametrize("place", range(5))
def test_the_fields_are_listed_with_no_request(place):
    """`--json=` answers before anything else: without arguments, and without a client."""
    argv = ["runs", "compare", "a", "b"]
    outcome = invoke([*argv[:place], "--json=", *argv[place:]], tree=tree)
    assert (outcome.code, outcome.out) == (0, "runId\nphase\nobservedStep\nloss\n")
    assert invoke("runs compare --json=", tree=tree).out == outcome.out


def test_a_view_may_depend_on_the_options():
    """What can be asked for is what will be printed."""
    assert invoke("runs list --json=", tree=tree).out == "runId\nphase\nobservedStep\nloss\n"
    assert invoke("runs list --short --json=", tree=tree).out == "runId\nphase\n"
    assert invoke("runs list --short --json loss", Client(), tree=tree).code == 2


def test_a_view_is_chosen_by_what_was_typed_even_where_an_option_is_missing():
    """An option that was not typed is None to the choice, and not something half-parsed."""
    assert invoke("runs start --json=", tree=tree).out == "runId\nphase\nobservedStep\nloss\n"
    assert invoke("runs start --label x --json=", tree=tree).out == "runId\nphase\n"
