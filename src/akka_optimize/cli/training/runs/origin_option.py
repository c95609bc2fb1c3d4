"""The option of every command that starts runs: what is recorded of the folder that it is given in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from akka_optimize.records import Origin

include_diff = click.option(
    "--include-diff",
    is_flag=True,
    help="Keep what differs here from the git commit in the record, at most 1 MiB; its hash is kept anyway",
)


def origin(included: bool, *, dry_run: bool = False) -> Origin | None:
    """The git commit of the current folder, the hash of what differs from it, and that itself where it is `included`.

    A dry run, which records nothing, only looks whether it could be. Raises Refused, Exhausted.
    """
    if dry_run and not included:
        return None
    from akka_optimize.actions.training.runs import origin as action

    return action.origin(included)
