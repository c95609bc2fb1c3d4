"""Every error this package raises on purpose.

    AkkaError                       1
    ├── WrongUsage                  2   the command line itself cannot be carried out
    ├── Invalid                     1   a document, a row or a value is not acceptable
    ├── NotFound                    1   no such run, dataset, workload, …
    ├── Ambiguous                   1   a prefix or a name fits more than one
    ├── Conflict                    1   it exists already, with other content
    ├── Refused                     1   well-formed, but not in this state
    ├── Exhausted                   1   a limit or the disk
    ├── Unsupported                 1   this trainer cannot do that
    ├── Internal                    1   a fault of ours
    ├── Unreachable                 3   the service was not reached
    ├── TimedOut                    3   the time ran out
    ├── Unauthenticated             4   who you are is not known, or not allowed
    ├── AnswerIsNo                  5   the answer is "no" under --exit-status
    └── Interrupted               130   Ctrl-C

The number is the exit code of the command that ends with the error; `cli/main.py` is its only reader.
"""

from __future__ import annotations


class AkkaError(Exception):
    """What was wrong (`message`), where (`field`), and what to do (`hint`).

    `sent` is False where it is known that the trainer carried nothing out: nobody was reached, or it refused.
    """

    exit_code = 1
    sent = True

    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.hint = hint


class WrongUsage(AkkaError):
    """The command line cannot be carried out as written."""

    exit_code = 2


class Invalid(AkkaError):
    """A document, a row or a value is not acceptable, whatever the state of the service."""


class NotFound(AkkaError):
    """Nothing goes by that id, prefix or name."""


class Ambiguous(AkkaError):
    """A prefix or a name fits more than one thing; the message lists them."""


class Conflict(AkkaError):
    """It exists already, with other content."""


class Refused(AkkaError):
    """The request is well-formed, and the state of things does not allow it."""


class Exhausted(AkkaError):
    """A stated limit, or the room on the disk, does not suffice."""


class Unsupported(AkkaError):
    """This trainer does not offer what was asked for."""


class Internal(AkkaError):
    """A fault in the trainer itself."""


class Unreachable(AkkaError):
    """No service answered at the address."""

    exit_code = 3


class TimedOut(AkkaError):
    """The time allowed ran out before the answer came."""

    exit_code = 3


class Unauthenticated(AkkaError):
    """The service does not know, or does not allow, the caller."""

    exit_code = 4


class AnswerIsNo(AkkaError):
    """The command did its work, and under `--exit-status` the answer is "no"."""

    exit_code = 5


class Interrupted(AkkaError):
    """The user pressed Ctrl-C."""

    exit_code = 130
