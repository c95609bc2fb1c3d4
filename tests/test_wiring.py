"""Which address, context, token and transport hold, for each way to state them."""

from __future__ import annotations

from typing import Any

import pytest

from akka_optimize import errors, wiring
from akka_optimize.cli.settings import resolve

FILE = """
currentContext: team
contexts:
  team: {trainerUrl: "https://team:1", optimizeUrl: "https://other:2", tokenFile: t, ca: ca.pem, region: eu}
  near: {trainerUrl: "local:", region: us}
  bare: {tokenFile: t}
"""
DEFAULT = "http://localhost:9001"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder with a configuration and a token, and no variable of ours."""
    for name in ("TRAINER_URL", "AKKA_OPTIMIZE_URL", "OPTIMIZE_URL", "AKKA_CONTEXT", "AKKA_TRAINER_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".akka").mkdir()
    (tmp_path / ".akka" / "config.yaml").write_text(FILE)
    (tmp_path / ".akka" / "t").write_text("secret")
    (tmp_path / ".akka" / "t").chmod(0o600)
    return tmp_path


@pytest.fixture
def built(home, monkeypatch):
    """What each transport was made with: its arguments, and a folder for one in this process."""
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(wiring, "_network", lambda web, **parts: made.append({"web": web} | parts))
    monkeypatch.setattr(wiring, "_embedded", lambda folder, _: made.append({"folder": folder}))
    return made


def refuse(text):
    """Nothing is to be warned of."""
    raise AssertionError(text)


def typed(line):
    """Options as the command line has them: `--trainer-url=x --context=y` -> settings."""
    pairs = (word.removeprefix("--").partition("=")[::2] for word in line.split())
    return resolve({name.replace("-", "_"): value or True for name, value in pairs}, {})


TRAINER = [
    # typed, environment -> address or folder, token, ca, region
    ("", {}, "https://team:1", "secret", "ca.pem", "eu"),
    ("", {"TRAINER_URL": "", "AKKA_OPTIMIZE_URL": "", "AKKA_CONTEXT": ""}, "https://team:1", "secret", "ca.pem", "eu"),
    ("", {"AKKA_CONTEXT": "bare"}, DEFAULT, "secret", None, None),
    ("--context=team", {"AKKA_CONTEXT": "bare"}, "https://team:1", "secret", "ca.pem", "eu"),
    ("", {"TRAINER_URL": "http://set"}, "http://set", None, None, None),
    ("", {"AKKA_OPTIMIZE_URL": "http://set"}, "http://set", None, None, None),
    ("--config=~/.akka/config.yaml", {"TRAINER_URL": "http://set"}, "http://set", None, None, None),
    ("", {"TRAINER_URL": "http://a", "AKKA_OPTIMIZE_URL": "http://b"}, "http://a", None, None, None),
    ("--trainer-url=http://typed", {"TRAINER_URL": "http://set"}, "http://typed", None, None, None),
    ("--trainer-url=http://typed", {"AKKA_CONTEXT": "team"}, "http://typed", None, None, None),
    ("--trainer-url=http://typed --context=team", {}, "http://typed", "secret", "ca.pem", "eu"),
    ("--context=team", {"TRAINER_URL": "http://set"}, "http://set", "secret", "ca.pem", "eu"),
    ("", {"TRAINER_URL": "http://set", "AKKA_TRAINER_TOKEN": "mine"}, "http://set", "mine", None, None),
    ("", {"AKKA_TRAINER_TOKEN": "mine"}, "https://team:1", "mine", "ca.pem", "eu"),
    ("--region=us", {}, "https://team:1", "secret", "ca.pem", "us"),
    ("--region=us", {"TRAINER_URL": "http://set"}, "http://set", None, None, "us"),
]


@pytest.mark.parametrize(("line", "environ", "address", "token", "ca", "region"), TRAINER)
def test_what_the_trainer_is_called_with(home, built, monkeypatch, line, environ, address, token, ca, region):
    """What was typed, then the environment, then the context, then the default. A context's token goes to its own
    address, and to another one only where the context was typed."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    wiring.build_trainer(typed(line), refuse)
    (parts,) = built
    assert (parts["address"], parts["token"], parts["region"]) == (address, token, region)
    assert parts["ca"] == (ca and home / ".akka" / ca)
    assert parts["web"] is False


@pytest.mark.parametrize(
    ("line", "environ"),
    [
        ("", {"TRAINER_URL": "local:"}),
        ("--trainer-url=local:", {"TRAINER_URL": "http://set"}),
        ("--use-grpc-web", {"TRAINER_URL": "local:"}),
        ("", {"TRAINER_URL": "local:", "AKKA_CONTEXT": "no-such"}),
        ("", {"TRAINER_URL": "http://set"}),
    ],
)
def test_a_configuration_that_nobody_needs_is_not_read(home, built, monkeypatch, line, environ):
    """It may be as broken as it likes, where the address is known without it."""
    (home / ".akka" / "config.yaml").write_text("contexts: [")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    wiring.build_trainer(typed(line), refuse)
    assert len(built) == 1
    assert len(wiring.build_services(typed(f"{line} --url=http://o"), refuse)) == 2


@pytest.mark.parametrize("line", ["--config=broken.yaml", "--context=team"])
def test_a_configuration_that_was_typed_is_read(home, built, monkeypatch, line):
    """Somebody asked for it: a fault in it is told, even beside an address."""
    monkeypatch.chdir(home)
    for file in (home / "broken.yaml", home / ".akka" / "config.yaml"):
        file.write_text("contexts: [")
    monkeypatch.setenv("TRAINER_URL", "local:")
    with pytest.raises(errors.WrongUsage, match=r"\.yaml:"):
        wiring.build_trainer(typed(line), refuse)
    assert built == []


def test_a_context_may_lead_to_this_process(home, built):
    """Its region is for other services; a region that was typed is refused, as there is none."""
    wiring.build_trainer(typed("--context=near"), refuse)
    assert built == [{"folder": ""}]
    with pytest.raises(errors.WrongUsage, match=r"^--region: a trainer inside this process has no regions$"):
        wiring.build_trainer(typed("--context=near --region=eu"), refuse)


def test_grpc_web_is_chosen_by_its_option(home, built):
    """For the trainer and for Optimize alike."""
    wiring.build_trainer(typed("--use-grpc-web"), refuse)
    for service in wiring.build_services(typed("--use-grpc-web"), refuse):
        service.connect()
    assert [parts["web"] for parts in built] == [True] * 3


OPTIMIZE = [
    ("", {}, "https://other:2", "context team in ~/.akka/config.yaml"),
    ("--url=http://typed", {"OPTIMIZE_URL": "http://set"}, "http://typed", "--url"),
    ("", {"OPTIMIZE_URL": "http://set"}, "http://set", "OPTIMIZE_URL"),
    ("", {"AKKA_OPTIMIZE_URL": "http://set"}, "https://other:2", "context team in ~/.akka/config.yaml"),
    ("--context=bare", {}, "http://localhost:9010", "default"),
]


@pytest.mark.parametrize(("line", "environ", "address", "source"), OPTIMIZE)
def test_where_optimize_is_looked_for(home, built, monkeypatch, line, environ, address, source):
    """--url, OPTIMIZE_URL, the context, the default; it never gets the trainer's token."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    optimize = wiring.build_services(typed(line), refuse)[1]
    optimize.connect()
    assert (optimize.name, optimize.address, optimize.source) == ("optimize", address, source)
    assert built[0]["address"] == address
    assert built[0]["service"] == "grpc.health.v1.Health"
    assert "token" not in built[0]


def test_the_hint_when_nobody_answers(home, built, monkeypatch):
    """At the default address: how to start a trainer, and how to do without; elsewhere: where the address came from."""
    wiring.build_trainer(typed("--context=bare"), refuse)
    assert "akka-trainer start" in built[0]["hint"]
    assert "local:" in built[0]["hint"]
    wiring.build_trainer(typed(""), refuse)
    assert built[1]["hint"] == "the address came from context team in ~/.akka/config.yaml"


def test_verbose_has_a_line_for_each_call(home, built):
    """Method, request id, outcome, milliseconds, tries; without --verbose nobody listens."""
    said: list[str] = []
    wiring.build_trainer(typed("--verbose"), refuse, said.append)
    built[0]["observe"]("GetRun", "0123456789abcdef", 0.0124, 1, "ok")
    built[0]["observe"]("GetRun", "0123456789abcdef", 2.0, 3, "Unreachable")
    assert said == [
        "GetRun 0123456789abcdef: ok, 12 ms, 1 try",
        "GetRun 0123456789abcdef: Unreachable, 2000 ms, 3 tries",
    ]
    wiring.build_trainer(typed(""), refuse, said.append)
    assert built[1]["observe"] is None


def test_a_token_that_others_may_read_is_warned_of_once(home, built):
    """Once for a command."""
    (home / ".akka" / "t").chmod(0o644)
    said: list[str] = []
    wiring.build_trainer(typed(""), said.append)
    assert len(said) == 1
    assert "chmod 600" in said[0]
