"""The inherited options' values, resolved once: what was typed, then the environment, then the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DEFAULT_TIMEOUT = 10.0  # seconds
OFF = frozenset({"", "0", "f", "F", "false", "False", "FALSE"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What every command is told. Addresses, files and the context are the options alone: the client knows the order
    in which the environment, the context and the defaults follow.

    `timeout`: seconds. `prompts`: whether questions may be asked. `output`, `json_fields` and `jq` are as typed, or
    None.
    """

    trainer_url: str | None = None
    url: str | None = None
    region: str | None = None
    config: str | None = None
    context: str | None = None
    cache_file: str | None = None
    use_grpc_web: bool = False
    timeout: float = DEFAULT_TIMEOUT
    force: bool = False
    prompts: bool = True
    quiet: bool = False
    color: bool = True
    verbose: bool = False
    output: str | None = None
    json_fields: str | None = None
    jq: str | None = None


def resolve(given: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """The settings that hold, from the options that were typed (deeper levels having replaced shallower ones).

    A variable that is set to anything but a word for false counts as set.
    """
    return Settings(
        trainer_url=given.get("trainer_url"),
        url=given.get("url"),
        region=given.get("region"),
        config=given.get("config"),
        context=given.get("context"),
        cache_file=given.get("cache_file"),
        use_grpc_web=given.get("use_grpc_web", False),
        timeout=given.get("timeout", DEFAULT_TIMEOUT),
        force=given.get("force", False),
        prompts=not given.get("disable_prompt", False) and environ.get("AKKA_DISABLE_PROMPTS", "") in OFF,
        quiet=given.get("quiet", False),
        color=not given.get("no_color", False) and not environ.get("NO_COLOR"),
        verbose=given.get("verbose", False),
        output=given.get("output"),
        json_fields=given.get("json"),
        jq=given.get("jq"),
    )
