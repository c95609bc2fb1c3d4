"""The inherited options on the real tree: every command takes each of them, before the subcommand or after it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import pytest
from support.commands import Clients, Outcome, RecordingApp, invoke
from support.commands_fake import DESCRIPTOR, client

from akka_optimize.cli.options import INHERITED

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from command_tree import view_of, walk

LEVELS = list(walk())
ON_FOLDERS = {"export", "import", "tensorboard"}  # which write or read one here, and are carried out in their own tests
COMMANDS = [ctx for ctx in LEVELS if not isinstance(ctx.command, click.Group) and ctx.info_name not in ON_FOLDERS]
GROUPS = [ctx for ctx in LEVELS if isinstance(ctx.command, click.Group)]
REFUSED = [option for option in INHERITED if option.refused]
RECORDLESS = {"init", "logs"}
CLIENT = client()

# option -> how it is written, and what the settings hold afterwards
ACCEPTED: dict[str, tuple[list[str], dict[str, Any]]] = {
    "--cache-file": (["--cache-file", "x"], {"cache_file": "x"}),
    "--config": (["--config", "x"], {"config": "x"}),
    "--context": (["--context", "x"], {"context": "x"}),
    "--disable-prompt": (["--disable-prompt"], {"prompts": False}),
    "--force": (["--force"], {"force": True}),
    "--jq": (["--jq", "."], {"jq": "."}),
    "--json": (["--json", "FIELD"], {"json_fields": "FIELD"}),
    "--no-color": (["--no-color"], {"color": False}),
    "--output": (["-o", "json"], {"output": "json"}),
    "--quiet": (["-q"], {"quiet": True}),
    "--region": (["--region", "eu"], {"region": "eu"}),
    "--timeout": (["--timeout", "1m30s"], {"timeout": 90.0}),
    "--trainer-url": (["--trainer-url", "local:x"], {"trainer_url": "local:x"}),
    "--url": (["--url", "http://x"], {"url": "http://x"}),
    "--use-grpc-web": (["--use-grpc-web"], {"use_grpc_web": True}),
    "--verbose": (["--verbose"], {"verbose": True}),
}
VALUES = {"steps": "1", "checkpoint": "save"}  # of required options that a dash is no value for
ONE_OF = {"annotate": ["--comment", "x"], "continue": ["--snapshot", "s"]}  # without which they are refused here
GRID = "axes: [{path: hyperparams.lora.rank, values: [16]}]"
SHAPING = {"--jq", "--json", "--output"}


def words(ctx: click.Context) -> list[str]:
    """The command's path, without the program's own name."""
    return ctx.command_path.split()[1:]


def needed(ctx: click.Context) -> list[str]:
    """An argument for each that the command needs, and a value for each required option."""
    given = []
    for param in ctx.command.params:
        if isinstance(param, click.Argument):
            given.append("second" if param.name == "baseline" else "first")
        elif param.required:
            given += [param.opts[-1], VALUES.get(param.name, "-")]
    return given + ONE_OF.get(ctx.info_name or "", [])


def placed(ctx: click.Context, level: int, option: list[str]) -> list[str]:
    """The whole command line, with the option after the first `level` words; after the arguments at the deepest."""
    path = words(ctx)
    return (
        [*path[:level], *option, *path[level:], *needed(ctx)] if level <= len(path) else [*path, *needed(ctx), *option]
    )


def carried_out(argv: list[str], *, force: bool = True) -> tuple[Outcome, RecordingApp]:
    """The command line against a client that answers everything."""
    app = RecordingApp(Clients(CLIENT))
    return invoke([*argv, "--force"] if force else argv, app=app, stdin=GRID if "sweep" in argv else DESCRIPTOR), app


@pytest.mark.parametrize("name", ACCEPTED)
@pytest.mark.parametrize("ctx", COMMANDS, ids=lambda ctx: ".".join(words(ctx)))
def test_every_command_takes_it_at_every_level(ctx, name):
    """Before the first word, between any two, and last: the settings are the same, and the command does its work.

    A command without a record hears the options that shape one, and says that they do not apply.
    """
    option, expected = ACCEPTED[name]
    view = view_of(ctx)
    field = view.names[0] if view else "FIELD"
    option = [field if word == "FIELD" else word for word in option]
    expected = {key: field if value == "FIELD" else value for key, value in expected.items()}
    own = {flag for param in ctx.command.params for flag in param.opts}
    for level in range(len(words(ctx)) + (0 if name in own else 2)):
        ended, app = carried_out(placed(ctx, level, option))
        if name in SHAPING and ctx.info_name in RECORDLESS:
            assert (ended.code, ended.out) == (2, ""), level
            assert "this command prints no record" in ended.err
        else:
            assert ended.code == 0, (level, ended.err)
            assert {key: getattr(app.settings, key) for key in expected} == expected, level


@pytest.mark.parametrize("option", REFUSED, ids=lambda option: option.key)
@pytest.mark.parametrize("ctx", LEVELS, ids=lambda ctx: ".".join(words(ctx)) or "root")
def test_what_is_not_carried_out_is_refused_everywhere(ctx, option):
    """At each level of each command line it is wrong usage, in one sentence that says why; nothing is requested."""
    flag = max(option.opts, key=len)
    typed = [flag] if option.is_flag else [flag, "x"]
    for level in range(len(words(ctx)) + 2):
        clients = Clients(CLIENT)
        ended = invoke(placed(ctx, level, typed), clients, stdin=DESCRIPTOR)
        assert (ended.code, ended.out, clients.asked) == (2, "", []), level
        sentence = f"Error: {flag} is not supported by this release: {option.refused}"
        assert ended.err.splitlines()[0] == sentence, level


@pytest.mark.parametrize("ctx", GROUPS, ids=lambda ctx: ".".join(words(ctx)) or "root")
def test_a_group_takes_them_too(ctx):
    """A group that is called alone prints its help, whichever options of the tree stand beside it."""
    every = [word for option, _ in ACCEPTED.values() for word in option]
    ended, _ = carried_out([*words(ctx), *every], force=False)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.split("\n\n")[1].startswith("Usage:\n")
