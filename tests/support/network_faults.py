"""Calls through a network that fails at every byte of the exchange, and at a few in worse ways than by an end.

    PYTHONPATH=tests python -m support.network_faults

prints a table: what failed, over which protocol, how often it was tried; how many calls came back with exactly the
right result, how many said that the trainer was not reached or that the time ran out; how many did anything else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from support.proxy import Fault, Side, proxy
from support.service import served
from support.transports import CLIENTS

from akka_optimize import errors
from akka_optimize.client.trainer import Trainer
from akka_optimize.client.transport import Transport
from akka_optimize.client.transport.retrying import RetryingTransport
from akka_optimize.protocol import trainer_pb2 as pb

PATIENCE = 10.0  # seconds that a call has which should not need them
SHORT = 0.3  # seconds that a call has which gets no answer
GRACE = 2.0  # seconds after the deadline in which the error has to be there, on a machine with other work
CHUNKS, STEPS = 4, 20
LARGE = "x" * (3 << 20)

Ask = Callable[[Transport, float], Any]


class CurveServicer:
    """Knows one run and its curves; the answers are always the same."""

    def GetRun(self, request: pb.GetRunRequest, _call: object) -> pb.Run:
        """The run that was asked for."""
        return pb.Run(run_id=request.run_id[:16], name="a run")

    def GetMetrics(self, _request: object, _call: object) -> Iterable[pb.MetricsChunk]:
        """Two columns in chunks."""
        for number in range(CHUNKS):
            steps = range(number * STEPS, (number + 1) * STEPS)
            columns = [pb.MetricsColumn(name=name, values=[step / 3 for step in steps]) for name in ("loss", "lr")]
            yield pb.MetricsChunk(attempt=1, steps=steps, columns=columns)

    def close(self) -> None:
        """Nothing is held."""


def run(transport: Transport, timeout: float) -> Any:
    """One request and its reply."""
    return transport.unary("GetRun", pb.GetRunRequest(run_id="a"), pb.Run, timeout=timeout)


def large(transport: Transport, timeout: float) -> Any:
    """A request that fills every buffer on the way."""
    return transport.unary("GetRun", pb.GetRunRequest(run_id=LARGE), pb.Run, timeout=timeout)


def curves(transport: Transport, timeout: float) -> Any:
    """A stream, as what the client makes of it."""
    read = Trainer(transport, timeout=timeout).metrics("a").columns
    return {name: (c.steps.tolist(), c.values.tolist(), c.attempts.tolist()) for name, c in read.items()}


ASKED: dict[str, Ask] = {"a call": run, "a stream": curves}


@dataclass
class Counts:
    """What became of the tries; `wrong` holds every result that was neither, `hung` every try that came too late."""

    what: str
    client: str
    tried: int = 0
    exact: int = 0
    told: int = 0
    wrong: list[str] | None = None
    hung: int = 0

    def row(self) -> str:
        """One line of the table."""
        wrong = len(self.wrong or ())
        return f"{self.what:<44}{self.client:<6}{self.tried:>6}{self.exact:>7}{self.told:>6}{wrong:>7}{self.hung:>6}"


HEAD = f"{'fault':<44}{'over':<6}{'tried':>6}{'exact':>7}{'told':>6}{'wrong':>7}{'hung':>6}"


@dataclass
class Bench:
    """A service that always answers the same, and calls to it over one protocol, through whatever fault."""

    host: str
    client: str

    def open(self, host: str, *, retried: bool = False) -> Any:
        """A client to a port; `retried` as the command line has it."""
        opened = CLIENTS[self.client](host)
        return _Retried(opened) if retried else opened

    def right(self, ask: Ask) -> Any:
        """What the call should come to."""
        with self.open(self.host) as transport:
            return ask(transport, PATIENCE)

    def length(self, ask: Ask) -> dict[Side, int]:
        """Bytes that go each way in one call on a new connection."""
        with proxy(self.host) as passing:
            with self.open(passing.host) as transport:
                ask(transport, PATIENCE)
            return dict(passing.carried)

    def tries(
        self, what: str, ask: Ask, faults: Iterable[Fault], *, timeout: float = PATIENCE, retried: bool = False
    ) -> Counts:
        """One call for each fault, and what became of them."""
        counts, right = Counts(what, self.client, wrong=[]), self.right(ask)
        for fault in faults:
            self.attempt(counts, right, ask, fault, timeout, retried)
        return counts

    def attempt(self, counts: Counts, right: Any, ask: Ask, fault: Fault, timeout: float, retried: bool) -> None:
        """One call through one fault, counted."""
        assert counts.wrong is not None
        with proxy(self.host, fault) as failing, self.open(failing.host, retried=retried) as transport:
            counts.tried += 1
            started = time.monotonic()
            try:
                came = ask(transport, timeout)
            except (errors.Unreachable, errors.TimedOut):
                counts.told += 1
            except errors.AkkaError as error:
                counts.wrong.append(f"{fault}: {type(error).__name__}: {error}")
            else:
                counts.exact += came == right
                if came != right:
                    counts.wrong.append(f"{fault}: {came}")
            counts.hung += time.monotonic() - started > timeout + GRACE


class _Retried:
    """Opens the transport, and patience around it."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened

    def __enter__(self) -> Transport:
        return RetryingTransport(self._opened.__enter__())

    def __exit__(self, *raised: Any) -> None:
        self._opened.__exit__(*raised)


def cuts(bench: Bench, ask: Ask, side: Side, step: int, *, times: int = 1 << 30) -> list[Fault]:
    """A cut after every `step` bytes of the exchange, from its first byte to its last."""
    return [Fault("cut", side, after, times) for after in range(0, bench.length(ask)[side] + 1, step)]


def table(bench: Bench, step: int = 1) -> list[Counts]:
    """Every kind of fault; cuts after every `step` bytes."""
    rows = [
        bench.tries(f"{name} cut on its way {side}", ask, cuts(bench, ask, side, step * (1 if ask is run else 8)))
        for name, ask in ASKED.items()
        for side in ("up", "down")
    ]
    for name, ask in ASKED.items():
        once = cuts(bench, ask, "down", step * (20 if ask is run else 200), times=1)
        rows.append(bench.tries(f"{name} cut once, and tried again", ask, once, retried=True))
    for name, ask in ASKED.items():
        length = bench.length(ask)["down"]
        silent = [Fault("swallow", "down", length * part // 4) for part in range(4)]
        rows.append(bench.tries(f"{name} on a half-open connection", ask, silent, timeout=SHORT))
    deaf = [Fault("stall", "up", after) for after in (0, 100, 1 << 16, 1 << 20)]
    rows.append(bench.tries("a large request that nobody reads", large, deaf, timeout=SHORT))
    return rows


def main() -> None:
    """Print the table."""
    with served(CurveServicer()) as host:
        rows = [row for client in CLIENTS for row in table(Bench(host, client))]
    print(HEAD)
    for row in rows:
        print(row.row())
    wrong, hung = sum(len(row.wrong or ()) for row in rows), sum(row.hung for row in rows)
    print(f"tried {sum(row.tried for row in rows)}, wrong {wrong}, hung {hung}")
    for row in rows:
        for line in row.wrong or ():
            print(line)


if __name__ == "__main__":
    main()
