"""Text on the command line: every parameter of every command takes only UTF-8, and empty text only where it says so."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from support.commands import Clients, invoke

from akka_optimize.cli.main import root
from akka_optimize.cli.options import INHERITED, MAY_BE_EMPTY

BAD = b"caf\xe9".decode("utf-8", "surrogateescape")
FILLER = {"file": "-", "steps": "5", "checkpoint": "save"}


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command of the tree with the words that lead to it."""
    for name in group.list_commands(click.Context(group)):
        child = group.get_command(click.Context(group), name)
        if isinstance(child, click.Group):
            yield from commands(child, (*path, name))
        else:
            yield (*path, name), child


def typed(command: click.Command, chosen: click.Parameter, text: str) -> list[str]:
    """The words that give `chosen` the text, and every other required parameter something harmless."""
    words = []
    for param in [*command.params, *([] if chosen in command.params else [chosen])]:
        if param is not chosen and not param.required:
            continue
        value = text if param is chosen else FILLER.get(param.name or "", "x")
        if isinstance(param, click.Option):
            words.append(f"{max(param.opts, key=len)}={value}")
        else:
            words.append(value)
    return words


def takes_text(param: click.Parameter) -> bool:
    """Whether any text may be given; a type of its own refuses what it does not take itself."""
    return isinstance(param.type, type(click.STRING)) and not getattr(param, "is_flag", False)


EVERY = [
    pytest.param(path, command, param, id=" ".join([*path, max(param.opts, key=len)]))
    for path, command in commands(root)
    for param in command.params
    if not getattr(param, "is_flag", False)
]
SHARED = [
    pytest.param(("datasets", "list"), root, option, id=max(option.opts, key=len))
    for option in INHERITED
    if not option.is_flag and not option.refused
]


def refused(path, command, param, text):
    """What is said of the text; no client is made."""
    clients = Clients()
    words = typed(command, param, text) if command is not root else [f"{max(param.opts, key=len)}={text}"]
    outcome = invoke([*path, *words], clients)
    assert (outcome.code, outcome.out, clients.asked) == (2, "", [])
    assert "fault in akka-optimize" not in outcome.err
    return outcome.err


@pytest.mark.parametrize(("path", "command", "param"), [*EVERY, *SHARED])
def test_text_that_is_not_utf8_is_wrong_usage(path, command, param):
    """Exit 2 before any request, with the parameter named where any text may be given."""
    said = refused(path, command, param, BAD)
    if takes_text(param) and param.opts != ["--jq"]:
        name = max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name
        assert said.startswith(f"Error: {name}: 'caf\\udce9' is not UTF-8\n")


@pytest.mark.parametrize(
    ("path", "command", "param"), [case for case in [*EVERY, *SHARED] if not MAY_BE_EMPTY & {*case.values[2].opts}]
)
def test_an_empty_value_is_wrong_usage(path, command, param):
    """It is never taken for an option that was not given."""
    said = refused(path, command, param, "")
    if takes_text(param):
        assert ": an empty value has no meaning here\n" in said


def test_three_options_may_be_empty():
    """`--json=` lists the fields, and a description or a label may say nothing."""
    assert invoke("datasets list --json=").code == 0
    assert set(MAY_BE_EMPTY) == {"--json", "--config-name", "--description"}


@pytest.mark.parametrize(
    "words", [[BAD], ["datasets", BAD], ["datasets", "list", BAD], ["datasets", "list", f"--{BAD}"]]
)
def test_a_word_that_is_no_parameter_is_wrong_usage_too(words):
    """Whatever stands there, nothing of ours breaks on it."""
    outcome = invoke(words, Clients())
    assert outcome.code == 2
    assert "fault in akka-optimize" not in outcome.err
