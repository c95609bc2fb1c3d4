"""Writes docs/reference/cli.md from the command tree: every command's help, and what each of its JSON fields is."""

from __future__ import annotations

import os
from pathlib import Path

import click
from command_tree import view_of, walk

from akka_optimize.cli.help import INHERITED_HEADING

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "cli.md"
HEAD = """# Command reference

Generated from the command tree by `make docs`; a test holds the two together. The options that every command inherits
stand once, under [akka-optimize](#akka-optimize), and may be given before or after any subcommand. With `akka` in place
of `akka-optimize`, put `optimize` in front: `akka optimize training runs compare …`.
"""


def page() -> str:
    """The whole page."""
    os.environ.pop("COLUMNS", None)
    return "\n".join([HEAD, *(section(ctx) for ctx in walk())])


def section(ctx: click.Context) -> str:
    """One command: its help without the inherited options, and its fields."""
    text = ctx.command.get_help(ctx)
    if ctx.parent is not None:
        text = text.partition(f"\n\n{INHERITED_HEADING}:")[0]
    lines = [f"## {ctx.command_path}", "", "```text", text, "```", ""]
    view = view_of(ctx)
    if view is not None:
        key = f'a list: `{{"{view.plural}": […]}}`' if view.plural and ctx.info_name == "list" else "JSON"
        lines += [f"Prints {key}, with these fields:", "", "| field | |", "| --- | --- |"]
        lines += [f"| `{field.name}` | {field.meaning} |" for field in view.fields]
        lines += [""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page())
