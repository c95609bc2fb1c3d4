"""Puts the layers together; the only module that may import every one of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.client.address import DEFAULT, Address, require_utf8, trainer_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.cli.settings import Settings
    from akka_optimize.client.trainer import Trainer
    from akka_optimize.client.transport import Transport

DEFAULT_HOME = "~/.akka/trainer"
TRAINER_EXTRA = ("sqlalchemy", "safetensors", "torch")
NOBODY_AT_DEFAULT = (
    "name a trainer with --trainer-url or TRAINER_URL, or train in this process with TRAINER_URL=local: "
    "(no server needed)"
)


def build_trainer(settings: Settings, warn: Callable[[str], None]) -> Trainer:  # noqa: ARG001
    """The client for the address that holds. Raises WrongUsage (address), Unreachable, Refused (home)."""
    from akka_optimize.client.trainer import Trainer

    address = trainer_address(settings.trainer_url, os.environ)
    return Trainer(_transport(address, settings.timeout), timeout=settings.timeout)


def _transport(address: Address, timeout: float) -> Transport:
    if address.folder is not None:
        return _embedded(address.folder, timeout)
    from akka_optimize.client.transport.grpc import GrpcTransport

    assert address.host is not None
    hint = NOBODY_AT_DEFAULT if address.text == DEFAULT else f"the address came from {address.source}"
    return GrpcTransport(address.host, tls=address.tls, address=address.text, hint=hint)


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
    try:
        path = _expanded(Path(folder or DEFAULT_HOME)).absolute()
    except RuntimeError:
        raise errors.WrongUsage(
            "local: keeps its runs below the home folder, and there is none", hint="name a folder: local:DIR"
        ) from None
    except FileNotFoundError:
        raise errors.WrongUsage(
            f"local:{folder} is below the working directory, which is there no more",
            hint="name a folder by its whole path, or go to another directory",
        ) from None
    require_utf8("the path of the trainer's home", str(path))
    return path


def _expanded(path: Path) -> Path:
    """The path with its `~` replaced. Raises RuntimeError when there is no home folder, an empty HOME included."""
    if path.parts[:1] == ("~",) and os.environ.get("HOME") == "":
        raise RuntimeError
    return path.expanduser()
