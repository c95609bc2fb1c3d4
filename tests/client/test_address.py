"""Where the trainer is."""

from __future__ import annotations

import pytest

from akka_optimize import errors
from akka_optimize.client.address import (
    DEFAULT,
    OPTIMIZE_DEFAULT,
    Address,
    named_optimize,
    named_trainer,
    optimize_address,
    parse,
    trainer_address,
)
from akka_optimize.client.contexts import Context

BOTH = {"TRAINER_URL": "http://a:1", "AKKA_OPTIMIZE_URL": "http://b:2"}
ORDER = [
    pytest.param("local:", BOTH, ("local:", "--trainer-url"), id="the-flag-beats-the-environment"),
    pytest.param(None, BOTH, ("http://a:1", "TRAINER_URL"), id="the-trainers-own-variable-first"),
    pytest.param(None, {"AKKA_OPTIMIZE_URL": "http://b:2"}, ("http://b:2", "AKKA_OPTIMIZE_URL"), id="then-the-shared"),
    pytest.param(None, {"TRAINER_URL": ""}, (DEFAULT, "default"), id="an-empty-variable-is-unset"),
    pytest.param(None, {}, (DEFAULT, "default"), id="then-the-default"),
]


@pytest.mark.parametrize(("flag", "environ", "expected"), ORDER)
def test_the_first_source_that_names_an_address_holds(flag, environ, expected):
    """Flag, TRAINER_URL, AKKA_OPTIMIZE_URL, http://localhost:9001: in this order."""
    address = trainer_address(flag, environ)
    assert (address.text, address.source) == expected


TEAM = Context("team", "context team in f", trainer_url="https://t", optimize_url="https://o")
IN_CONTEXT = [
    pytest.param("local:", {}, TEAM, "--trainer-url", id="flag"),
    pytest.param(None, {"TRAINER_URL": "http://a"}, TEAM, "TRAINER_URL", id="variable"),
    pytest.param(None, {"AKKA_OPTIMIZE_URL": "http://a"}, TEAM, "AKKA_OPTIMIZE_URL", id="shared-variable"),
    pytest.param(None, {"TRAINER_URL": "", "AKKA_OPTIMIZE_URL": ""}, TEAM, "context team in f", id="empty-variables"),
    pytest.param(None, {"OPTIMIZE_URL": "http://a"}, TEAM, "context team in f", id="the-other-services-variable"),
    pytest.param(None, {}, Context("bare", "context bare in f"), "default", id="a-context-without-an-address"),
]


@pytest.mark.parametrize(("flag", "environ", "context", "source"), IN_CONTEXT)
def test_the_context_comes_after_the_environment_and_before_the_default(flag, environ, context, source):
    """An address remembers where it came from."""
    assert trainer_address(flag, environ, context).source == source


OPTIMIZE = [
    pytest.param("http://f", {"OPTIMIZE_URL": "http://v"}, TEAM, ("http://f", "--url"), id="flag"),
    pytest.param(None, {"OPTIMIZE_URL": "http://v"}, TEAM, ("http://v", "OPTIMIZE_URL"), id="variable"),
    pytest.param(None, {"OPTIMIZE_URL": ""}, TEAM, ("https://o", "context team in f"), id="context"),
    pytest.param(
        None, {"AKKA_OPTIMIZE_URL": "http://v"}, None, (OPTIMIZE_DEFAULT, "default"), id="a-trainers-variable"
    ),
    pytest.param(None, {}, Context("bare", "f"), (OPTIMIZE_DEFAULT, "default"), id="default"),
]


@pytest.mark.parametrize(("flag", "environ", "context", "expected"), OPTIMIZE)
def test_the_optimize_service_is_found_in_the_same_order(flag, environ, context, expected):
    """--url, OPTIMIZE_URL, the context, http://localhost:9010."""
    address = optimize_address(flag, environ, context)
    assert (address.text, address.source) == expected


@pytest.mark.parametrize("text", ["local:", "local:x", "localhost:9010", "ftp://a", "http://a/x"])
def test_the_optimize_service_is_never_in_this_process(text):
    """Nothing but http and https is its address; what says so does not speak of trainers."""
    with pytest.raises(errors.WrongUsage, match=r"^--url: .* is no address of the Optimize service$") as caught:
        optimize_address(text, {})
    assert "local" not in caught.value.hint


def test_whether_an_address_was_named():
    """So that nobody reads a configuration that is not needed."""
    assert named_trainer(None, {"TRAINER_URL": ""}) is None
    assert named_trainer(None, {"TRAINER_URL": "local:"}) == Address("local:", "TRAINER_URL", folder="")
    assert named_optimize(None, {"TRAINER_URL": "http://a"}) is None


FORMS = [
    ("local:", Address("local:", "x", folder="")),
    ("local:/data/runs", Address("local:/data/runs", "x", folder="/data/runs")),
    ("local:~/runs", Address("local:~/runs", "x", folder="~/runs")),
    ("http://localhost:9001", Address("http://localhost:9001", "x", host="localhost:9001")),
    ("http://trainer", Address("http://trainer", "x", host="trainer:80")),
    ("https://trainer/", Address("https://trainer/", "x", host="trainer:443", tls=True)),
    ("http://[::1]:9001", Address("http://[::1]:9001", "x", host="[::1]:9001")),
]


@pytest.mark.parametrize(("text", "expected"), FORMS, ids=[text for text, _ in FORMS])
def test_an_address_means_a_folder_or_a_host(text, expected):
    """`local:` is a folder in this process, http and https a host and a port."""
    assert parse(text, source="x") == expected


@pytest.mark.parametrize(
    "text",
    ["", "localhost:9001", "ftp://a:1", "http://", "http://a:port", "http://a:99999", "http://u:p@a", "http://a/x",
     "http://a?x", "local", "http://[::1", "local:\0"],
)  # fmt: skip
def test_any_other_address_is_wrong_usage_that_says_what_to_write(text):
    """An address of no known form is refused with its source and the forms there are."""
    with pytest.raises(errors.WrongUsage, match="is no trainer address") as caught:
        parse(text, source="TRAINER_URL")
    assert caught.value.message.startswith("TRAINER_URL: ")
    assert "local:FOLDER" in caught.value.hint


@pytest.mark.parametrize("text", ["local:/data/caf\udce9", "http://caf\udce9:9001"])
@pytest.mark.parametrize("variable", ["TRAINER_URL", "AKKA_OPTIMIZE_URL"])
def test_an_address_that_is_not_utf8_is_wrong_usage(variable, text):
    """Whichever variable it came from is named."""
    with pytest.raises(errors.WrongUsage, match=rf"^{variable}: .* is not UTF-8$"):
        trainer_address(None, {variable: text})
