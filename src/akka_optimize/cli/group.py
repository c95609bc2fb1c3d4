"""Groups that find their children from a written list, and commands that carry the inherited options."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from akka_optimize.cli import help as help_text
from akka_optimize.cli.options import given, inherited_by, require_text
from akka_optimize.cli.suggest import did_you_mean

if TYPE_CHECKING:
    from akka_optimize.cli.app import App
    from akka_optimize.output.view import View


def show(ctx: click.Context, text: str) -> None:
    """Print help or the version, as the result that was asked for."""
    from akka_optimize.output.console import Console

    (ctx.obj.console if ctx.obj else Console()).text(text + "\n")


def _show_help(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    del param
    if wanted and not ctx.resilient_parsing:
        show(ctx, ctx.get_help())
        ctx.exit()


class _Inheriting(click.Command):
    """What groups and commands share: the inherited options, one layout of help, the nearest option."""

    examples: str = ""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The own parameters, then the inherited options that they do not shadow."""
        own = super().get_params(ctx)
        return [*own, *inherited_by(own)]

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`-h, --help`, named after the command."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = f"Help for {self.name}"
            option.callback = _show_help
        return option

    def get_help(self, ctx: click.Context) -> str:
        """The whole help text."""
        children, formats = self.summaries(), self.formats(ctx)
        return help_text.render(self, ctx, examples=self.examples, children=children, formats=formats)

    def get_usage(self, ctx: click.Context) -> str:
        """The one line of how to call it."""
        return f"Usage: {help_text.usage(self, ctx)}"

    def summaries(self) -> Mapping[str, str]:
        """The children with their one-line help; a command has none."""
        return {}

    def formats(self, ctx: click.Context) -> tuple[str, ...]:
        """The values of -o that only this command knows."""
        del ctx
        return ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, naming the nearest option for one that does not exist; what was typed is UTF-8, and not empty."""
        try:
            rest = super().parse_args(ctx, args)
            for param in self.params:
                if ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE and not ctx.resilient_parsing:
                    require_text(ctx, param, ctx.params.get(param.name))
            return rest
        except click.NoSuchOption as error:
            known = [flag for param in self.get_params(ctx) for flag in param.opts if flag.startswith("--")]
            guess = did_you_mean(error.option_name, known) if error.option_name.startswith("--") else ""
            raise click.UsageError(f"there is no option {error.option_name}{guess}", ctx) from None
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


class AkkaCommand(_Inheriting):
    """A command: its own options, one view of what it emits, and examples.

    `view` is what it emits: a View, None for a command that emits no record, or a function from the command's
    parameters to either. `examples`: lines as a user would type them, with comments.
    """

    def __init__(self, *args: Any, view: Any = None, examples: str = "", **attributes: Any) -> None:
        attributes.setdefault("context_settings", {}).setdefault("help_option_names", ["-h", "--help"])
        super().__init__(*args, **attributes)
        self.view = view
        self.examples = examples

    def view_of(self, ctx: click.Context) -> View | None:
        """The view that holds under the parameters given."""
        if not callable(self.view):
            fixed: View | None = self.view
            return fixed
        # Parsing may have stopped half-way, at a missing argument.
        typed = {param.name: None for param in self.params} | {
            name: value
            for name, value in ctx.params.items()
            if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
        }
        chosen: View | None = self.view(typed)
        return chosen

    def formats(self, ctx: click.Context) -> tuple[str, ...]:
        """The values of -o that only this command knows."""
        view = self.view_of(ctx)
        return tuple(view.renderers) if view else ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; `--json=` lists the fields even where an argument is missing."""
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter:
            if given(ctx).get("json") == "" and self.prepare(ctx).listing:
                self.prepare(ctx).list_fields()
                ctx.exit()
            raise

    def prepare(self, ctx: click.Context) -> App:
        """Resolve the inherited options and settle the output format. Raises WrongUsage."""
        from akka_optimize.cli import settings

        app: App = ctx.obj
        app.configure(settings.resolve(given(ctx), os.environ), self.view_of(ctx))
        return app

    def invoke(self, ctx: click.Context) -> Any:
        """Settle the output first, so that a bad field or jq program costs no request; then run."""
        app = self.prepare(ctx)
        ctx.call_on_close(app.close)
        if app.listing:
            app.list_fields()
            return None
        return super().invoke(ctx)


class CommandGroup(_Inheriting, click.Group):
    """A group whose children are imported when they are used.

    `children`: name -> one-line help. The child `engine-config` is the attribute `engine_config` of the module
    `PACKAGE.engine_config`, `import` is `import_`, for Python keeps that word to itself. `aliases`: another name -> the
    child's.
    """

    def __init__(
        self,
        name: str,
        *,
        package: str,
        children: Mapping[str, str],
        aliases: Mapping[str, str] | None = None,
        help: str = "",
        examples: str = "",
        **attributes: Any,
    ) -> None:
        attributes.setdefault("context_settings", {}).setdefault("help_option_names", ["-h", "--help"])
        super().__init__(name, help=help, invoke_without_command=True, no_args_is_help=False, **attributes)
        self.package = package
        self.children = children
        self.aliases = aliases or {}
        self.examples = examples

    def summaries(self) -> Mapping[str, str]:
        """The children with their one-line help, as written in the list, sorted."""
        return dict(sorted(self.children.items()))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The children's names, sorted."""
        del ctx
        return sorted(self.children)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one child, by name or alias; None when there is none."""
        del ctx
        name = self.aliases.get(cmd_name, cmd_name)
        if name not in self.children:
            return None
        attribute = name.replace("-", "_") + "_" * iskeyword(name)
        command = getattr(import_module(f"{self.package}.{attribute}"), attribute)
        assert isinstance(command, click.Command), f"{self.package}.{attribute} defines no command {attribute}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The child that the first word names, under its own name. Raises UsageError, which names the nearest."""
        word, *rest = args
        command = self.get_command(ctx, word)
        if command is None:
            guess = did_you_mean(word, self.children)
            raise click.UsageError(f"there is no command {word!r} in {ctx.command_path!r}{guess}", ctx)
        return command.name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        """Go on to the child; without one, print help."""
        if not ctx._protected_args:
            show(ctx, self.get_help(ctx))
            return None
        return super().invoke(ctx)


def command(*, view: Any = None, examples: str = "", **attributes: Any) -> Callable[[Callable[..., Any]], AkkaCommand]:
    """The decorator of a command's function: `@command(view=RUN, examples=\"\"\"…\"\"\")`."""
    return click.command(cls=AkkaCommand, view=view, examples=examples, **attributes)
