"""The command `akka-optimize`: the root of the tree, and the one place where errors become exit codes.

  0  done
  1  refused or failed, a fault of ours, or stdout that cannot be written
  2  wrong usage
  3  the service was not reached, or the time ran out
  4  not authenticated
  5  the answer is "no" under --exit-status
130  interrupted
141  whoever read stdout has gone; nothing is said, as a shell reports it for any program that a closed pipe ends.
     Not 0, which under --exit-status would be an answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from akka_optimize import __version__, errors
from akka_optimize.cli import entry
from akka_optimize.cli.app import App
from akka_optimize.cli.group import CommandGroup, show
from akka_optimize.cli.options import given

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.cli.settings import Settings
    from akka_optimize.output.console import Console

PROGRAM = "akka-optimize"
INTERRUPTED, READER_GONE = entry.INTERRUPTED, 141


def _version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    del param
    if wanted and not ctx.resilient_parsing:
        show(ctx, f"{PROGRAM} {__version__}")
        ctx.exit()


root = CommandGroup(
    PROGRAM,
    package="akka_optimize.cli",
    children={
        "datasets": "Chat examples to train on",
        "status": "Whether the services answer, and where they are",
        "training": "Runs, and what they are made of",
    },
    aliases={"dataset": "datasets"},
    help="Train, and compare what was learned.",
    examples=f"""
        # With no server: train on this machine
        export TRAINER_URL=local:
        {PROGRAM} datasets create -f train.jsonl --name triage-train
        {PROGRAM} training workloads create triage
        {PROGRAM} training runs init --workload triage --dataset triage-train > run.yaml
        {PROGRAM} training runs start -f run.yaml --wait

        # Compare two runs of one plan
        {PROGRAM} training runs compare 7d496e82c3a15f04 be2a310245ea0c11
    """,
    params=[
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version"
        )
    ],
)


def main() -> NoReturn:
    """The console script `akka-optimize`."""
    occupy_closed_streams()
    sys.exit(run(sys.argv[1:]))


def occupy_closed_streams() -> None:
    """Put /dev/null where stdin, stdout or stderr was closed, so that no file or socket opened later takes its number.

    Python has noticed by then: `sys.stdout` is None, and the console says so.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def run(
    args: Sequence[str], *, program: str = PROGRAM, app: App | None = None, tree: CommandGroup | None = None
) -> int:
    """Carry out one command line and return its exit code; whatever goes wrong is said on stderr."""
    tree = tree or root
    app = app or _app()
    context: click.Context | None = None
    try:
        entry.interruptible(True)
        with tree.make_context(program, [*args], obj=app) as context:
            tree.invoke(context)
        entry.interruptible(False)
        return 0
    except click.exceptions.Exit as end:
        entry.interruptible(False)
        return end.exit_code
    except BaseException as error:  # noqa: BLE001 - the outermost frame: everything becomes an exit code here
        entry.interruptible(False)
        return ended(error, app.console, given(context) if context else {})


def _app() -> App:
    """The app over the real services; what they have to say goes to its console."""

    def trainer(settings: Settings, warn: Callable[[str], None]) -> Any:
        from akka_optimize.wiring import build_trainer

        return build_trainer(settings, warn, app.console.say)

    def services(settings: Settings, warn: Callable[[str], None]) -> Any:
        from akka_optimize.wiring import build_services

        return build_services(settings, warn, app.console.say)

    app = App(trainer, build_services=services)
    return app


def ended(error: BaseException, console: Console, options: Mapping[str, Any]) -> int:
    """Say what ended the command, and return the exit code. `options`: the inherited ones that were typed."""
    from akka_optimize.output.console import OutputClosed

    console.color_wanted &= not options.get("no_color", False)
    match error:
        case OutputClosed():
            return READER_GONE
        case KeyboardInterrupt() | click.Abort():
            return INTERRUPTED
        case click.UsageError():
            console.failure(_sentence(error), hint=_hint(error))
            return errors.WrongUsage.exit_code
        case errors.AnswerIsNo() | errors.Interrupted():
            console.say(f"{error.message}\n  hint: {error.hint}" if error.hint else error.message)
            return error.exit_code
        case errors.AkkaError():
            console.failure(error.message, field=error.field, hint=error.hint)
            return error.exit_code
        case SystemExit():
            raise error
    if options.get("verbose"):
        from traceback import format_exception

        console.say("".join(format_exception(error)).rstrip())
    hint = "this is a fault in akka-optimize" + ("" if options.get("verbose") else "; --verbose shows where")
    console.failure(f"{type(error).__name__}: {error}", hint=hint)
    return errors.AkkaError.exit_code


def _hint(error: click.UsageError) -> str | None:
    if getattr(error, "option_name", None) == "--json":
        return "--json= lists the fields"
    return f"{error.ctx.command_path} --help" if error.ctx else None


def _sentence(error: click.UsageError) -> str:
    """Click's message, with the parameter as the user wrote it."""
    param = getattr(error, "param", None)
    if isinstance(error, click.BadOptionUsage) and "requires an argument" in error.message:
        return f"{error.option_name} needs a value"
    if param is None:
        return error.format_message()
    name = max(param.opts, key=len) if isinstance(param, click.Option) else param.make_metavar(error.ctx).strip("[]")
    if isinstance(error, click.MissingParameter):
        return f"{name} is missing"
    return f"{name}: {error.message}"
