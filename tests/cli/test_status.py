"""`status`: always 0, whatever it finds."""

from __future__ import annotations

import json
import socket

import pytest
from support.commands import invoke
from support.service import served

from akka_optimize.cli.app import App
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.wiring import build_services, build_trainer


class Trainer:
    """A servicer that says who it is."""

    def GetInfo(self, request, context):
        return pb.Info(backend="server", version="9.9.9", startup="complete")


@pytest.fixture
def free():
    """The address of a port that is ours, and on which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder without a configuration."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def status(argv="", **environ):
    """The command over the real wiring."""
    return invoke(["status", *argv.split()], app=App(build_trainer, build_services=build_services), environ=environ)


def found(ended):
    """What it says of each service, by name."""
    assert ended.code == 0, ended.err
    return {each["name"]: each for each in json.loads(ended.out)["services"]}


@pytest.mark.parametrize("web", ["", "--use-grpc-web"])
def test_one_is_there_and_one_is_not(home, free, web):
    """Both are told, with exit 0; what answers has a time, the other one a reason."""
    with served(Trainer()) as host:
        services = found(status(f"-o json {web}", TRAINER_URL=f"http://{host}", OPTIMIZE_URL=free))
    trainer, optimize = services["trainer"], services["optimize"]
    assert (trainer["answers"], trainer["version"], trainer["source"]) == (True, "9.9.9", "TRAINER_URL")
    assert trainer["milliseconds"] > 0
    assert (optimize["answers"], optimize["milliseconds"], optimize["source"]) == (False, None, "OPTIMIZE_URL")
    assert optimize["message"] == f"nothing answers at {free}"


@pytest.mark.parametrize("web", ["", "--use-grpc-web"])
def test_anything_that_answers_answers(home, free, web):
    """A server that is no Optimize service is there all the same."""
    with served(Trainer()) as host:
        services = found(status(f"-o json --url http://{host} {web}", TRAINER_URL=free))
    assert services["optimize"]["answers"] is True
    assert services["trainer"]["answers"] is False


def test_an_embedded_trainer_needs_no_network(home, tmp_path):
    """`local:` answers from this process, and only what has an address is asked beside it."""
    services = found(status("-o json", TRAINER_URL=f"local:{tmp_path / 'runs'}"))
    assert list(services) == ["trainer"]
    assert services["trainer"]["answers"] is True


def test_text_has_a_line_for_each(home, free):
    """Heading, trainer, Optimize."""
    ended = status(TRAINER_URL=free, OPTIMIZE_URL=free)
    assert ended.code == 0
    assert [line.split()[:4] for line in ended.out.splitlines()] == [
        ["SERVICE", "ADDRESS", "FROM", "ANSWERS"],
        ["trainer", free, "TRAINER_URL", "no"],
        ["optimize", free, "OPTIMIZE_URL", "no"],
    ]


def test_jq_and_json_work_as_everywhere(home, free):
    """A list under one key, its items limited to the fields asked for."""
    assert status("--jq .services[0].answers", TRAINER_URL=free, OPTIMIZE_URL=free).out == "false\n"
    ended = status("-o json-compact --json name,answers", TRAINER_URL=free, OPTIMIZE_URL=free)
    assert json.loads(ended.out)["services"][1] == {"name": "optimize", "answers": False}


def test_verbose_has_a_line_for_each_call(home, free):
    """Nothing is tried twice."""
    app = App(build_trainer, build_services=lambda settings, warn: build_services(settings, warn, app.console.say))
    ended = invoke(["status", "--verbose"], app=app, environ={"TRAINER_URL": free, "OPTIMIZE_URL": free})
    assert sorted(line.split()[0] for line in ended.err.splitlines()) == ["Check", "GetInfo"]
    assert all(": Unreachable, " in line and line.endswith(" ms, 1 try") for line in ended.err.splitlines())


@pytest.mark.parametrize(
    ("argv", "environ"),
    [
        ("--url local:", {}),
        ("--trainer-url nonsense", {}),
        ("--context x", {}),
        ("--config missing.yaml", {}),
        ("--region -", {}),
        ("extra", {}),
        ("", {"OPTIMIZE_URL": "nonsense"}),
        ("--region eu", {"TRAINER_URL": "local:"}),
    ],
)
def test_wrong_usage_is_still_wrong_usage(home, argv, environ):
    """Exit 2, before anybody is asked."""
    ended = status(argv, **environ)
    assert (ended.code, ended.out) == (2, "")


def test_a_token_that_is_missing_is_found(home, free):
    """It is what the status is for: the line says so, the token of nobody is shown, exit 0."""
    (home / ".akka").mkdir()
    (home / ".akka" / "config.yaml").write_text(
        f"currentContext: a\ncontexts: {{a: {{trainerUrl: '{free}', optimizeUrl: '{free}', tokenFile: t, region: eu}}}}"
    )
    trainer = found(status("-o json"))["trainer"]
    assert trainer["message"].startswith(f"{home}/.akka/t: no such file, where the token of the context a in ")
    assert (trainer["source"], trainer["region"]) == ("context a in ~/.akka/config.yaml", "eu")
