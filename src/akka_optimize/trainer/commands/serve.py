"""`akka-trainer serve`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from akka_optimize import errors
from akka_optimize.trainer.commands import flags

if TYPE_CHECKING:
    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.service.asked import Asked
    from akka_optimize.trainer.service.life import Life
    from akka_optimize.trainer.service.options import Options
    from akka_optimize.trainer.service.report import Report

INTERRUPTED = 130


@click.command()
@flags.service
@click.option("--report", type=int, hidden=True, help="A descriptor on which `start` waits for word of us")
def serve(report: int | None, **given: Any) -> None:
    """Serve a home over the network, in the foreground, until told to end.

    Ctrl-C or SIGTERM: calls in flight end, each run in training ends after its update at hand, as FAILED and resumable;
    what waits goes on waiting. A second one ends everything at once.
    """
    from akka_optimize.trainer.service.report import Report

    with Report(report) as to_parent:
        asked = flags.asked(**given)
        ended = _serve(asked, to_parent)
    sys.exit(ended)


def _serve(asked: Asked, report: Report) -> int:
    from akka_optimize.trainer import slots
    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.service import background
    from akka_optimize.trainer.service.asked import options

    chosen = options(asked, os.environ, flags.warn)
    home = Home.open(asked.home)
    with background.claim(home):
        if asked.workers is not None:
            slots.set_count(home, asked.workers)
        return _life(asked, home, chosen, report)


def _life(asked: Asked, home: Home, chosen: Options, report: Report) -> int:
    import signal

    from akka_optimize.trainer import slots
    from akka_optimize.trainer.service import log, server
    from akka_optimize.trainer.service.asked import WILDCARDS
    from akka_optimize.trainer.service.life import Life, opened

    def ready() -> None:
        token = "a token is needed" if chosen.token else "no token is needed"
        others = " and every other address of this machine" if asked.host in WILDCARDS else ""
        flags.say(f"ready at {life.record.address}{others}; home {home.path}; workers {slots.count(home)}; {token}")
        report.ready(life.record.address)

    listening = server.listen(asked.host, asked.port)
    life = Life(home, listening, chosen, open_home=opened, say=flags.say, ready=ready)
    flags.say(f"starting at {life.record.address}")
    log.log_to_stderr()
    told_by = life.run()
    flags.say(_last_words(life))
    code = INTERRUPTED if told_by == signal.SIGINT else 0
    if life.stuck:
        code = code or errors.AkkaError.exit_code
    if life.stuck or life.opening:
        os._exit(code)  # the threads would be waited for, for as long as they like
    return code


def _last_words(life: Life) -> str:
    if life.stuck:
        return "stopped, with calls still at work"
    return "stopped before its home was open" if life.opening else "stopped"
