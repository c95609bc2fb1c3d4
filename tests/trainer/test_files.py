"""Files that are whole or not there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from akka_optimize import errors
from akka_optimize.trainer import files


def test_installing_is_in_an_order_that_survives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes are on the disk before the name is, and the name before anybody is told."""
    done: list[str] = []
    flush, rename = os.fsync, Path.replace

    def recorded_flush(descriptor: int) -> None:
        done.append(f"flush {Path(os.readlink(f'/proc/self/fd/{descriptor}')).name}")
        flush(descriptor)

    def recorded_rename(path: Path, place: Path) -> Path:
        done.append("rename")
        return rename(path, place)

    monkeypatch.setattr(os, "fsync", recorded_flush)
    monkeypatch.setattr(Path, "replace", recorded_rename)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "beside").write_text("new")
    (folder / "place").write_text("old")
    files.install(folder / "beside", folder / "place")
    assert done == ["flush beside", "rename", "flush folder"]
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"place": "new"}


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        pytest.param(errno.ENOSPC, errors.Exhausted, id="disk-full"),
        pytest.param(errno.EDQUOT, errors.Exhausted, id="quota"),
        pytest.param(errno.EFBIG, errors.Exhausted, id="file-limit"),
        pytest.param(errno.EACCES, errors.Refused, id="not-allowed"),
        pytest.param(errno.EROFS, errors.Refused, id="read-only"),
        pytest.param(errno.EIO, errors.Refused, id="broken-disk"),
    ],
)
def test_what_the_system_refuses(number: int, kind: type[errors.AkkaError]) -> None:
    """No room is one error and everything else another; both name the path and the system's reason."""
    with (
        pytest.raises(kind, match=f"^/some/path can.*: {os.strerror(number).lower()}$"),
        files.translated("/some/path"),
    ):
        raise OSError(number, os.strerror(number))
