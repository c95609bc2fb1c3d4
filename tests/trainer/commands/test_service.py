"""`akka-trainer serve`, `start`, `stop`, `status` and `logs`: a service from start to end, in real processes."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import life
from support.answering import get, post
from support.commands import invoke
from support.trainer_program import ENDLESS, OPENING, Ended, TrainerProgram, finished

from akka_optimize.cli.app import App
from akka_optimize.protocol import SERVICE
from akka_optimize.trainer import slots
from akka_optimize.trainer import start as runs
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.processes import Process
from akka_optimize.trainer.service import background
from akka_optimize.wiring import build_trainer

TOKEN = "a-token-that-nobody-may-see"


@pytest.fixture
def program(tmp_path):
    """The program on a fresh home; whatever it left behind is ended with the test."""
    program = TrainerProgram(tmp_path / "home")
    yield program
    program.end()


def test_a_service_from_start_to_stop(program, capsys, tmp_path):
    """`start` prints the address once calls are answered, a second one starts nothing, `status` and `logs` tell of it,
    another service on the home is refused, `stop` ends it. The token is in no argument, no output and no file."""
    begun = program.run("start", "--port", "0", AKKA_TRAINER_TOKEN=TOKEN)
    address = begun.out.strip()
    found = background.running(program.home)
    assert begun.code == 0
    assert (found.address, found.state) == (address, background.READY)
    environ = {"TRAINER_URL": address, "AKKA_TRAINER_TOKEN": TOKEN, "HOME": str(tmp_path)}
    info = invoke(["training", "info", "--jq", ".backend"], app=App(build_trainer), environ=environ)
    assert (info.code, info.out) == (0, "server\n")
    del environ["AKKA_TRAINER_TOKEN"]
    assert invoke(["training", "info"], app=App(build_trainer), environ=environ).code == 4

    again = program("start", "--port", "0", capsys=capsys)
    assert (again.code, again.out.strip()) == (0, address)
    assert f"served already, by process {found.pid}" in again.err
    refused = program("serve", "--port", "0", capsys=capsys)
    assert refused.code == 1
    assert f"at {address} in process {found.pid}" in refused.err
    shown = program("status", capsys=capsys)
    assert shown.code == 0
    assert dict(line.split(None, 1) for line in shown.out.splitlines())["Address"] == address
    calls = logged(program, capsys, 2)
    assert [(call["method"].rpartition("/")[2], call["code"]) for call in calls] == [
        ("GetInfo", "ok"),
        ("GetInfo", "unauthenticated"),
    ]

    assert TOKEN.encode() not in Path(f"/proc/{found.pid}/cmdline").read_bytes()
    written = b"".join(path.read_bytes() for path in program.home.iterdir() if path.is_file())
    assert TOKEN.encode() not in written
    assert TOKEN not in begun.out + begun.err

    ended = program("stop", capsys=capsys)
    assert (ended.code, "has stopped" in ended.err) == (0, True)
    assert background.running(program.home) is None
    assert program("status", capsys=capsys).code == 1
    assert program("stop", capsys=capsys) == Ended(0, "", f"no trainer serves {program.home}; nothing was stopped\n")


def logged(program, capsys, calls):
    """The last lines of calls in the log, once there are as many; a caller has its answer before the line is there."""
    last = []

    def told():
        lines = program("logs", "--lines", str(calls), capsys=capsys).out.splitlines()
        last[:] = [json.loads(line) for line in lines if line.startswith("{")]
        return len(last) == calls

    life.until(told, "the calls in the log")
    return last


def test_of_several_starts_one_serves(program):
    """Started three times at once, one service answers, and everybody is told its address."""
    begun = [program.spawn("start", "--port", "0") for _ in range(3)]
    ended = [finished(process) for process in begun]
    assert [each.code for each in ended] == [0, 0, 0]
    assert {each.out.strip() for each in ended} == {background.running(program.home).address}


def test_a_working_directory_that_is_gone_is_told(tmp_path, monkeypatch, capsys):
    """A home below it cannot be named; one by its whole path can."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    ended = TrainerProgram(Path("home"))("status", capsys=capsys)
    assert (ended.code, "is there no more" in ended.err) == (2, True)
    assert TrainerProgram(tmp_path / "home")("status", capsys=capsys).code == 1


def test_a_stop_loses_nothing(program, monkeypatch):
    """Told to end, a service tells the worker, whose run is FAILED and resumable after its update; it ends with 0.
    What waited goes on waiting, and is carried out after the next start."""
    home, catalog = life.open_home(program.home.parent)
    program = TrainerProgram(home.path)
    with catalog:
        steps = {"config.hyperparams.training.maxSteps": 4000}
        first = runs.start(catalog, home, life.descriptor(steps))
        second = runs.start(catalog, home, life.descriptor({"config.hyperparams.training.maxSteps": 5}))
        with program.served(AKKA_ARITHMETIC_STEP_SECONDS="0.01") as service:
            life.until(lambda: catalog.run(first.run_id).observed_step > 0, "a first step")
            service.tell(signal.SIGTERM)
            assert service.finished().code == 0
        ended = catalog.run(first.run_id)
        assert (ended.phase, ended.failure_code, ended.resumable) == ("FAILED", "WORKER_STOPPED", True)
        assert catalog.run(second.run_id).phase == "QUEUED"
        with program.served() as service:
            life.until(lambda: catalog.run(second.run_id).phase == "COMPLETED", "the second run")
            service.tell(signal.SIGTERM)
            assert service.finished().code == 0


def test_killed_it_leaves_nothing_in_the_way(program, capsys):
    """After kill -9 nobody says that it runs, and the next one starts; Ctrl-C ends that one in order, with 130."""
    with program.served() as service:
        service.process.kill()
        service.finished()
        assert program("status", capsys=capsys).code == 1
    with program.served() as service:
        service.tell(signal.SIGINT)
        ended = service.finished()
    assert (ended.code, ended.err.splitlines()[-1]) == (128 + signal.SIGINT, "stopped")


@contextmanager
def in_a_call_without_end(home):
    """A service with a call that does not end, and a worker that hears no SIGTERM; the service and the worker."""
    deaf = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    opened = Home.open(home)
    with (
        subprocess.Popen([sys.executable, "-c", deaf], **pipes) as worker,
        TrainerProgram(home, ENDLESS).served() as service,
        slots.take(opened) as place,
        socket.create_connection(service.host.split(":")) as caller,
    ):
        worker.stdout.readline()
        slots.sign(place, Process.of(worker.pid))
        head = f"POST /{SERVICE}/GetRun HTTP/1.1\r\nhost: {service.host}\r\ncontent-type: application/json\r\n"
        caller.sendall(f"{head}content-length: 2\r\n\r\n{{}}".encode())
        life.until(lambda: "akka_trainer_open_calls 2.0" in get(service.host, "/metrics").text, "the call")
        yield service, worker
        worker.kill()


def test_a_second_signal_ends_it_at_once(program):
    """With a call and a worker that do not end, told once it goes on; told by another signal it ends with that one's
    code, its worker with it. No lock and no record is left, and the next one starts."""
    with in_a_call_without_end(program.home) as (service, worker):
        service.tell(signal.SIGTERM)
        life.until(lambda: background.running(program.home).state == background.STOPPING, "the first signal")
        assert (service.process.poll(), worker.poll()) == (None, None)
        service.tell(signal.SIGINT)
        ended = service.finished()
        assert (ended.code, "stopped" in ended.err) == (128 + signal.SIGINT, False)
        assert worker.wait(life.PATIENCE_SECONDS) == -signal.SIGKILL
    assert not (program.home / background.RECORD).exists()
    background.claim(Home(program.home)).release()
    with program.served() as service:
        assert service.process.poll() is None


def test_stop_now_ends_it_at_once(program, capsys):
    """The same by the command, which waits until it is so."""
    with in_a_call_without_end(program.home) as (service, worker):
        ended = program("stop", "--now", capsys=capsys)
        assert (ended.code, "has stopped" in ended.err) == (0, True)
        assert service.finished().code in (128 + signal.SIGINT, 128 + signal.SIGTERM)
        assert worker.wait(life.PATIENCE_SECONDS) == -signal.SIGKILL


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_start_can_be_ended(program, number, code):
    """While the home is being opened, one signal ends it at once: in order, and not by the name of calls at work."""
    with TrainerProgram(program.home, OPENING).spawn("serve", "--port", "0") as process:
        try:
            address = process.stderr.readline().strip().removeprefix("starting at http://")
            assert get(address, "/").status_code == 200
            process.send_signal(number)
            ended = finished(process)
        finally:
            process.kill()
    assert (ended.code, ended.err.splitlines()[-1]) == (code, "stopped before its home was open")
    assert background.running(program.home) is None


def test_a_damaged_catalog_is_told(program, capsys):
    """`serve` and `start` end with one sentence, the file is left as it is, and no service is on record."""
    home, catalog = life.open_home(program.home.parent)
    catalog.close()
    home.catalog.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    before = home.catalog.read_bytes()
    program = TrainerProgram(home.path)
    for ended in (program.run("serve", "--port", "0"), program("start", "--port", "0", capsys=capsys)):
        assert (ended.code, ended.out) == (1, "")
        assert [line for line in ended.err.splitlines() if line.startswith("Error: ") and str(home.catalog) in line]
        assert "Traceback" not in ended.err
    assert home.catalog.read_bytes() == before
    assert background.running(home.path) is None
    background.claim(home).release()


def test_it_outlives_whoever_read_what_it_says(program):
    """As after `akka-trainer serve 2>&1 | head -1`: nobody reads its words any more, and it serves, and ends with 0."""
    with program.spawn("serve", "--port", "0") as process:
        try:
            address = process.stderr.readline().strip().removeprefix("starting at http://")
            process.stderr.close()
            ready = background.READY
            life.until(lambda: getattr(background.running(program.home), "state", None) == ready, "it to be ready")
            assert get(address, "/").status_code == 200
            process.send_signal(signal.SIGTERM)
            assert process.wait(life.PATIENCE_SECONDS) == 0
        finally:
            process.kill()


def test_a_start_that_fails_says_why(program, capsys):
    """A catalog of a newer trainer: `start` ends with the sentence of the service, and nothing is left behind."""
    home, catalog = life.open_home(program.home.parent)
    catalog.close()
    program = TrainerProgram(home.path)
    with sqlite3.connect(home.catalog) as database:
        database.execute("INSERT INTO catalog_versions VALUES (999, 'later')")
    database.close()
    ended = program("start", "--port", "0", capsys=capsys)
    assert (ended.code, ended.out) == (1, "")
    assert "version 999, made by a newer akka-optimize" in ended.err
    assert background.running(home.path) is None


def test_a_taken_port_is_told(program, capsys):
    """Another program has the port: the port is named, and the home is left alone."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        for command in ("serve", "start"):
            ended = program(command, "--port", port, capsys=capsys)
            assert (ended.code, ended.out) == (1, "")
            assert f"cannot listen on port {port} of 127.0.0.1: address already in use" in ended.err


def test_others_are_not_served_without_a_token(program, capsys):
    """`serve --host 0.0.0.0` refuses to start, says why, and what to do."""
    ended = program("serve", "--host", "0.0.0.0", capsys=capsys)
    assert (ended.code, ended.out) == (1, "")
    assert "without a token every one of them may start and delete runs" in ended.err
    assert "--token-file" in ended.err


def test_a_service_that_is_starting_is_not_ready(program, tmp_path, capsys):
    """While the home is opened, `training info` shows what the start is at, and fails; every other command is told to
    try again; health is NOT_SERVING, and `status` says starting, and counts nothing."""
    with TrainerProgram(program.home, OPENING).spawn("serve", "--port", "0") as process:
        try:
            address = process.stderr.readline().strip().removeprefix("starting at ")
            environ = {"TRAINER_URL": address, "HOME": str(tmp_path)}
            info = invoke(["training", "info"], app=App(build_trainer), environ=environ)
            listed = invoke(["training", "runs", "list"], app=App(build_trainer), environ=environ)
            health = post(address.partition("//")[2], "/grpc.health.v1.Health/Check").json()
            shown = program("status", capsys=capsys)
        finally:
            process.kill()
    assert (info.code, "opening its home" in info.out) == (1, True)
    assert (listed.code, "the trainer is starting" in listed.err) == (3, True)
    assert health == {"status": "NOT_SERVING"}
    rows = dict(line.split(None, 1) for line in shown.out.splitlines())
    assert (shown.code, rows["State"], "Queued" in rows) == (0, "starting", False)


def test_logs_are_shown_from_their_end(program, capsys):
    """All, or the last lines; bytes go to a pipe as they are; no log is told."""
    missing = program("logs", capsys=capsys)
    assert (missing.code, "akka-trainer start" in missing.err) == (1, True)
    program.home.mkdir()
    (program.home / "service.log").write_bytes(b"one\ntwo\x1b[31m\nthree\n")
    assert program("logs", capsys=capsys).out == "one\ntwo\x1b[31m\nthree\n"
    assert program("logs", "--lines", "2", capsys=capsys).out == "two\x1b[31m\nthree\n"
    assert program("logs", "--lines", "0", capsys=capsys).out == ""


def test_a_log_is_followed_until_ctrl_c(program):
    """What is added is printed as it comes, and Ctrl-C ends it without a traceback."""
    program.home.mkdir()
    log = program.home / "service.log"
    log.write_text("one\n")
    with program.spawn("logs", "-f") as process:
        try:
            assert process.stdout.readline() == "one\n"
            with log.open("a") as file:
                file.write("two\n")
            assert process.stdout.readline() == "two\n"
            process.send_signal(signal.SIGINT)
            _, complaints = process.communicate(timeout=life.PATIENCE_SECONDS)
        finally:
            process.kill()
    assert (process.returncode, complaints.strip()) == (130, "")
