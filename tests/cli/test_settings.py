"""What was typed, then the environment, then the default."""

from __future__ import annotations

import pytest

from akka_optimize.cli.settings import Settings, resolve


def test_defaults():
    """Nothing typed and nothing set."""
    assert resolve({}, {}) == Settings()
    assert Settings().timeout == 10.0


@pytest.mark.parametrize(
    ("value", "prompts"),
    [
        ("true", False),
        ("1", False),
        ("T", False),
        ("yes", False),
        ("0", True),
        ("false", True),
        ("", True),
        ("F", True),
    ],
)
def test_akka_disable_prompts(value, prompts):
    """A word for false leaves prompts on; anything else turns them off, which is the safe way."""
    assert resolve({}, {"AKKA_DISABLE_PROMPTS": value}).prompts is prompts
    assert resolve({"disable_prompt": True}, {"AKKA_DISABLE_PROMPTS": value}).prompts is False


@pytest.mark.parametrize(("value", "color"), [("1", False), ("0", False), ("", True)])
def test_no_color(value, color):
    """NO_COLOR counts when it is not empty, whatever it holds."""
    assert resolve({}, {"NO_COLOR": value}).color is color
    assert resolve({"no_color": True}, {"NO_COLOR": value}).color is False


def test_what_was_typed_arrives():
    """Each inherited option has its place."""
    typed = {"trainer_url": "local:", "timeout": 3.0, "force": True, "quiet": True, "verbose": True}
    typed |= {"url": "http://o", "region": "eu", "config": "c", "context": "x", "cache_file": "f", "use_grpc_web": True}
    assert resolve(typed | {"output": "json", "json": "a", "jq": "."}, {}) == Settings(
        trainer_url="local:",
        url="http://o",
        region="eu",
        config="c",
        context="x",
        cache_file="f",
        use_grpc_web=True,
        timeout=3.0,
        force=True,
        quiet=True,
        verbose=True,
        output="json",
        json_fields="a",
        jq=".",
    )
