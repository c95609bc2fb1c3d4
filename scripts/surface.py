"""Prints what users type and parse: every command path, its arguments, options with defaults, and JSON fields."""

from __future__ import annotations

from collections.abc import Iterator

import click
from command_tree import options, view_of, walk

from akka_optimize.cli.options import INHERITED


def lines() -> Iterator[str]:
    """One line for each thing that must not change by accident."""
    for inherited in INHERITED:
        yield f"* {' '.join(inherited.opts)}{' (refused)' if inherited.refused else ''}"
    for ctx in walk():
        path = ctx.command_path
        arguments = [param.name for param in ctx.command.params if isinstance(param, click.Argument)]
        yield " ".join([path, *(name.upper() for name in arguments if name)])
        for alias, name in getattr(ctx.command, "aliases", {}).items():
            yield f"{path} : alias {alias} = {name}"
        for option in options(ctx):
            default = option.get_default(ctx, call=False)
            shown = f" = {default!r}" if isinstance(default, str | int | float) and not option.is_flag else ""
            yield f"{path} : {' '.join(option.opts)}{' required' if option.required else ''}{shown}"
        view = view_of(ctx)
        if view is not None:
            yield f"{path} > {view.plural or view.name}: {' '.join(view.names)}"
            yield from (f"{path} > -o {name}" for name in view.renderers)


if __name__ == "__main__":
    print("\n".join(lines()))
