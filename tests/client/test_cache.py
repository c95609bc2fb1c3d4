"""The cache file: what is kept, what never is, and that nothing about the file is an error."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from akka_optimize.client import cache as module
from akka_optimize.client.cache import FORMAT, MOST_OF_ONE, Cache, CachingTransport
from akka_optimize.protocol import trainer_pb2 as pb

RUN = "7d496e82c3a15f04"
COMPLETED = {"phase": "COMPLETED", "config_hash": "a", "created_at": "1", "started_at": "2", "ended_at": "3"}


def refuse(text):
    """Nothing is to be said."""
    raise AssertionError(text)


class Wire:
    """A trainer with one run; counts how often its curves are fetched."""

    def __init__(self, *, size: int = 1, **run: str | int) -> None:
        self.run = pb.Run(**({"run_id": RUN, "attempt": 1} | COMPLETED | run))
        self.chunks = [pb.MetricsChunk(steps=[step] * size) for step in (1, 2)]
        self.fetched = 0

    def unary(self, method: str, request: object, reply: type, *, timeout: float) -> pb.Run:
        return self.run

    def stream(self, method: str, request: object, reply: type, *, timeout: float | None) -> Iterator[pb.MetricsChunk]:
        self.fetched += 1
        yield from self.chunks

    def close(self) -> None:
        pass


def command(wire, file, *, address="http://a", asked=True, note=refuse, **request) -> list[pb.MetricsChunk]:
    """What one command sees of the curves; `asked`: whether it asks for the run first."""
    transport = CachingTransport(wire, Cache(str(file), note), address)
    if asked:
        transport.unary("GetRun", pb.GetRunRequest(run_id=RUN), pb.Run, timeout=1)
    wanted = pb.GetMetricsRequest(**({"run_id": RUN, "columns": ["loss"]} | request))
    seen = list(transport.stream("GetMetrics", wanted, pb.MetricsChunk, timeout=1))
    transport.close()
    return seen


@pytest.fixture
def file(tmp_path):
    """Where the cache is, in a folder that is not there yet."""
    return tmp_path / "akka" / "cache.yaml"


def test_the_curves_of_a_completed_run_are_fetched_once(file):
    """The second command gets the very messages; only the owner may read the file and its folder."""
    wire = Wire()
    assert [command(wire, file) for _ in range(2)] == [wire.chunks] * 2
    assert wire.fetched == 1
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]


def test_a_run_is_asked_for_each_time(file):
    """Without the trainer's word in the same command nothing is taken, so that a deleted run is never shown."""
    wire = Wire()
    command(wire, file)
    command(wire, file, asked=False)
    assert wire.fetched == 2


def test_a_word_holds_until_the_next_call_that_is_no_getrun(file):
    """After a deletion in the same command, what was said of the run counts no more."""
    wire = Wire()
    command(wire, file)
    transport = CachingTransport(wire, Cache(str(file), refuse), "http://a")
    transport.unary("GetRun", pb.GetRunRequest(run_id=RUN), pb.Run, timeout=1)
    transport.unary("DeleteRun", pb.DeleteRunRequest(run_id=RUN), pb.Run, timeout=1)
    list(transport.stream("GetMetrics", pb.GetMetricsRequest(run_id=RUN, columns=["loss"]), pb.MetricsChunk, timeout=1))
    assert wire.fetched == 2


@pytest.mark.parametrize("phase", ["QUEUED", "PREPARING", "TRAINING", "PAUSED", "FAILED", "CANCELLED"])
def test_a_run_that_may_still_change_is_not_kept(file, phase):
    """One that failed may be resumed; no file is even made."""
    wire = Wire(phase=phase)
    command(wire, file)
    assert not file.exists()


@pytest.mark.parametrize(
    ("address", "run", "asked"),
    [
        pytest.param("http://b", {}, {}, id="another-address"),
        pytest.param("http://a", {"created_at": "9"}, {}, id="another-run-of-the-same-id"),
        pytest.param("http://a", {"ended_at": "9"}, {}, id="another-end"),
        pytest.param("http://a", {"attempt": 2}, {}, id="another-attempt"),
        pytest.param("http://a", {"config_hash": "b"}, {}, id="another-plan"),
        pytest.param("http://a", {}, {"columns": ["loss", "gradNorm"]}, id="other-columns"),
        pytest.param("http://a", {}, {"last_steps": 1}, id="another-range"),
        pytest.param("http://a", {}, {"run_id": RUN[:8]}, id="a-prefix"),
    ],
)
def test_a_kept_curve_is_shown_for_nothing_else(file, address, run, asked):
    """Whatever differs in the trainer, in the run or in the question makes it another one."""
    command(Wire(), file)
    wire = Wire(**run)
    command(wire, file, address=address, **asked)
    assert wire.fetched == 1


def test_a_long_curve_is_fetched_each_time(file):
    """What is over the limit passes through whole, and is not kept."""
    wire = Wire(size=MOST_OF_ONE)
    assert command(wire, file) == wire.chunks
    assert not file.exists()


def test_a_curve_that_broke_off_is_not_kept(file):
    """Only what was read to its end is whole."""
    wire = Wire()
    transport = CachingTransport(wire, Cache(str(file), refuse), "http://a")
    transport.unary("GetRun", pb.GetRunRequest(run_id=RUN), pb.Run, timeout=1)
    next(transport.stream("GetMetrics", pb.GetMetricsRequest(run_id=RUN), pb.MetricsChunk, timeout=1))
    transport.close()
    assert not file.exists()


def test_the_oldest_goes_where_there_is_no_room(file, monkeypatch):
    """The file stays below its bound, and holds what came last."""
    monkeypatch.setattr(module, "MOST_BYTES", 2000)
    for number in range(30):
        cache = Cache(str(file), refuse)
        cache.put(f"key-{number}", [b"x" * 90])
        cache.save()
    assert file.stat().st_size <= 2000
    held = [number for number in range(30) if Cache(str(file), refuse).get(f"key-{number}")]
    assert held == list(range(held[0], 30))
    assert len(held) > 3


BROKEN = {
    "empty": b"",
    "no-text": b"\xff\x00",
    "somebody-elses": b"contexts:\n  a: b\n",
    "a-number": b"3",
    "older": b'{"format": "akka-optimize curves 0", "curves": {"k": []}}',
    "nested": b"[" * 100_000,
    "no-mapping": json.dumps({"format": FORMAT, "curves": [1]}).encode(),
    "no-entries": json.dumps({"format": FORMAT, "curves": {"a": 1, "b": [], "c": ["x", "%"], "d": None}}).encode(),
    "too-large": b" " * (5 << 20),
}  # fmt: skip


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_ignored_and_written_anew(file, content):
    """Whatever stands there; the next command finds the curve, and nothing is said."""
    file.parent.mkdir()
    file.write_bytes(content)
    wire = Wire()
    command(wire, file)
    assert command(wire, file) == wire.chunks
    assert wire.fetched == 1


def test_a_changed_byte_never_becomes_an_answer(file):
    """Wherever the file is damaged, what comes out is what the trainer sent."""
    wire = Wire()
    command(wire, file)
    whole = file.read_bytes()
    for at in range(len(whole)):
        for byte in b"AB":
            file.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
            assert command(wire, file) == wire.chunks


def test_a_file_that_cannot_be_written_is_told_of_and_no_more(tmp_path):
    """A folder in its place, a pipe, a file for its folder: the command works, and they stay what they are."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "plain").write_text("x")
    for name in ("folder", "pipe", "plain/cache", "x" * 300):
        said: list[str] = []
        wire = Wire()
        assert command(wire, tmp_path / name, note=said.append) == wire.chunks
        assert [": nothing is cached: " in text for text in said] == [True], name
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe", "plain"]


def test_without_a_home_nothing_is_cached(monkeypatch):
    """And nothing is said: nobody asked for a cache."""
    monkeypatch.setenv("HOME", "")
    wire = Wire()
    transport = CachingTransport(wire, Cache(None, refuse), "http://a")
    transport.unary("GetRun", pb.GetRunRequest(run_id=RUN), pb.Run, timeout=1)
    assert list(transport.stream("GetMetrics", pb.GetMetricsRequest(run_id=RUN), pb.MetricsChunk, timeout=1))
    transport.close()


def test_a_link_stays_a_link(tmp_path):
    """What it points to is replaced, and not the link."""
    (tmp_path / "link").symlink_to(tmp_path / "real")
    command(Wire(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").is_file()


WRITER = """
import sys
from akka_optimize.client.cache import Cache
path, name = sys.argv[1:]
def refuse(text): raise AssertionError(text)
print("ready", flush=True); sys.stdin.readline()
for number in range(60):
    cache = Cache(path, refuse)
    cache.put(f"{name}-{number}", [name.encode() * 2000])
    cache.save()
    found = Cache(path, refuse)
    for other in ("a", "b"):
        for n in range(60):
            assert found.get(f"{other}-{n}") in (None, [other.encode() * 2000])
"""


def test_two_processes_may_write_at_once(file):
    """No reader ever sees a torn file, none is left without one, and what came last is there."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b")
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    ended = []
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        ended.append((writer.returncode, err))
    assert ended == [(0, "")] * 2
    found = Cache(str(file), refuse)
    assert found.get("a-59") or found.get("b-59")
    assert [path.name for path in Path(file.parent).iterdir()] == ["cache.yaml"]
