"""Curves that somebody keeps a copy of, and what the copy lacks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from akka_optimize.core.alignment import latest
from akka_optimize.records import Column, Metrics, Run


@dataclass(frozen=True, slots=True)
class Curve:
    """One column: `steps`, int64 (n,) strictly ascending, and `values`, float64 (n,)."""

    steps: np.ndarray
    values: np.ndarray

    def first(self, count: int) -> Curve:
        """The first `count` steps."""
        return Curve(self.steps[:count], self.values[:count])

    def after(self, count: int) -> Curve:
        """All but those."""
        return Curve(self.steps[count:], self.values[count:])

    def digest(self) -> str:
        """sha256 over steps and values, bit for bit."""
        own = hashlib.sha256(self.steps.astype("<i8").tobytes())
        own.update(self.values.astype("<f8").tobytes())
        return own.hexdigest()

    def parting(self, other: Curve) -> int | None:
        """The first step at which this is not a beginning of `other`, bit for bit; None where it is one."""
        count = min(len(self.steps), len(other.steps))
        mine, its = self.first(count), other.first(count)
        same = (mine.steps == its.steps) & (mine.values.view("i8") == its.values.view("i8"))
        if not same.all():
            at = int(same.argmin())
            return int(min(mine.steps[at], its.steps[at]))
        return int(self.steps[count]) if len(self.steps) > count else None


def curves(metrics: Metrics) -> dict[str, Curve]:
    """Every column with each step once, and as `attempt` which attempt recorded the step's `seconds`."""
    columns = dict(metrics.columns)
    if (spent := columns.get("seconds")) is not None:
        columns["attempt"] = Column(spent.steps, spent.attempts.astype(float), spent.attempts)
    once = {name: latest(column) for name, column in columns.items()}
    return {name: Curve(curve.steps, curve.values) for name, curve in once.items()}


def joined(known: Mapping[str, Curve], newest: Mapping[str, Curve]) -> dict[str, Curve]:
    """Curves whose newest part was fetched again."""
    cut = min((int(curve.steps[0]) for curve in newest.values() if len(curve.steps)), default=None)
    if cut is None:
        return dict(known)
    none = Curve(np.empty(0, np.int64), np.empty(0))
    both = {}
    for name in dict.fromkeys([*known, *newest]):
        before, after = known.get(name, none), newest.get(name, none)
        kept = before.first(int(before.steps.searchsorted(cut)))
        both[name] = Curve(np.append(kept.steps, after.steps), np.append(kept.values, after.values))
    return both


def done_at(run: Run, found: Mapping[str, Curve]) -> Curve:
    """When each step was done, in seconds since 1970: its attempt's beginning, and what its updates took since.

    What came before an attempt's first update is not in it, so that these times may be a little early. Steps of an
    attempt whose beginning is not on record are left out.
    """
    spent, attempts = found.get("seconds"), found.get("attempt")
    if spent is None or attempts is None:
        return Curve(np.empty(0, np.int64), np.empty(0))
    begun = {event["attempt"]: event["at"] for event in run.events if event["kind"] == "resumed"}
    begun |= {1: run.started_at} if run.started_at is not None else {}
    times = np.full(len(spent.steps), np.nan)
    for attempt in np.unique(attempts.values).tolist():
        if attempt in begun:
            own = attempts.values == attempt
            times[own] = datetime.fromisoformat(begun[attempt]).timestamp() + np.cumsum(spent.values[own])
    known = np.isfinite(times)
    return Curve(spent.steps[known], times[known])


def odd(curve: Curve) -> int:
    """At how many steps it is not a finite number."""
    return len(curve.values) - int(np.isfinite(curve.values).sum())
