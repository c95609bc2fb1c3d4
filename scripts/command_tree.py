"""Walks the live command tree, for the reference page and for the tests of what users type and parse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import AkkaCommand, CommandGroup
from akka_optimize.cli.main import PROGRAM, root
from akka_optimize.output.view import View


def walk(ctx: click.Context | None = None) -> Iterator[click.Context]:
    """A context for every group and command, parents first, in the order that help lists them."""
    if ctx is None:
        ctx = context(root, PROGRAM, obj=App(lambda *_: None))
    yield ctx
    if isinstance(ctx.command, CommandGroup):
        for name in ctx.command.list_commands(ctx):
            child = ctx.command.get_command(ctx, name)
            assert child is not None
            yield from walk(context(child, name, parent=ctx, obj=ctx.obj))


def context(command: click.Command, name: str, **attributes: Any) -> click.Context:
    """The context that the command line would make, at a fixed width, with nothing parsed."""
    return click.Context(command, info_name=name, terminal_width=100, **command.context_settings, **attributes)


def view_of(ctx: click.Context) -> View | None:
    """The view of a command under its default parameters; None for a group, or a command that emits no record."""
    if not isinstance(ctx.command, AkkaCommand):
        return None
    ctx.params = {}
    return ctx.command.view_of(ctx)


def options(ctx: click.Context) -> list[click.Option]:
    """A command's own options, sorted by their long name."""
    own = [param for param in ctx.command.params if isinstance(param, click.Option)]
    return sorted(own, key=lambda option: max(option.opts, key=len))
