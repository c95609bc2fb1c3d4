"""`python -m akka_optimize.trainer.engines.decoder.peer`: one process, other than the first, of a session.

It reads from stdin where it stands among the others and what the job is, a line of JSON each, then commands, a byte
each. It ends as soon as stdin does.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akka_optimize.records import Document
    from akka_optimize.trainer.engines.decoder.replica import Replica

STDIN, STDOUT, STDERR = 0, 1, 2


def main() -> int:
    """Take part until told otherwise; the exit status."""
    for number in (signal.SIGINT, signal.SIGTERM):  # to stop is for the first process to decide
        signal.signal(number, signal.SIG_IGN)
    faulthandler.enable()
    answers = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)  # what a library prints is no answer
    place, job = (json.loads(sys.stdin.buffer.readline() or "null") for _ in range(2))
    if job is None:
        return 0
    commands: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=[commands], daemon=True).start()
    return take_part(place, job, commands, answers)


def take_part(place: Document, job: Document, commands: SimpleQueue[bytes], answers: int) -> int:
    """Load the job, say so, and carry out one command after the other."""
    import torch

    from akka_optimize.trainer.engines.decoder import peers
    from akka_optimize.trainer.engines.decoder.group import Broken, Linked
    from akka_optimize.trainer.engines.decoder.replica import Replica

    replica = Replica(peers.read_job(job), place["rank"], torch.device(place["device"]))
    os.write(answers, peers.READY)
    try:
        if commands.get() == peers.MEET:
            replica.group = Linked(place["meeting"], replica.rank, place["size"], replica.device)
            replica.group.gather(replica.digest())
            obey(replica, commands)
    except Broken as error:
        print(f"process {replica.rank} lost the others: {error}", file=sys.stderr, flush=True)
    return peers.LEFT


def obey(replica: Replica, commands: SimpleQueue[bytes]) -> None:
    """Make an update, or hand over what only this process knows. Raises Broken."""
    from akka_optimize.trainer.engines.decoder import peers

    steps = replica.steps()
    while command := commands.get():
        if command == peers.STEP:
            next(steps)
        elif command == peers.HOLD:
            replica.group.gather(replica.draws.get_state())


def _listen(commands: SimpleQueue[bytes]) -> None:
    """Hand on one command after the other; end the process, whatever it is at, when there will be none any more."""
    while command := os.read(STDIN, 1):
        commands.put(command)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
