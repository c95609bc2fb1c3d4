"""Puts the layers together; the only module that may import every one of them."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akka_optimize import errors
from akka_optimize.client import address as addresses
from akka_optimize.client import contexts
from akka_optimize.client.address import Address, require_utf8

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.actions.status import Service
    from akka_optimize.cli.settings import Settings
    from akka_optimize.client.contexts import Context
    from akka_optimize.client.trainer import Trainer
    from akka_optimize.client.transport import Transport

    Say = Callable[[str], None]

DEFAULT_HOME = "~/.akka/trainer"
TRAINER_EXTRA = ("sqlalchemy", "safetensors", "torch")
NOBODY_AT_DEFAULT = (
    "start a trainer with `akka-trainer start`, name another with --trainer-url or TRAINER_URL, or train in this "
    "process with TRAINER_URL=local: (no server needed)"
)


def build_trainer(settings: Settings, warn: Say, say: Say = lambda _: None) -> Trainer:
    """The client for the address that holds. `say`: where --verbose tells of each call.

    An embedded trainer needs no token, no cache and no network: --use-grpc-web changes nothing for it.
    Raises WrongUsage (address, configuration, region), Unauthenticated (token), Unreachable, Refused (home).
    """
    from akka_optimize.client.trainer import Trainer

    address, context, region = _trainer_place(settings)
    if address.folder is not None:
        return Trainer(_embedded(address.folder, settings.timeout), timeout=settings.timeout)
    from akka_optimize.client.cache import Cache, CachingTransport
    from akka_optimize.client.transport.retrying import RetryingTransport

    wire = RetryingTransport(_wire(settings, address, context, region, warn, say))
    cache = Cache(settings.cache_file, say if settings.verbose else _unsaid)
    # One address may lead to another trainer for each region.
    return Trainer(CachingTransport(wire, cache, f"{address.text} {region or ''}"), timeout=settings.timeout)


def build_services(settings: Settings, warn: Say, say: Say = lambda _: None) -> tuple[Service, ...]:
    """The services that `status` asks: the trainer, and Optimize (with an embedded trainer, only if its address was
    given). Nothing is connected yet. Raises WrongUsage (addresses, configuration, region).
    """
    from akka_optimize.actions.status import Service
    from akka_optimize.client.health import Health
    from akka_optimize.client.trainer import Trainer

    address, context, region = _trainer_place(settings)

    def trainer() -> Trainer:
        if address.folder is not None:
            return Trainer(_embedded(address.folder, settings.timeout), timeout=settings.timeout)
        return Trainer(_wire(settings, address, context, region, warn, say), timeout=settings.timeout)

    services = [Service("trainer", address.text, address.source, region, trainer)]
    other = addresses.named_optimize(settings.url, os.environ)
    if other is None:
        # An embedded trainer does without the configuration, and so does what stands beside it.
        context = context if address.folder is not None else _context(settings)
        other = addresses.optimize_address(None, os.environ, context)
    if address.folder is None or other.source != addresses.BY_DEFAULT:
        reached = partial(_health, settings, other, context, region, say)
        services.append(Service("optimize", other.text, other.source, region, lambda: Health(reached())))
    return tuple(services)


def _context(settings: Settings) -> Context:
    return contexts.load(settings.config, settings.context, os.environ)


def _trainer_place(settings: Settings) -> tuple[Address, Context, str | None]:
    """The trainer's address, the context that counts beside it, and the region.

    A configuration that nobody asked for is not read where the address is known without it. Beside an address from
    elsewhere only a context that was typed counts: its token was made for another trainer.
    """
    typed = settings.config is not None or settings.context is not None
    named = addresses.named_trainer(settings.trainer_url, os.environ)
    context = _context(settings) if named is None or typed else contexts.Context()
    address = named or addresses.trainer_address(None, os.environ, context)
    if named is not None and settings.context is None:
        context = contexts.Context()
    region = context.region
    if settings.region is not None:
        region = contexts.require_region(settings.region, "--region")
        if address.folder is not None:
            raise errors.WrongUsage("--region: a trainer inside this process has no regions")
    return address, context, None if address.folder is not None else region


def _wire(settings: Settings, address: Address, context: Context, region: str | None, warn: Say, say: Say) -> Transport:
    """The way to a trainer on the network."""
    from akka_optimize.client.credentials import token

    hint = NOBODY_AT_DEFAULT if address.text == addresses.DEFAULT else f"the address came from {address.source}"
    return _network(
        settings.use_grpc_web,
        host=address.host,
        tls=address.tls,
        address=address.text,
        hint=hint,
        token=token(context, os.environ, warn),
        ca=context.ca,
        region=region,
        observe=_observer(say) if settings.verbose else None,
    )


def _health(settings: Settings, address: Address, context: Context, region: str | None, say: Say) -> Transport:
    """The way to the Optimize service: without a token, which is the trainer's alone."""
    from akka_optimize.client.health import SERVICE

    return _network(
        settings.use_grpc_web,
        host=address.host,
        tls=address.tls,
        address=address.text,
        ca=context.ca,
        region=region,
        service=SERVICE,
        observe=_observer(say) if settings.verbose else None,
    )


def _network(web: bool, **parts: Any) -> Transport:
    if web:
        from akka_optimize.client.transport.web import WebTransport

        return WebTransport(**parts)
    from akka_optimize.client.transport.grpc import GrpcTransport

    return GrpcTransport(**parts)


def _observer(say: Say) -> Callable[[str, str, float, int, str], None]:
    def observe(method: str, request_id: str, seconds: float, tries: int, outcome: str) -> None:
        say(f"{method} {request_id}: {outcome}, {seconds * 1000:.0f} ms, {tries} {'try' if tries == 1 else 'tries'}")

    return observe


def _unsaid(_text: str) -> None:
    """Where notes go that only --verbose tells."""


def _embedded(folder: str, timeout: float) -> Transport:
    from importlib.util import find_spec

    if not all(map(find_spec, TRAINER_EXTRA)):
        raise errors.Unsupported(
            "local: trains in this process, which needs the trainer extra",
            hint="pip install 'akka-optimize[trainer]'",
        )
    import logging

    from akka_optimize.client.transport.embedded import EmbeddedTransport
    from akka_optimize.trainer.servicer import Servicer

    # A Ctrl-C while a connection closes is told by SQLAlchemy with a traceback, unless somebody listens to its loggers.
    if not (logger := logging.getLogger("sqlalchemy")).handlers:
        logger.addHandler(logging.NullHandler())
    return EmbeddedTransport(Servicer.opened(_home(folder), patience=timeout))


def _home(folder: str) -> Path:
    text = folder or DEFAULT_HOME
    path = contexts.expanded(text)
    if path is None:
        raise errors.WrongUsage(
            "local: keeps its runs below the home folder, and there is none", hint="name a folder: local:DIR"
        )
    try:
        path = path.absolute()
    except FileNotFoundError:
        raise errors.WrongUsage(
            f"local:{folder} is below the working directory, which is there no more",
            hint="name a folder by its whole path, or go to another directory",
        ) from None
    require_utf8("the path of the trainer's home", str(path))
    return path
