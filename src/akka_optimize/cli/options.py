"""The options that every command inherits, declared once.

They may stand before or after any subcommand; a deeper one replaces a shallower one. Their values reach a command
through `App.settings` alone. An option that this release does not carry out is refused in one sentence, wherever it
stands: it is never accepted and ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from akka_optimize.cli.paramtypes import GoDuration

GIVEN = "akka_optimize.given"
MAY_BE_EMPTY = frozenset({"--config-name", "--description", "--json"})  # none, and a question for the names of fields


class InheritedOption(click.Option):
    """One inherited option; its value goes to the context's `GIVEN`, and not to the command's parameters.

    `key`: its name in `given`. `shown_default`: the default as help shows it. `refused`: why it is refused, or None.
    """

    def __init__(
        self, *flags: str, shown_default: str | None = None, refused: str | None = None, **attributes: Any
    ) -> None:
        self.key = max(flags, key=len).removeprefix("--").replace("-", "_")
        # A name that no parameter of a command's own has, so that neither takes the other's value.
        super().__init__([f"inherited_{self.key}", *flags], expose_value=False, callback=_remember, **attributes)
        self.shown_default = shown_default
        self.refused = refused

    def without(self, taken: set[str]) -> InheritedOption | None:
        """This option without the flags that a command uses for its own; None when no flag is left."""
        left = [flag for flag in self.opts if flag not in taken]
        if len(left) == len(self.opts):
            return self
        if not any(flag.startswith("--") for flag in left):
            return None
        return InheritedOption(
            *left,
            shown_default=self.shown_default,
            refused=self.refused,
            help=self.help,
            is_flag=self.is_flag,
            type=self.type,
        )


def require_text(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Refuse what was typed for `param` where it is text that is not UTF-8, or empty and so without a meaning.

    Raises BadParameter.
    """
    for text in value if isinstance(value, tuple) else (value,):
        if not isinstance(text, str):
            continue
        if not text and not MAY_BE_EMPTY.intersection(param.opts):
            raise click.BadParameter("an empty value has no meaning here", ctx, param)
        if not _is_utf8(text):
            raise click.BadParameter(f"{text!r} is not UTF-8", ctx, param)


def _is_utf8(text: str) -> bool:
    """Whether a word of the command line had only bytes of UTF-8; the others reach us as halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    assert isinstance(param, InheritedOption)
    if ctx.get_parameter_source(param.name) is not ParameterSource.COMMANDLINE or ctx.resilient_parsing:
        return
    if param.refused is not None:
        raise click.UsageError(f"{max(param.opts, key=len)} is not supported by this release: {param.refused}", ctx)
    require_text(ctx, param, value)
    given(ctx)[param.key] = value


def given(ctx: click.Context) -> dict[str, Any]:
    """The inherited options typed so far, by name, shared by all levels of one command line."""
    values: dict[str, Any] = ctx.meta.setdefault(GIVEN, {})
    return values


INHERITED: tuple[InheritedOption, ...] = (
    InheritedOption(
        "--cache-file", shown_default="~/.akka/cache.yaml", help="File that keeps the curves of completed runs"
    ),
    InheritedOption("--config", shown_default="~/.akka/config.yaml", help="File with the contexts"),
    InheritedOption(
        "--context",
        shown_default="AKKA_CONTEXT, then the file's currentContext",
        help="Context to use: addresses, token, certificates and region under one name",
    ),
    InheritedOption(
        "--disable-prompt",
        is_flag=True,
        help="Ask no questions: a command that needs an answer fails instead (or set AKKA_DISABLE_PROMPTS=true)",
    ),
    InheritedOption("--force", is_flag=True, help="Do not ask for confirmation"),
    InheritedOption("--jq", help="Filter the JSON document with a jq expression"),
    InheritedOption("--json", help="JSON with only these fields, as in a,b; --json= lists the fields on offer"),
    InheritedOption("--no-color", is_flag=True, help="Print without color, as NO_COLOR does"),
    InheritedOption("-o", "--output", shown_default='"text"', help="Output format, one of text, json, json-compact"),
    InheritedOption("--page-mode", refused="output is never paged", help="How output is paged"),
    InheritedOption("-q", "--quiet", is_flag=True, help="Print the result and errors, and nothing else"),
    InheritedOption(
        "--region",
        shown_default="the context's",
        help="Region that each call asks for; a trainer without regions takes no notice of it",
    ),
    InheritedOption(
        "--timeout", type=GoDuration(), shown_default="10s", help="Longest time to wait for the service, or for jq"
    ),
    InheritedOption(
        "--trainer-url",
        shown_default="TRAINER_URL, then AKKA_OPTIMIZE_URL, then the context's, then http://localhost:9001",
        help="Address of the trainer, or local: for one inside this process",
    ),
    InheritedOption(
        "--url",
        shown_default="OPTIMIZE_URL, then the context's, then http://localhost:9010",
        help="Address of the Optimize service, which only status asks",
    ),
    InheritedOption(
        "--use-grpc-web", is_flag=True, help="Talk gRPC-Web over HTTP/1.1, where a proxy lets no HTTP/2 through"
    ),
    InheritedOption(
        "--verbose", is_flag=True, help="Say more on stderr: a line for each call, and the traceback of a fault"
    ),
)


def inherited_by(own: Sequence[click.Parameter]) -> list[InheritedOption]:
    """The inherited options of a command with these parameters of its own; a flag that it shadows is left out."""
    taken = {flag for param in own for flag in (*param.opts, *param.secondary_opts)}
    return [left for option in INHERITED if (left := option.without(taken)) is not None]
