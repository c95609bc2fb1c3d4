"""A fan of children from one snapshot: read the grid, have every point checked, submit them all under one token."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from akka_optimize.actions.training.runs import grid as grids
from akka_optimize.actions.training.runs import unknown
from akka_optimize.core.grid import points
from akka_optimize.records import Axis, Branches, FanRequest, Origin, Sweep

PROGRAM = ("akka-optimize", "training", "runs")
DEFAULT_RESTORE = "weights"


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def validate_branches(self, asked: FanRequest) -> Branches:
        """What every point resolves to; nothing is stored."""
        ...

    def submit_branches(self, asked: FanRequest) -> Branches:
        """The same, with every child that was not there queued, or none of them."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A sweep as it was asked for: the fan of children, and the grid, read and found good, that it is made from.

    `grid`: the path that it was read at. `generated`: the token is ours. `repeated`: further options that the next
    command carries as well.
    """

    fan: FanRequest
    grid: str
    axes: tuple[Axis, ...]
    generated: bool
    repeated: tuple[str, ...]


def request(
    parent: str,
    *,
    snapshot: str,
    steps: int,
    grid: str,
    restore: str = DEFAULT_RESTORE,
    submission_id: str | None = None,
    description: str | None = None,
    origin: Origin | None = None,
    repeated: Sequence[str] = (),
) -> Request:
    """Read the grid at the path `grid` ('-' = standard input), and make a token unless one is given.

    No trainer is needed yet. Raises WrongUsage (token, file), Invalid (the grid), Exhausted (its size).
    """
    token = unknown.token(submission_id)
    axes = grids.axes(grid, restore=restore)
    fan = FanRequest(parent, snapshot, steps, restore, token, tuple(points(axes)), description, origin)
    return Request(fan, grid, axes, generated=submission_id is None, repeated=tuple(repeated))


def sweep(
    trainer: Trainer,
    asked: Request,
    *,
    dry_run: bool,
    told: Callable[[str], None],
    confirm: Callable[[str], None],
) -> Sweep:
    """Have every point checked at once and, unless `dry_run`, submit them all in one transaction.

    `told` takes what the user should read on the way, a token of ours before anything is sent; `confirm` is asked
    before a child is started, and raises to stop. Raises what the trainer refuses (NotFound, Ambiguous, Invalid,
    Refused, Exhausted, Conflict), nothing being stored then; Unreachable, TimedOut and Interrupted, with the token,
    when it is not known whether the submission arrived.
    """
    token = asked.fan.submission_id
    if asked.generated:
        told(unknown.announced(token))
    checked = trainer.validate_branches(asked.fan)
    for note in checked.notes:
        told(f"Note: {note}")
    if dry_run:
        return Sweep(checked, asked.axes, True, _without_dry_run(asked))
    if checked.fan.new:
        confirm(_question(checked))
    with unknown.outcome(unknown.children_again(token)):
        submitted = trainer.submit_branches(asked.fan)
    for note in submitted.notes:
        if note not in checked.notes:
            told(f"Note: {note}")
    return Sweep(submitted, asked.axes, False, _branches(asked, submitted))


def _question(checked: Branches) -> str:
    runs = "1 child run" if checked.fan.new == 1 else f"{checked.fan.new} child runs"
    updates = "1 update" if checked.steps == 1 else f"{checked.steps} updates"
    return f"Submit {runs} of {updates} each?"


def _without_dry_run(asked: Request) -> str:
    fan = asked.fan
    words = [*PROGRAM, "sweep", fan.parent, "--snapshot", fan.snapshot, "--steps", str(fan.steps)]
    words += ["--grid", asked.grid]
    if fan.restore != DEFAULT_RESTORE:
        words += ["--restore", fan.restore]
    if fan.description is not None:
        words += ["--description", fan.description]
    words += ["--submission-id", fan.submission_id, *asked.repeated]
    if asked.grid == grids.STDIN and "--force" not in asked.repeated:
        words.append("--force")  # standard input holds the grid, and so no answer
    return shlex.join(words)


def _branches(asked: Request, submitted: Branches) -> str:
    repeated = [word for word in asked.repeated if word not in ("--force", "--include-diff")]  # it starts nothing
    return shlex.join(
        [*PROGRAM, "branches", submitted.parent_run_id, "--submission", submitted.submission_id, *repeated]
    )
