"""What the service counts, as Prometheus reads it. Labels are methods and codes alone, so there is an end to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb

if TYPE_CHECKING:
    from akka_optimize.trainer.service.serving import Serving

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class Metrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._calls = self._counter("calls", "Calls that have ended")
        self._seconds = Histogram(
            "akka_trainer_call_seconds",
            "Seconds from a call's headers to its end",
            ["method"],
            registry=self._registry,
            buckets=SECONDS,
        )
        self._open = self._gauge("open_calls", "Calls in flight")
        self._streams = self._gauge("open_streams", "Calls in flight that stream")
        self._queued = self._gauge("queued_runs", "Runs that wait for a worker")
        self._running = self._gauge("running_runs", "Runs that a worker has taken")
        self._ready = self._gauge("ready", "1 once the home is open, else 0")

    def begun(self, *, stream: bool) -> None:
        """A call came in."""
        self._open.inc()
        if stream:
            self._streams.inc()

    def ended(self, method: str, code: str, seconds: float, *, stream: bool) -> None:
        """A call ended."""
        self._open.dec()
        if stream:
            self._streams.dec()
        self._calls.labels(method, code).inc()
        self._seconds.labels(method).observe(seconds)

    def page(self, serving: Serving) -> bytes:
        """All of it as text. It asks the servicer for its runs, so it may take a moment."""
        self._ready.set(0 if serving.starting or serving.stopping else 1)
        try:
            info: pb.Info = serving.method("GetInfo")(pb.GetInfoRequest(), _Nobody())
        except errors.AkkaError:  # the rest is worth having without
            pass
        else:
            self._queued.set(info.queued)
            self._running.set(info.running)
        return generate_latest(self._registry)

    def _counter(self, name: str, told: str) -> Counter:
        return Counter(f"akka_trainer_{name}", told, ["method", "code"], registry=self._registry)

    def _gauge(self, name: str, told: str) -> Gauge:
        return Gauge(f"akka_trainer_{name}", told, registry=self._registry)


class _Nobody:
    """The call of somebody who waits."""

    def time_remaining(self) -> None:
        """No deadline."""

    def is_active(self) -> bool:
        """It is."""
        return True
