"""The inherited options: accepted at every level, or refused at every level."""

from __future__ import annotations

import pytest
from support.commands import Clients, RecordingApp, invoke
from support.tree import tree
from support.tree.records import Client

from akka_optimize.cli.options import INHERITED

LEAF = ["runs", "engine-config", "value"]
# The flags as the reference has them, spelled out by hand: what was typed -> the settings' field and its value.
REAL = {
    "--trainer-url http://there:1": ("trainer_url", "http://there:1"),
    "--trainer-url=local:": ("trainer_url", "local:"),
    "--force": ("force", True),
    "-o text": ("output", "text"),
    "-otext": ("output", "text"),
    "--output text": ("output", "text"),
    "-q": ("quiet", True),
    "--quiet": ("quiet", True),
    "--no-color": ("color", False),
    "--timeout 1m30s": ("timeout", 90.0),
    "--disable-prompt": ("prompts", False),
    "--verbose": ("verbose", True),
    "--cache-file x": ("cache_file", "x"),
    "--config x": ("config", "x"),
    "--context x": ("context", "x"),
    "--region eu": ("region", "eu"),
    "--url http://x": ("url", "http://x"),
    "--use-grpc-web": ("use_grpc_web", True),
}
REFUSED = {"--page-mode auto": "--page-mode"}


def settings_of(argv: list[str], environ: dict[str, str] | None = None) -> object:
    """The settings that a command line which ends well arrives at."""
    app = RecordingApp(Clients())
    outcome = invoke(argv, tree=tree, app=app, environ=environ)
    assert outcome.code == 0, outcome.err
    return app.settings


@pytest.mark.parametrize("place", range(4), ids=["root", "group", "leaf", "end"])
@pytest.mark.parametrize("typed", REAL)
def test_a_real_option_is_accepted_anywhere(typed, place):
    """Before, between and after the words of the command, it means the same."""
    field, value = REAL[typed]
    settings = settings_of([*LEAF[:place], *typed.split(), *LEAF[place:]])
    assert getattr(settings, field) == value


@pytest.mark.parametrize("place", range(4), ids=["root", "group", "leaf", "end"])
@pytest.mark.parametrize("typed", REFUSED)
def test_an_option_to_come_is_refused_anywhere(typed, place):
    """In one sentence that names it, as wrong usage, with nothing done: never accepted and ignored."""
    outcome = invoke([*LEAF[:place], *typed.split(), *LEAF[place:]], tree=tree)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"Error: {REFUSED[typed]} is not supported by this release: ")


@pytest.mark.parametrize("place", range(3), ids=["root", "group", "end"])
@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("--json phase", '{\n  "phase": "TRAINING"\n}\n'),
        ("--json=phase", '{\n  "phase": "TRAINING"\n}\n'),
        ("--json=", "runId\nphase\nobservedStep\nloss\n"),
        ("--jq .phase", "TRAINING\n"),
        ("--jq=.phase", "TRAINING\n"),
        ("-o json-compact --json phase", '{"phase":"TRAINING"}\n'),
    ],
)
def test_output_options_are_accepted_anywhere(typed, printed, place):
    """They too, for a command that emits a record."""
    argv = ["runs", "compare", "a", "b"]
    place = min(place, 1) if place < 2 else 4
    outcome = invoke([*argv[:place], *typed.split(), *argv[place:]], Client(), tree=tree)
    assert (outcome.code, outcome.out, outcome.err) == (0, printed, "")


def test_the_two_lists_above_are_all_there_are():
    """An option added later is tested too."""
    named = {max(o.opts, key=len): o.refused is not None for o in INHERITED}
    real = {
        *("--trainer-url", "--force", "--output", "--quiet", "--no-color", "--timeout", "--disable-prompt"),
        *("--verbose", "--cache-file", "--config", "--context", "--region", "--url", "--use-grpc-web"),
    }
    assert {flag for flag, refused in named.items() if refused} == set(REFUSED.values())
    assert {flag for flag, refused in named.items() if not refused} == real | {"--json", "--jq"}


@pytest.mark.parametrize("output", ["go-template={{.runId}}", "go-template"])
def test_go_templates_are_refused(output):
    """A format to come, in one sentence."""
    outcome = invoke(["runs", "compare", "a", "b", "-o", output], Client(), tree=tree)
    assert outcome.code == 2
    assert outcome.err.startswith("Error: -o go-template is not supported by this release\n")


def test_a_deeper_option_replaces_a_shallower_one():
    """The last word counts; what it does not mention stays."""
    settings = settings_of(["--timeout", "1s", "--force", "runs", "--timeout", "2s", *LEAF[1:], "--timeout", "3s"])
    assert (settings.timeout, settings.force) == (3.0, True)
    assert settings_of(["--timeout", "1s", "runs", "--timeout", "2s", *LEAF[1:]]).timeout == 2.0


def test_what_was_typed_beats_the_environment_at_any_level():
    """Resolved once, after all levels are parsed."""
    environ = {"NO_COLOR": "1", "AKKA_DISABLE_PROMPTS": "true"}
    settings = settings_of(LEAF, environ)
    assert (settings.color, settings.prompts) == (False, False)
    assert (
        settings_of(["--trainer-url", "http://typed", *LEAF], {"TRAINER_URL": "http://set"}).trainer_url
        == "http://typed"
    )
    assert settings_of(LEAF, {"TRAINER_URL": "http://set"}).trainer_url is None


def test_a_command_may_shadow_an_option():
    """Its own `--timeout` and `-q` take the value after it; the inherited ones still work before it."""
    outcome = invoke("--timeout 5s runs wait --timeout 1h", Client(), tree=tree)
    assert "waited 3600.0 of 5.0, quiet False\n" in outcome.err
    outcome = invoke("runs wait -q", Client(), tree=tree)
    assert outcome.err == "waited 0.0 of 10.0, quiet False\n"
    assert invoke("-q runs wait", Client(), tree=tree).err == ""


def test_an_argument_may_have_an_options_name():
    """`OUTPUT` and `--output` do not take each other's value."""
    outcome = invoke("runs engine-config x -o text", tree=tree)
    assert outcome.out.startswith("x Settings(")
    assert "output='text'" in outcome.out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("runs engine-config x --timeout 1d", "--timeout: '1d' is not a duration, as in 10s, 1m30s or 2h"),
        ("--timeout -5s runs engine-config x", "--timeout: '-5s' is not a duration, as in 10s, 1m30s or 2h"),
        ("runs --timeout 0 engine-config x", "--timeout: '0' is not a duration, as in 10s, 1m30s or 2h"),
        ("runs list --json", "--json needs a value\n  hint: --json= lists the fields"),
        ("runs list -o", "-o needs a value"),
    ],
)
def test_bad_values(argv, message):
    """Wrong usage at any level, with what to write."""
    outcome = invoke(argv, tree=tree)
    assert outcome.code == 2
    assert outcome.err.startswith(f"Error: {message}\n")
