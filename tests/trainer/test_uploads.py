"""Uploads in parts."""

from __future__ import annotations

import hashlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws

from akka_optimize import errors
from akka_optimize.trainer import uploads
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.uploads import Upload

ID = "0123456789abcdef" * 2


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home."""
    return Home.open(tmp_path / "home")


def sha256(data: bytes) -> str:
    """The digest that goes with an upload."""
    return hashlib.sha256(data).hexdigest()


def test_parts_become_the_file(home: Home) -> None:
    """Parts sent in order add up, and the file is there while it is looked at and not afterwards."""
    assert uploads.write(home, ID, 0, b"abc") == 3
    assert uploads.write(home, ID, 3, b"de") == 5
    with uploads.finished(home, Upload(ID, sha256(b"abcde"))) as path:
        assert path.read_bytes() == b"abcde"
    assert os.listdir(home.uploads) == []


@laws
@given(data=st.binary(max_size=40), cuts=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8))
def test_resent_parts_change_nothing(tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list) -> None:
    """Whichever parts of the data are sent again, and however they overlap, the data arrives."""
    home = Home.open(tmp_path_factory.mktemp("uploads") / "home")
    held = uploads.write(home, ID, 0, b"")
    for start, length in [*cuts, (0, len(data))]:
        part = data[min(start, held) :][:length]
        held = uploads.write(home, ID, min(start, held), part)
    with uploads.finished(home, Upload(ID, sha256(data))) as path:
        assert path.read_bytes() == data


def test_an_upload_is_cleared_away_when_it_was_no_good(home: Home) -> None:
    """Whatever goes wrong with the file, it does not stay."""
    uploads.write(home, ID, 0, b"abc")
    with pytest.raises(errors.Invalid, match="line 1"), uploads.finished(home, Upload(ID, sha256(b"abc"))):
        raise errors.Invalid("line 1: not JSON")
    assert os.listdir(home.uploads) == []


def test_a_damaged_upload_is_refused(home: Home) -> None:
    """Other bytes than were sent are never looked at; both digests are named."""
    uploads.write(home, ID, 0, b"abc")
    with pytest.raises(errors.Invalid, match=f"{sha256(b'abc')}, not {sha256(b'abd')}") as caught:  # noqa: SIM117
        with uploads.finished(home, Upload(ID, sha256(b"abd"))):
            pytest.fail("looked at")
    assert caught.value.field == "sha256"


@pytest.mark.parametrize(
    ("upload_id", "offset", "data", "kind", "field"),
    [
        pytest.param("../../etc/passwd", 0, b"", errors.Invalid, "uploadId", id="path-as-id"),
        pytest.param(ID.upper(), 0, b"", errors.Invalid, "uploadId", id="upper-case-id"),
        pytest.param(ID + "\n", 0, b"", errors.Invalid, "uploadId", id="newline-after-id"),
        pytest.param("", 0, b"", errors.Invalid, "uploadId", id="empty-id"),
        pytest.param(ID, -1, b"", errors.Invalid, "offset", id="negative-offset"),
        pytest.param(ID, 4, b"x", errors.Invalid, "offset", id="gap"),
        pytest.param(ID, 1, b"xx", errors.Conflict, "data", id="other-bytes"),
        pytest.param(ID, 0, bytes(uploads.PART_LIMIT + 1), errors.Invalid, "data", id="part-too-large"),
        pytest.param(ID, uploads.LIMIT, b"x", errors.Exhausted, None, id="beyond-the-limit"),
        pytest.param(ID, 2**62, b"x", errors.Exhausted, None, id="far-beyond-the-limit"),
    ],
)
def test_a_bad_part_changes_nothing(
    home: Home, upload_id: str, offset: int, data: bytes, kind: type[errors.AkkaError], field: str | None
) -> None:
    """A part that cannot be right is refused with the field named, and what had arrived stands."""
    uploads.write(home, ID, 0, b"abc")
    with pytest.raises(kind) as caught:
        uploads.write(home, upload_id, offset, data)
    assert caught.value.field == field
    with uploads.finished(home, Upload(ID, sha256(b"abc"))) as path:
        assert path.read_bytes() == b"abc"


@pytest.mark.parametrize(
    ("upload_id", "digest", "kind"),
    [
        pytest.param("f" * 32, "0" * 64, errors.NotFound, id="unknown"),
        pytest.param("no id", "0" * 64, errors.Invalid, id="no-id"),
        pytest.param(ID, "0" * 63, errors.Invalid, id="no-digest"),
    ],
)
def test_what_cannot_be_finished(home: Home, upload_id: str, digest: str, kind: type[errors.AkkaError]) -> None:
    """An upload that is not there, and words that are no id or digest, are told apart."""
    with pytest.raises(kind), uploads.finished(home, Upload(upload_id, digest)):
        pytest.fail("looked at")


def test_stale_uploads_are_removed_on_opening(home: Home) -> None:
    """What nobody has written to for a day is gone when the home is next opened; younger ones stay."""
    for name, age in {"a" * 32: uploads.STALE_SECONDS + 60, "b" * 32: 60.0}.items():
        uploads.write(home, name, 0, b"abc")
        moment = (home.uploads / name).stat().st_mtime - age
        os.utime(home.uploads / name, (moment, moment))
    Home.open(home.path)
    assert os.listdir(home.uploads) == ["b" * 32]


def unfinished(home: Home, count: int, data: bytes = b"abc", age: float = 0.0) -> list[str]:
    """This many unfinished uploads, not written to for `age` seconds; their ids."""
    ids = [f"{number:032x}" for number in range(count)]
    for upload_id in ids:
        (home.uploads / upload_id).write_bytes(data)
        moment = (home.uploads / upload_id).stat().st_mtime - age
        os.utime(home.uploads / upload_id, (moment, moment))
    return ids


def test_unfinished_uploads_are_counted(home: Home) -> None:
    """One more than there may be is refused, and those that are there go on; one that is finished makes room."""
    first, *others = unfinished(home, uploads.MOST_UPLOADS)
    with pytest.raises(errors.Exhausted, match="32 uploads are held already") as caught:
        uploads.write(home, ID, 0, b"abc")
    assert caught.value.field == "uploadId"
    assert uploads.write(home, others[0], 3, b"de") == 5
    with uploads.finished(home, Upload(first, sha256(b"abc"))):
        pass
    assert uploads.write(home, ID, 0, b"abc") == 3


def test_the_bytes_of_unfinished_uploads_are_counted(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that goes beyond what they may hold together is refused, and its upload makes room for the others."""
    monkeypatch.setattr(uploads, "MOST_BYTES", 100)
    unfinished(home, 3, bytes(30))
    assert uploads.write(home, ID, 0, bytes(10)) == 10
    with pytest.raises(errors.Exhausted, match="no room for the upload"):
        uploads.write(home, ID, 10, b"x")
    assert ID not in os.listdir(home.uploads)


@pytest.mark.parametrize(("age", "makes_room"), [(uploads.IDLE_SECONDS + 60, True), (uploads.IDLE_SECONDS - 60, False)])
def test_abandoned_uploads_give_way(home: Home, age: float, makes_room: bool) -> None:
    """Where there is no room, those that nobody has written to for a while are removed, and younger ones are not."""
    ids = unfinished(home, uploads.MOST_UPLOADS, age=age)
    if makes_room:
        uploads.write(home, ID, 0, b"abc")
        assert os.listdir(home.uploads) == [ID]
    else:
        with pytest.raises(errors.Exhausted):
            uploads.write(home, ID, 0, b"abc")
        assert sorted(os.listdir(home.uploads)) == ids


def test_stale_uploads_are_removed_while_the_home_is_open(home: Home) -> None:
    """A service that is never restarted clears away what is a day old when the next upload begins."""
    unfinished(home, 2, age=uploads.STALE_SECONDS + 60)
    uploads.write(home, ID, 0, b"abc")
    assert os.listdir(home.uploads) == [ID]


def test_many_uploads_that_begin_at_once_are_counted_one_by_one(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more than there may be, however many threads try: none is counted before the one before it is there."""
    unfinished(home, uploads.MOST_UPLOADS - 3)
    counted, meeting = uploads._require_room, threading.Barrier(4)

    def hesitating(*arguments: Any, **options: Any) -> None:
        counted(*arguments, **options)
        with suppress(threading.BrokenBarrierError):
            meeting.wait(timeout=0.1)  # for others that were counted at the same moment

    monkeypatch.setattr(uploads, "_require_room", hesitating)

    def begin(number: int) -> bool:
        try:
            uploads.write(home, f"{number:032x}", 0, b"abc")
        except errors.Exhausted:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(begin, range(100, 116))) == 3
    assert len(os.listdir(home.uploads)) == uploads.MOST_UPLOADS
