"""What a command is handed: the settings, the client (made when first used), and the ways to speak."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from akka_optimize import errors

if TYPE_CHECKING:
    from akka_optimize.actions.status import Service
    from akka_optimize.cli.settings import Settings
    from akka_optimize.client.trainer import Trainer
    from akka_optimize.output.console import Console
    from akka_optimize.output.formats import Format
    from akka_optimize.output.jq import Program
    from akka_optimize.output.view import View

    Build = Callable[[Settings, Callable[[str], None]], Any]

YES = frozenset({"y", "yes"})


class Declined(errors.AkkaError):
    """The user answered no."""


class App:
    """One command's world; tests hand in another client, or another console.

    `build_trainer`: settings, and a way to warn on stderr -> the client; `build_services`: the same -> what `status`
    asks. Settings, view and format are there once the command line is parsed.
    """

    settings: Settings
    view: View | None
    format: Format

    def __init__(
        self, build_trainer: Build, console: Console | None = None, *, build_services: Build | None = None
    ) -> None:
        self._build_trainer, self._build_services = build_trainer, build_services
        self._trainer: Any = None
        self._filter: Program | None = None
        self._console = console

    @property
    def console(self) -> Console:
        """The two output streams."""
        if self._console is None:
            from akka_optimize.output.console import Console

            self._console = Console()
        return self._console

    @property
    def trainer(self) -> Trainer:
        """The client, made when it is first asked for. Raises WrongUsage (address), Unsupported."""
        if self._trainer is None:
            self._trainer = self._build_trainer(self.settings, self.warn)
        trainer: Trainer = self._trainer
        return trainer

    @property
    def services(self) -> Sequence[Service]:
        """The services that `status` asks. Raises WrongUsage (addresses, configuration)."""
        services: Sequence[Service] = self._build_services(self.settings, self.warn) if self._build_services else ()
        return services

    def close(self) -> None:
        """Let go of the client, and of a jq program that never got its document."""
        if self._filter is not None:
            self._filter.close()
        trainer, self._trainer = self._trainer, None
        if trainer is not None:
            trainer.close()

    def configure(self, settings: Settings, view: View | None) -> None:
        """Settle what is printed and how, before any client is made. Raises WrongUsage: format, fields, jq program."""
        from akka_optimize.output import formats

        self.settings, self.view = settings, view
        self.format = formats.decide(view, output=settings.output, fields=settings.json_fields, program=settings.jq)
        if self.format.program is not None:
            from akka_optimize.output import jq

            self._filter = jq.Program(self.format.program, timeout=settings.timeout)

    @property
    def listing(self) -> bool:
        """Whether only the names of the fields were asked for."""
        return self.format.kind == "list"

    def list_fields(self) -> None:
        """Print the names of the fields, one a line."""
        from akka_optimize.output import formats

        assert self.view is not None
        self.console.data(formats.render(self.format, self.view, None))

    def emit(self, record: object) -> None:
        """Print the command's result, a record or a list of them, in the format asked for.

        Raises Invalid, TimedOut and Exhausted (jq), Unwritable (stdout).
        """
        from akka_optimize.output import formats

        assert self.view is not None, "a command that emits declares its view"
        text = formats.render(self.format, self.view, record)
        if self._filter is not None:
            self._filter.run(text, write=self.console.data_bytes)
        elif self.format.kind == "text":
            self.console.text(text)
        else:
            self.console.data(text)

    def emit_stream(self, events: Iterable[Any], view: View) -> Any:
        """Tell of each event as it comes, and return the last one (None when there was none).

        Where the whole JSON was asked for, an event is a line of it on stdout; otherwise a line of text on stderr,
        unless quiet.
        """
        from akka_optimize.output import formats, text

        last = None
        for last in events:
            if self.format.streams:
                self.console.data(formats.render(formats.Format("json-compact"), view, last))
            else:
                self.note(text.render(view, last).rstrip("\n"))
        return last

    def write(self, text: str) -> None:
        """Print text that is no record, such as a template."""
        self.console.text(text)

    def write_bytes(self, chunks: Iterable[bytes]) -> None:
        """Print bytes that are no record, such as a log: untouched, but on a terminal made safe for it."""
        self.console.stored(chunks)

    def note(self, text: str) -> None:
        """Tell something on stderr, unless quiet."""
        if not self.settings.quiet:
            self.console.say(text)

    def warn(self, text: str) -> None:
        """Tell on stderr what the user should know even when quiet."""
        self.console.say(f"Warning: {text}")

    def confirm(self, question: str) -> None:
        """Ask before something that spends or destroys; return when it may go on.

        Raises WrongUsage when nobody can be asked, Declined when the answer is not yes.
        """
        if self.settings.force:
            return
        if not self.settings.prompts:
            raise errors.WrongUsage(f"{question} Prompts are disabled", hint="--force goes on without asking")
        if not self.console.can_ask():
            raise errors.WrongUsage(f"{question} There is no terminal to ask on", hint="--force goes on without asking")
        answer = self.console.ask(f"{question} [y/N] ")
        if answer is None or answer.strip().lower() not in YES:
            raise Declined("nothing was done")
