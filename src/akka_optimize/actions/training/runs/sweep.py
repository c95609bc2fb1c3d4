"""A fan of children from one snapshot: read the grid, have every point checked, submit them all under one token."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from akka_optimize.actions.training.runs import grid as grids
from akka_optimize.core import texts
from akka_optimize.core.grid import points
from akka_optimize.core.problems import quoted
from akka_optimize.errors import TimedOut, Unreachable, WrongUsage
from akka_optimize.records import Axis, Branches, Sweep

PROGRAM = ("akka-optimize", "training", "runs")
DEFAULT_RESTORE = "weights"


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def validate_branches(
        self,
        parent: str,
        *,
        snapshot: str,
        steps: int,
        restore: str,
        submission_id: str,
        points: Sequence[Mapping[str, Any]],
        description: str | None = None,
    ) -> Branches:
        """What every point resolves to; nothing is stored."""
        ...

    def submit_branches(
        self,
        parent: str,
        *,
        snapshot: str,
        steps: int,
        restore: str,
        submission_id: str,
        points: Sequence[Mapping[str, Any]],
        description: str | None = None,
    ) -> Branches:
        """The same, with every child that was not there queued, or none of them."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A sweep as it was asked for, its grid read and found good.

    `generated`: the token is ours. `repeated`: further options that the next command carries as well.
    """

    parent: str
    snapshot: str
    steps: int
    grid: str
    restore: str
    description: str | None
    submission_id: str
    generated: bool
    axes: tuple[Axis, ...]
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
    repeated: Sequence[str] = (),
) -> Request:
    """Read the grid at the path `grid` ('-' = standard input), and make a token unless one is given.

    No trainer is needed yet. Raises WrongUsage (token, file), Invalid (the grid), Exhausted (its size).
    """
    if submission_id is not None and (fault := texts.fault("token", submission_id)):
        raise WrongUsage(f"--submission-id: {quoted(submission_id)} {fault}")
    return Request(
        parent=parent,
        snapshot=snapshot,
        steps=steps,
        grid=grid,
        restore=restore,
        description=description,
        submission_id=secrets.token_hex(16) if submission_id is None else submission_id,
        generated=submission_id is None,
        axes=grids.axes(grid, restore=restore),
        repeated=tuple(repeated),
    )


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
    Refused, Exhausted, Conflict), nothing being stored then; Unreachable and TimedOut, with the token, when it is not
    known whether the submission arrived.
    """
    token = asked.submission_id
    if asked.generated:
        told(f"Submission token {token}: if the reply is lost, the same command with --submission-id {token} finds it")
    fan = points(asked.axes)
    checked = _call(trainer.validate_branches, asked, fan)
    notes = [*checked.notes, *_kept_descriptions(asked, checked)]
    for note in notes:
        told(f"Note: {note}")
    if dry_run:
        return Sweep(checked, asked.axes, True, _without_dry_run(asked))
    if checked.fan.new:
        confirm(_question(checked))
    try:
        submitted = _call(trainer.submit_branches, asked, fan)
    except (Unreachable, TimedOut) as error:
        lost = f"it may have arrived; the same command with --submission-id {token} starts no child twice"
        raise type(error)(error.message, field=error.field, hint=lost) from error
    for note in submitted.notes:
        if note not in notes:
            told(f"Note: {note}")
    return Sweep(submitted, asked.axes, False, _branches(asked, submitted))


def _call(method: Callable[..., Branches], asked: Request, fan: Sequence[Mapping[str, Any]]) -> Branches:
    return method(
        asked.parent,
        snapshot=asked.snapshot,
        steps=asked.steps,
        restore=asked.restore,
        submission_id=asked.submission_id,
        points=fan,
        description=asked.description,
    )


def _kept_descriptions(asked: Request, checked: Branches) -> list[str]:
    there = sum(point.existing for point in checked.points)
    if asked.description is None or not there:
        return []
    return [f"--description is for new child runs; {there} of the points have theirs, which keep what they were given"]


def _question(checked: Branches) -> str:
    runs = "1 child run" if checked.fan.new == 1 else f"{checked.fan.new} child runs"
    updates = "1 update" if checked.steps == 1 else f"{checked.steps} updates"
    return f"Submit {runs} of {updates} each?"


def _without_dry_run(asked: Request) -> str:
    words = [*PROGRAM, "sweep", asked.parent, "--snapshot", asked.snapshot, "--steps", str(asked.steps)]
    words += ["--grid", asked.grid]
    if asked.restore != DEFAULT_RESTORE:
        words += ["--restore", asked.restore]
    if asked.description is not None:
        words += ["--description", asked.description]
    words += ["--submission-id", asked.submission_id, *asked.repeated]
    if asked.grid == grids.STDIN and "--force" not in asked.repeated:
        words.append("--force")  # standard input holds the grid, and so no answer
    return shlex.join(words)


def _branches(asked: Request, submitted: Branches) -> str:
    repeated = [word for word in asked.repeated if word != "--force"]  # reading asks nothing
    return shlex.join(
        [*PROGRAM, "branches", submitted.parent_run_id, "--submission", submitted.submission_id, *repeated]
    )
