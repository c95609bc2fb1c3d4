"""How help looks: what the command does, how it is called, examples, its options, and apart the inherited ones."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from akka_optimize.cli.options import InheritedOption

WIDEST = 120
INDENT = "  "
OWN_HEADING = "Options"
INHERITED_HEADING = "Options inherited from parent commands"
GROUP_HEADING = "Options of every command"


def render(
    command: click.Command,
    ctx: click.Context,
    *,
    examples: str = "",
    children: Mapping[str, str],
    formats: Sequence[str] = (),
) -> str:
    """The whole help of a command. `children`: name -> one line, for a group. `formats`: values of -o of its own."""
    width = ctx.terminal_width or _width()
    options = [param for param in command.get_params(ctx) if isinstance(param, click.Option) and not param.hidden]
    own = [option for option in options if not isinstance(option, InheritedOption)]
    inherited = [option for option in options if isinstance(option, InheritedOption)]
    sections = [
        _prose(command.help or "", width),
        f"Usage:\n{INDENT}{usage(command, ctx)}",
        _section("Commands", _entries(children.items(), width)),
        _section("Examples", _indented(inspect.cleandoc(examples))),
        _section(OWN_HEADING, _options(own, ctx, width)),
        _section(INHERITED_HEADING if ctx.parent else GROUP_HEADING, _options(inherited, ctx, width, formats)),
    ]
    return "\n\n".join(section for section in sections if section)


def _width() -> int:
    """The columns of the terminal on stdout, or COLUMNS; `shutil` would say the same, and is slow to import."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated):
        return min(WIDEST, int(stated))
    try:
        return min(WIDEST, os.get_terminal_size(1).columns or WIDEST)
    except OSError:
        return WIDEST


def usage(command: click.Command, ctx: click.Context) -> str:
    """How the command is called, on one line: its path, its arguments, the options that it needs."""
    parts = [ctx.command_path]
    if isinstance(command, click.Group):
        parts.append("COMMAND")
    parts += [_argument(param) for param in command.params if isinstance(param, click.Argument)]
    for param in command.params:
        if isinstance(param, click.Option) and param.required:
            flag = max(param.opts, key=len)
            parts += [flag] if param.is_flag else [flag, param.metavar or flag.removeprefix("--").upper()]
    return " ".join([*parts, "[flags]"])


def _argument(param: click.Argument) -> str:
    name = param.metavar or (param.name or "").upper().replace("_", "-")
    name = name if param.nargs == 1 else f"{name}..."
    return name if param.required else f"[{name}]"


def _section(heading: str, body: str) -> str:
    return f"{heading}:\n{body}" if body else ""


def _indented(text: str) -> str:
    return "\n".join(INDENT + line if line.strip() else "" for line in text.splitlines())


def _prose(text: str, width: int) -> str:
    """Paragraphs wrapped to the width; a paragraph that is indented stays as it is."""
    from textwrap import fill

    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else fill(" ".join(p.split()), min(width, 100)) for p in paragraphs)


def _options(options: Sequence[click.Option], ctx: click.Context, width: int, formats: Sequence[str] = ()) -> str:
    ordered = sorted(options, key=lambda option: max(option.opts, key=len).lstrip("-"))
    return _entries([(_flags(option), _meaning(option, ctx, formats)) for option in ordered], width, indent="")


def _flags(option: click.Option) -> str:
    short = [flag for flag in option.opts if not flag.startswith("--")]
    long = [flag for flag in option.opts if flag.startswith("--")]
    named = f"  {short[0]}, {long[0]}" if short and long else f"      {long[0]}" if long else f"  {short[0]}"
    return named if option.is_flag else f"{named} {_kind(option)}"


def _kind(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    name = {"text": "string", "choice": "string", "integer": "int"}.get(option.type.name, option.type.name)
    return f"{name}Array" if option.multiple else name


def _meaning(option: click.Option, ctx: click.Context, formats: Sequence[str]) -> str:
    meaning = (option.help or "").strip().rstrip(".")
    if isinstance(option, InheritedOption):
        shown = option.shown_default
        meaning += " (not in this release)" if option.refused else ""
        meaning += "".join(f", {name}" for name in formats) if option.key == "output" else ""
    else:
        shown = _default(option.get_default(ctx, call=False))
        meaning += " (required)" if option.required else ""
    return f"{meaning} (default {shown})" if shown else meaning


def _default(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        return None
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:g}" if isinstance(value, float) else str(value)


def _entries(entries: Iterable[tuple[str, str]], width: int, indent: str = INDENT) -> str:
    """Two columns: names, and meanings wrapped beside them (below them on a very narrow terminal)."""
    from textwrap import wrap

    rows = list(entries)
    if not rows:
        return ""
    margin = len(indent) + max(len(name) for name, _ in rows) + 3
    lines = []
    for name, meaning in rows:
        first, *rest = wrap(meaning, max(width - margin, 30)) or [""]
        lines.append((indent + name).ljust(margin) + first)
        lines += [" " * margin + line for line in rest]
    return "\n".join(line.rstrip() for line in lines)
