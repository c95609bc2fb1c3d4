"""Uploads in parts."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws

from akka_optimize import errors
from akka_optimize.trainer import uploads
from akka_optimize.trainer.home import Home

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
    with uploads.finished(home, ID, sha256(b"abcde")) as path:
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
    with uploads.finished(home, ID, sha256(data)) as path:
        assert path.read_bytes() == data


def test_an_upload_is_cleared_away_when_it_was_no_good(home: Home) -> None:
    """Whatever goes wrong with the file, it does not stay."""
    uploads.write(home, ID, 0, b"abc")
    with pytest.raises(errors.Invalid, match="line 1"), uploads.finished(home, ID, sha256(b"abc")):
        raise errors.Invalid("line 1: not JSON")
    assert os.listdir(home.uploads) == []


def test_a_damaged_upload_is_refused(home: Home) -> None:
    """Other bytes than were sent are never looked at; both digests are named."""
    uploads.write(home, ID, 0, b"abc")
    with pytest.raises(errors.Invalid, match=f"{sha256(b'abc')}, not {sha256(b'abd')}") as caught:  # noqa: SIM117
        with uploads.finished(home, ID, sha256(b"abd")):
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
    with uploads.finished(home, ID, sha256(b"abc")) as path:
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
    with pytest.raises(kind), uploads.finished(home, upload_id, digest):
        pytest.fail("looked at")


def test_stale_uploads_are_removed_on_opening(home: Home) -> None:
    """What nobody has written to for a day is gone when the home is next opened; younger ones stay."""
    for name, age in {"a" * 32: uploads.STALE_SECONDS + 60, "b" * 32: 60.0}.items():
        uploads.write(home, name, 0, b"abc")
        moment = (home.uploads / name).stat().st_mtime - age
        os.utime(home.uploads / name, (moment, moment))
    Home.open(home.path)
    assert os.listdir(home.uploads) == ["b" * 32]
