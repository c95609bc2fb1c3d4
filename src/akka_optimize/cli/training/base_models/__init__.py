"""`training base-models`: pretrained models that runs adapt."""

from __future__ import annotations

from akka_optimize.cli.group import CommandGroup

base_models = CommandGroup(
    "base-models",
    package=__name__,
    children={
        "get": "Show one base model",
        "list": "List base models",
    },
    help="Pretrained models that runs adapt.",
    examples="""
        # What can be trained here?
        akka-optimize training base-models list
    """,
)
