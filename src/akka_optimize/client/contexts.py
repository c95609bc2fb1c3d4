"""Named contexts from the configuration file: where the services are, and how this user is known to them.

    currentContext: team
    contexts:
      team: {trainerUrl: https://trainer.example, optimizeUrl: …, tokenFile: team.token, ca: ca.pem, region: eu}

`--context` beats AKKA_CONTEXT, which beats `currentContext`. Paths are relative to the file's folder. Whatever is wrong
with the file is wrong usage, with line and column where it has any.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from akka_optimize import errors

DEFAULT = "~/.akka/config.yaml"
VARIABLE = "AKKA_CONTEXT"
MOST_BYTES = 1 << 20
ROOT_KEYS = ("contexts", "currentContext")
CONTEXT_KEYS = ("trainerUrl", "optimizeUrl", "tokenFile", "ca", "region")
REGION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True, slots=True)
class Context:
    """One context; `source` says where it stands, as in `context team in ~/.akka/config.yaml`. None: not stated.

    The one without a name is what holds when no context was chosen.
    """

    name: str | None = None
    source: str = "no context"
    trainer_url: str | None = None
    optimize_url: str | None = None
    token_file: Path | None = None
    ca: Path | None = None
    region: str | None = None


def load(config: str | None, context: str | None, environ: Mapping[str, str]) -> Context:
    """The context that holds. `config` and `context` are as typed, or None; an empty variable counts as unset.

    Raises WrongUsage: the file, anything in it, a context that it does not have, a file that was named and is missing.
    """
    wanted, by = (context, "--context") if context is not None else (environ.get(VARIABLE) or None, VARIABLE)
    shown = config if config is not None else DEFAULT
    path = expanded(shown)
    if path is None or not _is_there(path, shown, required=config is not None):
        if wanted is not None:
            raise errors.WrongUsage(
                f"{by}: there is no context {wanted!r}, because there is no {shown}",
                hint="write the file, or name another with --config",
            )
        return Context()
    current, contexts = _File(path, shown).read()
    if wanted is None:
        return contexts[current] if current is not None else Context()
    if wanted not in contexts:
        known = ", ".join(sorted(contexts)) or "none"
        raise errors.WrongUsage(
            f"{by}: there is no context {wanted!r} in {shown}{_meant(wanted, contexts)}",
            hint=f"the contexts there: {known}",
        )
    return contexts[wanted]


def expanded(text: str) -> Path | None:
    """The path with its `~` replaced; None when there is no home folder, an empty HOME included."""
    if text.split("/")[0] == "~" and os.environ.get("HOME") == "":
        return None
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return None


def require_region(text: str, what: str) -> str:
    """The name of a region, which travels in a header. Raises WrongUsage, which begins with `what`."""
    if not REGION.fullmatch(text):
        raise errors.WrongUsage(
            f"{what}: {text!r} is no name of a region", hint="letters, digits, dots, dashes and underscores, as in eu-1"
        )
    return text


def _is_there(path: Path, shown: str, *, required: bool) -> bool:
    """Whether there is a file to read; a regular one, of a size that one writes by hand."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if required:
            raise errors.WrongUsage(f"--config: {shown}: no such file") from None
        return False
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no name of a file"
        raise errors.WrongUsage(f"{shown}: the configuration cannot be read: {reason}") from None
    if not stat.S_ISREG(found.st_mode):
        kind = "a directory" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise errors.WrongUsage(f"{shown}: {kind}, where the configuration file belongs")
    if found.st_size > MOST_BYTES:
        raise errors.WrongUsage(f"{shown}: the configuration is larger than {MOST_BYTES >> 20} MiB")
    return True


def _meant(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    folded = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[found[0]]}?" if found else ""


class _File:
    """One configuration file. Refuses with the file as the user wrote it, and the place of the fault in it."""

    def __init__(self, path: Path, shown: str) -> None:
        self._path, self._shown = path, shown
        self._places: Mapping[tuple[str | int, ...], tuple[int, int]] = {}

    def read(self) -> tuple[str | None, dict[str, Context]]:
        """The name of the current context, if there is one, and every context by its name."""
        document = self._document()
        if document is None:
            return None, {}
        self._mapping((), document, ROOT_KEYS, "the configuration")
        stated = document.get("contexts", {})
        self._mapping(("contexts",), stated, None, "contexts")
        contexts = {name: self._context(name, value) for name, value in stated.items()}
        if "currentContext" not in document:
            return None, contexts
        current = self._text(("currentContext",), document["currentContext"], "currentContext")
        if current not in contexts:
            self._refuse(("currentContext",), f"there is no context {current!r}{_meant(current, contexts)}")
        return current, contexts

    def _document(self) -> Any:
        from akka_optimize.documents import read_located

        try:
            if not self._path.read_bytes().strip():
                return None
            document, self._places = read_located(str(self._path.absolute()), what="configuration")
        except errors.AkkaError as error:
            message = error.message.replace(str(self._path.absolute()), self._shown)
            raise errors.WrongUsage(message) from None
        except OSError as error:
            raise errors.WrongUsage(
                f"{self._shown}: the configuration cannot be read: {error.strerror or error}"
            ) from None
        return document

    def _context(self, name: str, value: Any) -> Context:
        way = ("contexts", name)
        if not name or not name.isprintable():
            self._refuse(way, f"{name!r} is no name of a context")
        self._mapping(way, value, CONTEXT_KEYS, f"the context {name}")
        texts = {key: self._text((*way, key), value[key], key) for key in value}
        if "region" in texts and not REGION.fullmatch(texts["region"]):
            self._refuse((*way, "region"), f"{texts['region']!r} is no name of a region, as eu-1 is")
        return Context(
            name=name,
            source=f"context {name} in {self._shown}",
            trainer_url=texts.get("trainerUrl"),
            optimize_url=texts.get("optimizeUrl"),
            token_file=self._file((*way, "tokenFile"), texts.get("tokenFile")),
            ca=self._file((*way, "ca"), texts.get("ca")),
            region=texts.get("region"),
        )

    def _mapping(self, way: tuple[str | int, ...], value: Any, keys: tuple[str, ...] | None, what: str) -> None:
        if not isinstance(value, dict):
            self._refuse(way, f"{what} is no mapping of keys to values")
        for key in value if keys is not None else ():
            if key not in (keys or ()):
                self._refuse((*way, key), f"{what} knows no {key!r}{_meant(key, keys or ())}")

    def _text(self, way: tuple[str | int, ...], value: Any, key: str) -> str:
        if not isinstance(value, str) or not value or not value.isprintable():
            self._refuse(way, f"{key} is no text of one line, in quotes where it looks like something else")
        return value

    def _file(self, way: tuple[str | int, ...], text: str | None) -> Path | None:
        if text is None:
            return None
        path = expanded(text)
        if path is None:
            self._refuse(way, f"{text} is below the home folder, and there is none")
        return self._path.absolute().parent / path

    def _refuse(self, way: tuple[str | int, ...], reason: str) -> NoReturn:
        line, column = self._places[way]
        raise errors.WrongUsage(f"{self._shown}:{line}:{column}: {reason}")
