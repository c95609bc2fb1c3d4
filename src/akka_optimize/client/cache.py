"""The cache file: curves of completed runs, the one answer of a trainer that is large and never changes.

Everything else either changes (names, phases, pins) or may be gone (a run that was deleted), and costs one short call.
So a curve is taken from here only after the trainer itself has said, within the same command, that the run is there and
completed: a deleted run is never shown. Its key holds the address and what the trainer said of the run (id, plan,
times, attempt), so that the answer of one trainer is never shown for another. The content is what came over the wire.

The file is JSON, which is YAML too. One that is broken, foreign or of another release counts as empty and is written
anew: beside its place, then renamed, so that a reader sees an old or a new one and of two writers the last one holds.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akka_optimize.client.contexts import expanded

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from akka_optimize.client.transport import M, Transport

DEFAULT = "~/.akka/cache.yaml"
FORMAT = "akka-optimize curves 1"
MOST_BYTES = 4 << 20  # of the whole file
MOST_OF_ONE = 256 << 10  # of one curve, as it came; a longer one is fetched each time


class Cache:
    """The curves in one file: key -> messages, oldest first. Whatever is wrong with the file is no error: `note` tells
    it, and nothing is cached."""

    def __init__(self, path: str | None, note: Callable[[str], None]) -> None:
        self._shown = path if path is not None else DEFAULT
        place = expanded(self._shown)
        # Through links, so that a rename never replaces one.
        self._path = None if place is None or "\0" in self._shown else Path(os.path.realpath(place))
        self._note = note
        self._known: dict[str, list[str]] | None = None
        self._new: dict[str, list[str]] = {}

    def get(self, key: str) -> list[bytes] | None:
        """The messages that were kept under a key, or None."""
        if self._known is None:
            self._known = self._read()
        found = self._new.get(key) or self._known.get(key)
        return None if found is None else [base64.b64decode(part) for part in found[1:]]

    def put(self, key: str, messages: list[bytes]) -> None:
        """Keep messages under a key; `save` writes them."""
        self._new[key] = [_digest(messages), *(base64.b64encode(part).decode() for part in messages)]

    def save(self) -> None:
        """Write what is new, beside what the file holds by now; the oldest goes where there is no room."""
        if not self._new or self._path is None:
            return
        try:
            entries = {key: value for key, value in self._read().items() if key not in self._new} | self._new
            while len(content := json.dumps({"format": FORMAT, "curves": entries}).encode()) > MOST_BYTES:
                del entries[next(iter(entries))]
            self._write(content)
        except OSError as error:
            self._note(f"{self._shown}: nothing is cached: {error.strerror or error}")
        self._new = {}

    def _write(self, content: bytes) -> None:
        from tempfile import mkstemp

        assert self._path is not None
        if self._path.exists() and not self._path.is_file():
            raise OSError(None, "no regular file")
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, beside = mkstemp(prefix=".cache-", dir=self._path.parent)  # mode 0600
        try:
            with open(number, "wb") as file:
                file.write(content)
            os.replace(beside, self._path)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise

    def _read(self) -> dict[str, list[str]]:
        """What the file holds; nothing, where it is not one of ours."""
        try:
            document = json.loads(self._content())
            if document["format"] != FORMAT:
                return {}
            return {key: value for key, value in document["curves"].items() if _is_whole(value)}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}

    def _content(self) -> bytes:
        """The bytes of the file, or none. A pipe is not waited for, and an endless file not read."""
        if self._path is None:
            return b""
        try:
            with open(os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                found = os.fstat(file.fileno())
                return file.read() if stat.S_ISREG(found.st_mode) and found.st_size <= MOST_BYTES else b""
        except OSError:
            return b""


def _is_whole(value: Any) -> bool:
    """Whether an entry holds the messages that its first item is the digest of."""
    try:
        return bool(value[0] == _digest([base64.b64decode(part, validate=True) for part in value[1:]]))
    except (TypeError, IndexError, KeyError, ValueError, binascii.Error):
        return False


def _digest(messages: list[bytes]) -> str:
    whole = hashlib.sha256()
    for message in messages:
        whole.update(len(message).to_bytes(8, "big") + message)
    return whole.hexdigest()


class CachingTransport:
    """Another transport, and the cache before its GetMetrics. `address` tells one trainer from another."""

    def __init__(self, inner: Transport, cache: Cache, address: str) -> None:
        self._inner, self._cache, self._address = inner, cache, address
        self._completed: dict[str, str] = {}  # run id -> what the trainer said of it, in this command

    def unary(self, method: str, request: Message, reply: type[M], *, timeout: float) -> M:
        """The call itself. From GetRun's answer it is known which runs are there, and completed."""
        answer = self._inner.unary(method, request, reply, timeout=timeout)
        if method == "GetRun":
            self._remember(answer)
        else:
            self._completed.clear()  # another command's worth of calls: what was said may hold no more
        return answer

    def stream(self, method: str, request: Message, reply: type[M], *, timeout: float | None) -> Iterator[M]:
        """The call itself, or for the curves of a completed run what it answered before."""
        key = self._key(request) if method == "GetMetrics" else None
        if key is None:
            yield from self._inner.stream(method, request, reply, timeout=timeout)
            return
        kept = self._cache.get(key)
        if kept is not None:
            yield from (reply.FromString(content) for content in kept)
            return
        size, messages = 0, []
        for message in self._inner.stream(method, request, reply, timeout=timeout):
            if size <= MOST_OF_ONE:  # beyond it nothing is kept, and measuring a long curve costs as much as sending it
                content = message.SerializeToString()
                size += len(content)
                messages.append(content)
            yield message
        if size <= MOST_OF_ONE:
            self._cache.put(key, messages)

    def close(self) -> None:
        """Close the transport below, and write what is new."""
        self._inner.close()
        self._cache.save()

    def _remember(self, run: Any) -> None:
        self._completed.pop(run.run_id, None)
        if run.phase == "COMPLETED" and run.ended_at:
            said = [run.run_id, run.config_hash, run.created_at, run.started_at, run.ended_at, str(run.attempt)]
            self._completed[run.run_id] = "\n".join(said)

    def _key(self, request: Any) -> str | None:
        """The key of the curves asked for; None unless the run was just said to be completed, under its whole id."""
        said = self._completed.get(request.run_id)
        if said is None:
            return None
        asked = request.SerializeToString(deterministic=True)
        return hashlib.sha256(f"{self._address}\n{said}\n".encode() + asked).hexdigest()
