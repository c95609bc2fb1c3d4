"""What a service leaves in its home."""

from __future__ import annotations

import dataclasses
import json
import os

import pytest

from akka_optimize import errors
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.processes import Process
from akka_optimize.trainer.service import background


@pytest.fixture
def home(tmp_path):
    """A fresh home."""
    return Home.open(tmp_path / "home")


@pytest.fixture
def record():
    """A service in this process."""
    itself = Process.of(os.getpid())
    return background.Record(itself.pid, itself.born, "http://127.0.0.1:9", "2026-01-01T00:00:00Z", background.READY)


def test_one_home_has_one_service(home, record):
    """Whoever comes second is told the first one's address and process; after its end the place is free."""
    with background.claim(home):
        background.write(home, record)
        with pytest.raises(errors.Conflict, match=f"at http://127.0.0.1:9 in process {os.getpid()}"):
            background.claim(home)
        background.erase(home)
        with pytest.raises(errors.Conflict, match="just begun"):
            background.claim(home)
    background.claim(home).release()


def test_a_service_is_found_while_its_process_lives(home, record):
    """The record says where it is; another process that got the same number later is not taken for it."""
    assert background.running(home.path) is None
    background.write(home, record)
    assert background.running(home.path) == record
    background.write(home, dataclasses.replace(record, born="another time"))
    assert background.running(home.path) is None


BROKEN = {
    "empty": "",
    "no-json": "{",
    "a-list": "[]",
    "too-little": '{"pid": 2}',
    "no-number": json.dumps({"pid": "x", "born": "", "address": "", "started": "", "state": ""}),
    "nobody": json.dumps({"pid": 1, "born": "", "address": "", "started": "", "state": ""}),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_no_service(home, content):
    """Whatever the file holds, nobody is taken for a service that is none."""
    (home.path / background.RECORD).write_text(content)
    assert background.running(home.path) is None


def test_a_log_that_has_grown_is_put_aside(home, monkeypatch):
    """The next start begins a new file, and the old one stays beside it."""
    monkeypatch.setattr(background, "MOST_LOG_BYTES", 4)
    for text in (b"long enough", b"new"):
        descriptor = background.open_log(home)
        os.write(descriptor, text)
        os.close(descriptor)
    assert (home.path / "service.log").read_bytes() == b"new"
    assert (home.path / "service.log.1").read_bytes() == b"long enough"
