"""A file on its way to the trainer: read twice, in bounded memory, and never half."""

from __future__ import annotations

import hashlib
import io
import os
import threading
import tracemalloc

import pytest

from akka_optimize import errors
from akka_optimize.client import uploads
from akka_optimize.client.trainer import Trainer

MIB = 2**20


class Recorder:
    """A transport that takes everything; `before` is called with each request."""

    def __init__(self, before=lambda _request: None):
        self.before, self.sent = before, []

    def unary(self, method, request, reply, *, timeout):
        self.before(request)
        self.sent.append((method, request))
        return reply()


def upload(source, transport):
    """Upload from a source under the name `rows`."""
    return Trainer(transport, timeout=5).create_dataset(source, name="rows")


def whole(transport):
    """The bytes that were sent, and the request that closed them."""
    *parts, (method, closing) = transport.sent
    assert method == "CreateDataset"
    data = b""
    for method, part in parts:
        assert (method, part.offset, part.upload_id) == ("WriteUpload", len(data), closing.upload_id)
        assert 0 < len(part.data) <= MIB
        data += part.data
    return data, closing


@pytest.mark.parametrize("size", [1, MIB - 1, MIB, MIB + 1, 3 * MIB + 5])
@pytest.mark.parametrize("piped", [False, True], ids=["file", "pipe"])
def test_parts_of_a_mebibyte_with_the_hash_of_all(tmp_path, size, piped):
    """Whatever the bytes come through, they are sent once and in order, and the hash is that of all of them."""
    data = os.urandom(size)
    transport = Recorder()
    if piped:
        reading, writing = os.pipe()

        def feed():
            with open(writing, "wb") as out:
                out.write(data)

        feeder = threading.Thread(target=feed)
        feeder.start()
        with open(reading, "rb") as source:
            upload(source, transport)
        feeder.join()
    else:
        (tmp_path / "rows").write_bytes(data)
        with open(tmp_path / "rows", "rb") as source:
            upload(source, transport)
    sent, closing = whole(transport)
    assert sent == data
    assert (closing.sha256, closing.name) == (hashlib.sha256(data).hexdigest(), "rows")


def test_a_file_is_taken_from_where_it_stands():
    """What was read of it before is no part of the upload."""
    source, transport = io.BytesIO(b"skipped rows"), Recorder()
    source.seek(8)
    upload(source, transport)
    assert whole(transport)[0] == b"rows"


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Forty mebibytes take a few parts' room."""
    with open(tmp_path / "rows", "wb") as file:
        file.truncate(40 * MIB)

    class Forgetful(Recorder):
        def unary(self, method, request, reply, *, timeout):
            return reply()

    with open(tmp_path / "rows", "rb") as source:
        tracemalloc.start()
        upload(source, Forgetful())
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 8 * MIB


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        pytest.param(io.BytesIO(), errors.Invalid, "the file is empty", id="empty"),
        pytest.param(io.BytesIO(bytes(uploads.MOST_BYTES + 1)), errors.Exhausted, "64 MiB", id="too-large"),
    ],
)
@pytest.mark.parametrize("seekable", [True, False])
def test_a_file_that_cannot_be_a_dataset_is_not_sent(source, kind, words, seekable):
    """It is refused before the first part."""
    source.seek(0)
    piped = source if seekable else Pipe(source)
    transport = Recorder()
    with pytest.raises(kind, match=words):
        upload(piped, transport)
    assert transport.sent == []


class Pipe(io.RawIOBase):
    """Bytes that come once."""

    def __init__(self, source):
        self.read = source.read

    def seekable(self):
        return False


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda file: (file.seek(2 * MIB), file.write(b"x")), id="other-bytes"),
        pytest.param(lambda file: (file.seek(0, 2), file.write(b"more")), id="longer"),
        pytest.param(lambda file: file.truncate(2 * MIB), id="shorter"),
    ],
)
def test_a_file_that_changes_meanwhile_is_told(tmp_path, change):
    """Between the two readings: nothing is registered, and the error says why."""
    path = tmp_path / "rows"
    path.write_bytes(bytes(3 * MIB))
    changed = []

    def writer(request):
        if not changed:
            changed.append(request)
            with open(path, "r+b") as file:
                change(file)

    transport = Recorder(writer)
    with open(path, "rb") as source, pytest.raises(errors.Invalid, match="changed while it was uploaded"):
        upload(source, transport)
    assert {method for method, _ in transport.sent} == {"WriteUpload"}
