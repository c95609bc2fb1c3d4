"""A service that is killed at each kind of thing that it does for one request, restarted, and asked again.

    PYTHONPATH=tests python -m support.service_faults

prints a table for each kind of request: where the service was killed, how many things it had made then and after the
request was sent again under its token, how many were lost, how many made twice. `--json KIND [EVERY]` prints one of
them for a program, of every EVERYth stage and of the last ones.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from support import life, parents
from support.submission_faults import POINTS, Events, Outcome, disagreements, prepare, quietly, stages

from akka_optimize import errors
from akka_optimize.client.trainer import Trainer
from akka_optimize.client.transport.web import WebTransport
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.service import server
from akka_optimize.trainer.service.serving import Serving
from akka_optimize.trainer.servicer import Servicer

PATIENCE_SECONDS = 30.0
LAST_STAGES = 8  # around the commit, and after it: these are never left out
UPLOAD = "0123456789abcdef" * 2
BYTES = b"".join(json.dumps(life.row(f"new {i}", f"answer {i}")).encode() + b"\n" for i in range(9))


@dataclass
class Client:
    """Somebody with requests to send, who after a failure goes on with the one that failed."""

    calls: Sequence[Callable[[WebTransport], object]]
    done: list[object] = field(default_factory=list)

    def go_on(self, host: str) -> object:
        """What the last call answered. Raises what the service, or the network, makes of it."""
        with closing(_transport(host)) as transport:
            while len(self.done) < len(self.calls):
                self.done.append(self.calls[len(self.done)](transport))
        return self.done[-1]


@dataclass(frozen=True)
class Kind:
    """One kind of request: the client's calls, what it makes in all, and the ids of those that there are."""

    calls: Sequence[Callable[[WebTransport], object]]
    expected: Sequence[str]
    there: Callable[[Catalog], list[str]]
    method: str  # that the service carries out last


@contextmanager
def serving(folder: Path, *, method: str, last: int | None = None, told: Path | None = None) -> Iterator[str]:
    """The real service on a home, in a process of its own that dies at the event `last`; yields host:port.

    Its events, once `method` was carried out, are written to `told`.
    """
    listening = server.listen("127.0.0.1", 0)
    port = listening.getsockname()[1]
    child = os.fork()
    if child == 0:
        try:
            _serve(folder, listening, method, last, told)
        finally:
            os._exit(1)
    listening.close()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _serve(folder: Path, listening: socket.socket, method: str, last: int | None, told: Path | None) -> None:
    servicer = Servicer.opened(folder, backend="server")
    events = Events(folder, last)
    carried_out = getattr(servicer, method)

    def last_thing(request, call):
        reply = carried_out(request, call)
        events.happens("reply")
        if told is not None:
            told.write_text(json.dumps(events.seen))
        return reply

    setattr(servicer, method, last_thing)
    if last is not None or told is not None:
        events.listen()
    asyncio.run(server.run(Serving(servicer), listening, asyncio.Event()))


def sweep(folder: Path) -> tuple[Path, Kind]:
    """A fan of 50 children, whose ids a dry run has told."""
    base, snapshot = prepare(folder)
    asked = parents.asked(snapshot, *parents.rates(POINTS))
    with serving(base, method="ValidateBranches") as host, closing(_trainer(_transport(host))) as trainer:
        ids = [point.child_run_id for point in trainer.validate_branches(asked).points]

    def there(catalog: Catalog) -> list[str]:
        return [run.run_id for run in catalog.branches(asked.parent, limit=1000).items][::-1]

    return base, Kind([lambda transport: _trainer(transport).submit_branches(asked)], ids, there, "SubmitBranches")


def start(folder: Path) -> tuple[Path, Kind]:
    """One run."""
    home, catalog = life.open_home(folder)
    catalog.close()
    document = life.descriptor({"submissionId": "token"})

    def there(catalog: Catalog) -> list[str]:
        return [run.submission_id or "" for run in catalog.runs().items]

    return home.path, Kind([lambda transport: _trainer(transport).start_run(document)], ["token"], there, "StartRun")


def dataset(folder: Path) -> tuple[Path, Kind]:
    """An upload in two parts, and the dataset that it becomes under a name."""
    home, catalog = life.open_home(folder)
    with catalog:
        before = {each.hash for each in catalog.datasets()}
    half = len(BYTES) // 2
    first = pb.WriteUploadRequest(upload_id=UPLOAD, offset=0, data=BYTES[:half])
    second = pb.WriteUploadRequest(upload_id=UPLOAD, offset=half, data=BYTES[half:])
    whole = pb.CreateDatasetRequest(upload_id=UPLOAD, sha256=hashlib.sha256(BYTES).hexdigest(), name="new")
    calls = [
        lambda to: to.unary("WriteUpload", first, pb.WriteUploadReply, timeout=PATIENCE_SECONDS),
        lambda to: to.unary("WriteUpload", second, pb.WriteUploadReply, timeout=PATIENCE_SECONDS),
        lambda to: to.unary("CreateDataset", whole, pb.Dataset, timeout=PATIENCE_SECONDS),
    ]

    def there(catalog: Catalog) -> list[str]:
        return [",".join(each.names) for each in catalog.datasets() if each.hash not in before]

    return home.path, Kind(calls, ["new"], there, "CreateDataset")


def kill_everywhere(folder: Path, make: Callable[[Path], tuple[Path, Kind]], every: int = 1) -> list[Outcome]:
    """Kill the service at every stage of a kind of request, or at every `every`th, and ask again."""
    base, kind = make(folder)
    told = folder / "events.json"
    with copied(base, folder / "whole") as whole, serving(whole, method=kind.method, told=told) as host:
        Client(kind.calls).go_on(host)
    seen = json.loads(told.read_text())
    numbers = stages(seen)
    chosen = [number for at, number in enumerate(numbers) if at % every == 0 or at >= len(numbers) - LAST_STAGES]
    return [_killed(base, folder / f"home-{number}", kind, seen, number) for number in chosen]


def _killed(base: Path, folder: Path, kind: Kind, seen: list[str], number: int) -> Outcome:
    wrong: list[str] = []
    client = Client(kind.calls)
    with copied(base, folder):
        with serving(folder, method=kind.method, last=number) as host:
            try:
                client.go_on(host)
                wrong.append("the service was not killed")
            except errors.Unreachable as error:
                wrong += [] if error.sent else ["the client takes its request for one that was not sent"]
        with serving(folder, method=kind.method) as host:
            Client([lambda transport: _trainer(transport).info()]).go_on(host)  # it has cleared up, and is ready
            after = _look(folder, kind, wrong)
            if len(after) not in (0, len(kind.expected)):
                wrong.append(f"{len(after)} of {len(kind.expected)} made")
            client.go_on(host)
            again = _look(folder, kind, wrong)
            client.done.pop()
            client.go_on(host)
            if again != list(kind.expected) or _look(folder, kind, wrong) != again:
                wrong.append("others than those that were asked for")
            if UPLOAD in os.listdir(folder / "uploads"):
                wrong.append("the upload is still there")
    stage = f"{seen[number]}, event {number + 1} of {len(seen)}"
    return Outcome(stage, len(after), len(again), len(again) - len(set(again)), "; ".join(wrong) or None)


def _look(folder: Path, kind: Kind, wrong: list[str]) -> list[str]:
    home = Home.open(folder)
    with Catalog.open(home) as catalog:
        wrong += disagreements(catalog, home)
        return kind.there(catalog)


@contextmanager
def copied(base: Path, folder: Path) -> Iterator[Path]:
    """A copy of a home, in which no worker is started."""
    shutil.copytree(base, folder)
    lock = Home.open(folder).lock("worker-0")
    assert lock is not None
    with lock:
        yield folder
    shutil.rmtree(folder)


def _trainer(transport: WebTransport) -> Trainer:
    return Trainer(transport, timeout=PATIENCE_SECONDS)


def _transport(host: str) -> WebTransport:
    return WebTransport(host, tls=False, address=f"http://{host}")


KINDS = {"sweep": sweep, "start": start, "dataset": dataset}


def main(argv: list[str]) -> None:
    """Print the outcomes."""
    if "--json" in argv:
        name, *every = argv[argv.index("--json") + 1 :]
        outcomes = quietly(lambda folder: kill_everywhere(folder, KINDS[name], *map(int, every)))
        print(json.dumps([asdict(outcome) for outcome in outcomes]))
        return
    for name, make in KINDS.items():
        outcomes = quietly(lambda folder, make=make: kill_everywhere(folder, make))
        made = POINTS if name == "sweep" else 1
        print(f"{f'{name}: killed before':44}  then  again  lost  doubled")
        for each in outcomes:
            line = f"{each.stage:44}  {each.after:4}  {each.again:5}  {made - each.again:4}  {each.doubled:7}"
            print(line, each.wrong or "")
        lost, doubled = sum(made - each.again for each in outcomes), sum(each.doubled for each in outcomes)
        print(f"tried {len(outcomes)}, lost {lost}, doubled {doubled}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
