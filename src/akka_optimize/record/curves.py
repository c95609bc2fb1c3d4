"""`metrics.csv`: a line for every recorded step, exact enough to bring the curves into another catalog bit for bit."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from akka_optimize.core.alignment import Latest, latest
from akka_optimize.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from akka_optimize.records import Metrics

COLUMNS: Final = ("loss", "gradNorm", "clipped", "learningRate", "tokens", "seconds", "validationLoss")
LINES_AT_ONCE = 4096
NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
MOST_WHOLE = 2.0**53  # below it every whole float is an integer that no reader rounds
WHOLE = frozenset({"clipped", "tokens"})  # columns of whole numbers, written without a point
NAMES: Final = ("step", "attempt", *COLUMNS)
HEADING = f"{','.join(NAMES)}\n"
LONGEST_LINE = 1024  # characters


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines that follow each other and belong to one `attempt`.

    `steps`, int64 (lines,) ascending, is every line's step. `columns[name]` is the steps, int64 (n,), at which the
    column has a value, and the values, float64 (n,), n >= 1; a column without a value in these lines is left out.
    """

    attempt: int
    steps: np.ndarray
    columns: dict[str, tuple[np.ndarray, np.ndarray]]


def lines(metrics: Metrics) -> Iterator[str]:
    """The table, line by line: of each step the latest attempt's values, nothing where nothing was recorded."""
    yield HEADING
    curves = {name: latest(metrics.columns[name]) for name in COLUMNS if name in metrics.columns}
    steps, attempts = _rows(metrics)
    for at in range(0, len(steps), LINES_AT_ONCE):
        block = steps[at : at + LINES_AT_ONCE]
        cells = [_cells(curves.get(name), block, whole=name in WHOLE) for name in COLUMNS]
        theirs = attempts[at : at + LINES_AT_ONCE].tolist()
        for step, attempt, *row in zip(block.tolist(), theirs, *cells, strict=True):
            yield f"{step},{attempt},{','.join(row)}\n"


def read(lines: Iterable[str]) -> Iterator[Piece]:
    """The curves that `lines` wrote, in pieces of at most `LINES_AT_ONCE` lines, in the order of the lines.

    Every value is the float that was written, to the last bit; which NaN it was is not told. Raises Invalid, which
    names the line: a heading or a line of another form, steps that do not ascend.
    """
    rows = iter(lines)
    if next(rows, "") != HEADING:
        raise Invalid(f"line 1 is not the heading {HEADING.strip()}")
    number, last, block = 2, 0, list[str]()
    for line in rows:
        block.append(line)
        if len(block) == LINES_AT_ONCE:
            yield from (pieces := _pieces(block, number, last))
            number, last, block = number + len(block), int(pieces[-1].steps[-1]), []
    if block:
        yield from _pieces(block, number, last)


def text(value: float, *, whole: bool = False) -> str:
    """A number for CSV: the shortest digits that read back as the same float; NaN, Infinity, -Infinity in words.

    `whole` leaves the point away where that loses nothing.

    >>> text(0.1), text(float("-inf")), text(24.0, whole=True)
    ('0.1', '-Infinity', '24')
    """
    if math.isfinite(value):
        return str(int(value)) if whole and _is_whole(value) else repr(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _is_whole(value: float) -> bool:
    return value.is_integer() and abs(value) < MOST_WHOLE and (value != 0 or math.copysign(1, value) > 0)


def _rows(metrics: Metrics) -> tuple[np.ndarray, np.ndarray]:
    """Every recorded step, int64 (n,) ascending, and the last attempt that recorded anything there, int64 (n,)."""
    known = [metrics.columns[name] for name in COLUMNS if name in metrics.columns]
    known = [column for column in known if len(column.steps)]
    if not known:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    one = all(column.attempts[0] == column.attempts[-1] == known[0].attempts[0] for column in known)
    if one:
        steps = np.unique(np.concatenate([column.steps for column in known]))
        return steps, np.broadcast_to(known[0].attempts[0], len(steps))
    all_steps = np.concatenate([column.steps for column in known])
    all_attempts = np.concatenate([np.asarray(column.attempts) for column in known])
    order = np.lexsort((all_attempts, all_steps))
    all_steps, all_attempts = all_steps[order], all_attempts[order]
    ends = np.append(all_steps[1:] != all_steps[:-1], True)
    return all_steps[ends], all_attempts[ends]


def _cells(curve: Latest | None, block: np.ndarray, *, whole: bool) -> list[str]:
    """One column's cells for the steps in `block`, int64 (lines,) ascending."""
    if curve is None or not len(curve.steps):
        return [""] * len(block)
    at = np.searchsorted(curve.steps, block).clip(max=len(curve.steps) - 1)
    there = curve.steps[at] == block
    values = curve.values[at]
    if there.all() and (_plain_whole(values) if whole else np.isfinite(values).all()):  # three times as fast
        return list(map(repr, values.astype(np.int64).tolist() if whole else values.tolist()))
    pairs = zip(there.tolist(), values.tolist(), strict=True)
    return [text(value, whole=whole) if found else "" for found, value in pairs]


def _plain_whole(values: np.ndarray) -> bool:
    """Can all of `values`, float64 (n,), be written as integers?"""
    return bool(((values == np.floor(values)) & (np.abs(values) < MOST_WHOLE) & ~np.signbit(values)).all())


def _pieces(block: Sequence[str], number: int, last: int) -> list[Piece]:
    """These lines, of which the first is line `number` of the file; the line before them was of the step `last`."""
    for at, line in enumerate(block):
        if line.count(",") != len(NAMES) - 1 or line.find("\n") != len(line) - 1 or len(line) > LONGEST_LINE:
            raise Invalid(f"line {number + at} does not have the {len(NAMES)} cells of the heading and a line's end")
    cells = "".join(block)[:-1].replace("\n", ",").split(",")
    columns = [_numbers(cells[at :: len(NAMES)], name, number) for at, name in enumerate(NAMES)]
    (steps, steps_there), (attempts, attempts_there), *values = columns
    before = np.concatenate([[last], steps[:-1]])
    right = steps_there & attempts_there & (steps > before) & (attempts >= 1) & (steps < MOST_WHOLE)
    right &= (steps == np.floor(steps)) & (attempts == np.floor(attempts)) & (attempts < MOST_WHOLE)
    if not right.all():
        wrong = number + int(np.argmin(right))
        raise Invalid(f"line {wrong} does not begin with a step above the one before it, and an attempt")
    whole, theirs = steps.astype(np.int64), attempts.astype(np.int64)
    cuts = [0, *(np.flatnonzero(np.diff(theirs)) + 1).tolist(), len(whole)]
    return [_piece(int(theirs[a]), slice(a, b), whole, values) for a, b in pairwise(cuts)]


def _piece(attempt: int, at: slice, steps: np.ndarray, values: Sequence[tuple[np.ndarray, np.ndarray]]) -> Piece:
    own = steps[at]
    columns = {
        name: (own[there[at]], column[at][there[at]])
        for name, (column, there) in zip(COLUMNS, values, strict=True)
        if there[at].any()
    }
    return Piece(attempt, own, columns)


def _numbers(column: Sequence[str], name: str, number: int) -> tuple[np.ndarray, np.ndarray]:
    """A column's values, float64 (lines,), and which of its cells have one, bool (lines,). Raises Invalid."""
    values = np.zeros(len(column))
    there = np.array(list(map(bool, column)))
    cells = column if there.all() else [cell for cell in column if cell]
    try:
        values[there] = _all_numbers(cells)
    except ValueError:
        wrong = next(at for at, cell in enumerate(column) if cell and not _is_number(cell))
        raise Invalid(f"line {number + wrong} has no number in the column {name}") from None
    return values, there


def _all_numbers(cells: Sequence[str]) -> list[float]:
    """What `_number` makes of each cell; all at once where they are of one kind, as nearly everywhere."""
    if cells and cells[0].isdecimal():
        with suppress(ValueError):
            whole = list(map(int, cells))
            if list(map(str, whole)) == [*cells] and min(whole) > -1 and max(whole) < MOST_WHOLE:
                return list(map(float, whole))
    else:
        values = list(map(float, cells))
        if list(map(repr, values)) == [*cells] and np.isfinite(values).all():
            return values
    return list(map(_number, cells))


def _number(cell: str) -> float:
    """The float that `text` wrote so. Raises ValueError for any other text, even where Python reads it as a number."""
    if cell in NOT_FINITE:
        return NOT_FINITE[cell]
    value = float(cell)
    if cell not in (text(value), text(value, whole=True)):
        raise ValueError(cell)
    return value


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True
