"""Ask every service whether it is there, all at the same time, and tell what each said. Nothing is asked twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from threading import Thread
from typing import Any

from akka_optimize import errors
from akka_optimize.records import ServiceStatus

SPARE = 0.5  # seconds beyond the time allowed, for a service whose own deadline has the better words
NO_ANSWER = (errors.Unreachable, errors.TimedOut)


@dataclass(frozen=True, slots=True)
class Service:
    """One service to ask. `connect` makes its client, with `info` (the trainer's) or `check`, and with `close`."""

    name: str
    address: str
    source: str
    region: str | None
    connect: Callable[[], Any]


@dataclass(slots=True)
class _Said:
    """What one service said so far. A context manager in the thread that asks: what ends its block is kept, so that the
    thread that waits can tell it, or raise it."""

    answers: bool = False
    seconds: float | None = None
    version: str | None = None
    message: str = "it did not answer in time"
    fault: BaseException | None = None

    def __enter__(self) -> _Said:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: object) -> bool:
        if isinstance(fault, errors.AkkaError) and not isinstance(fault, errors.WrongUsage):
            self.message = fault.message
        else:
            self.fault = fault
        return True


def status(
    services: Sequence[Service], *, timeout: float, clock: Callable[[], float] = time.monotonic
) -> tuple[ServiceStatus, ...]:
    """How each service is, in their order, after `timeout` seconds at most. Whatever one says is no error."""
    asked = [(service, _Said()) for service in services]
    threads = [Thread(target=_ask, args=(service, said, timeout, clock), daemon=True) for service, said in asked]
    for thread in threads:
        thread.start()
    end = clock() + timeout + SPARE
    for thread in threads:
        thread.join(max(0.0, end - clock()))
    return tuple(_told(service, said) for service, said in asked)


def _told(service: Service, said: _Said) -> ServiceStatus:
    if said.fault is not None:
        raise said.fault
    return ServiceStatus(
        name=service.name,
        address=service.address,
        source=service.source,
        region=service.region,
        answers=said.answers,
        milliseconds=None if said.seconds is None else round(said.seconds * 1000, 1),
        version=said.version,
        message=said.message,
    )


def _ask(service: Service, said: _Said, timeout: float, clock: Callable[[], float]) -> None:
    """Fill in what the service says; the time counts from when its client is there."""
    with said, closing(service.connect()) as client:
        began = clock()
        try:
            if hasattr(client, "info"):
                info = client.info()
                version, message = info.version, f"{info.backend}, start {info.startup}"
            else:
                version, message = None, client.check(timeout=timeout)
        except NO_ANSWER:
            raise
        except errors.AkkaError as error:  # whoever says no is there
            version, message = None, error.message
        said.version, said.message = version, message
        said.seconds, said.answers = clock() - began, True
