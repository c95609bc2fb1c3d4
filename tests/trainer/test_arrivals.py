"""Files of runs' records that arrive in parts."""

from __future__ import annotations

import os
import shutil
import time
from collections import namedtuple
from pathlib import Path

import pytest

from akka_optimize import errors
from akka_optimize.trainer import arrivals, uploads
from akka_optimize.trainer.home import Home

ID = "0123456789abcdef" * 2
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home."""
    return Home.open(tmp_path / "home")


def test_parts_become_the_file_and_again_change_nothing(home: Home) -> None:
    """As with any upload; an empty part makes an empty file."""
    assert arrivals.write(home, ID, 0, b"") == 0
    assert arrivals.place(home, ID).read_bytes() == b""
    assert arrivals.write(home, ID, 0, b"abc") == 3
    assert arrivals.write(home, ID, 1, b"bcd") == 4
    assert arrivals.place(home, ID).read_bytes() == b"abcd"
    with pytest.raises(errors.Conflict):
        arrivals.write(home, ID, 0, b"x")
    arrivals.drop(home, ID)
    arrivals.drop(home, ID)
    assert os.listdir(arrivals.folder(home)) == []


def test_they_are_apart_from_datasets(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither takes the other's room or name: a file may be larger than all datasets together, and many may wait."""
    monkeypatch.setattr(uploads, "LIMIT", 10)
    monkeypatch.setattr(uploads, "MOST_BYTES", 10)
    for number in range(uploads.MOST_UPLOADS + 1):
        arrivals.write(home, f"{number:032x}", 0, bytes(100))
    assert uploads.write(home, f"{0:032x}", 0, b"abc") == 3
    assert arrivals.place(home, f"{0:032x}").stat().st_size == 100
    assert (home.uploads / f"{0:032x}").read_bytes() == b"abc"


@pytest.mark.parametrize(
    ("upload_id", "offset", "data", "field"),
    [
        ("../../etc/passwd", 0, b"x", "uploadId"),
        (ID, -1, b"x", "offset"),
        (ID, 7, b"x", "offset"),
        (ID, 2**62, b"x", "offset"),
        (ID, 0, bytes(uploads.PART_LIMIT + 1), "data"),
    ],
)
def test_a_bad_part_changes_nothing(home: Home, upload_id: str, offset: int, data: bytes, field: str) -> None:
    """Refused with the field named."""
    arrivals.write(home, ID, 0, b"abc")
    with pytest.raises(errors.Invalid) as caught:
        arrivals.write(home, upload_id, offset, data)
    assert caught.value.field == field
    assert arrivals.place(home, ID).read_bytes() == b"abc"


def test_room_is_kept_for_runs(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that would take the last of the disk is refused, and its file goes, for it can never be whole."""
    arrivals.write(home, ID, 0, b"abc")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(0, 0, arrivals.KEPT_FREE + 2))
    assert arrivals.write(home, ID, 3, b"de") == 5
    with pytest.raises(errors.Exhausted, match="256 MiB are kept for its runs"):
        arrivals.write(home, ID, 5, b"xyz")
    assert not arrivals.place(home, ID).exists()


def test_files_are_counted(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more than may wait is refused, and those that are there go on."""
    monkeypatch.setattr(arrivals, "MOST", 2)
    for number in range(2):
        arrivals.write(home, f"{number:032x}", 0, b"abc")
    with pytest.raises(errors.Exhausted, match="2 wait already"):
        arrivals.write(home, ID, 0, b"abc")
    assert arrivals.write(home, f"{0:032x}", 3, b"d") == 4


def test_what_is_a_day_old_goes(home: Home) -> None:
    """Files, and what an import that died was putting together; when the home is opened, and when another arrives."""
    old = time.time() - uploads.STALE_SECONDS - 60
    for opens in (True, False):
        arrivals.write(home, ID, 0, b"abc")
        arrivals.write(home, "f" * 32, 0, b"abc")
        (arrivals.folder(home) / "x.import" / "y").mkdir(parents=True)
        for name in (ID, "x.import"):
            os.utime(arrivals.folder(home) / name, (old, old))
        if opens:
            Home.open(home.path)
        else:
            arrivals.write(home, "e" * 32, 0, b"abc")
        assert set(os.listdir(arrivals.folder(home))) <= {"f" * 32, "e" * 32}
