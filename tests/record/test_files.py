"""Only plain files are opened, whatever was put in their place since somebody looked."""

from __future__ import annotations

import hashlib
import os

import pytest

from akka_optimize.record import files


def test_a_link_is_not_opened(tmp_path):
    """Though what it leads to could be read."""
    (tmp_path / "file").write_text("content")
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(OSError, match="link"):
        files.opened(tmp_path / "link")


def test_a_pipe_is_not_waited_for(tmp_path):
    """Nobody writes to it."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(files.NotPlain):
        files.opened(tmp_path / "pipe")


@pytest.mark.parametrize("keep", [0, 6, 7, 8])
def test_a_file_is_seen_as_it_is(tmp_path, keep):
    """Digest and size are the same whether or not the bytes are kept, and they are kept up to the bound."""
    (tmp_path / "file").write_bytes(b"content")
    seen = files.seen(tmp_path / "file", keep=keep)
    assert (seen.digest, seen.size) == (hashlib.sha256(b"content").hexdigest(), 7)
    assert seen.content == (b"content" if keep >= 7 else None)
