"""Types of option values that Click has no strict form of: finite numbers in a range, and Go's durations."""

from __future__ import annotations

import re
from typing import Any, NoReturn

import click

INT64 = 2**63 - 1
WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
DURATION = re.compile(r"[+-]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)")
LONGEST = INT64 / 1e9  # seconds; Go counts nanoseconds in 64 bits


class _Strict(click.ParamType):  # type: ignore[type-arg]  # generic only from Click 8.5 on
    """Refuses with the name of the option, what was given, and what to write."""

    def refuse(self, value: object, wanted: str, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
        """Raise the usage error."""
        self.fail(f"{str(value)!r} is not {wanted}", param, ctx)


class WholeNumber(_Strict):
    """An integer in a range, both ends included; by default any that 64 bits hold. No `1_000`, no `8.0`."""

    name = "int"

    def __init__(self, minimum: int = -INT64 - 1, maximum: int = INT64) -> None:
        self.minimum, self.maximum = minimum, maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number. Raises BadParameter."""
        text = str(value)
        if not WHOLE.fullmatch(text) or not self.minimum <= int(text) <= self.maximum:
            self.refuse(value, f"a whole number {self._range()}", param, ctx)
        return int(text)

    def _range(self) -> str:
        if self.maximum < INT64:
            return f"from {self.minimum} to {self.maximum}"
        return f"of {self.minimum} or more" if self.minimum > -INT64 - 1 else "of 64 bits"


class FiniteNumber(_Strict):
    """A finite decimal number in a range: `minimum` and `maximum` are included, `above` is not."""

    name = "float"

    def __init__(self, minimum: float | None = None, maximum: float | None = None, above: float | None = None) -> None:
        self.minimum, self.maximum, self.above = minimum, maximum, above

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Raises BadParameter: NaN, Infinity, what overflows, or outside the range."""
        text = str(value)
        number = float(text) if DECIMAL.fullmatch(text) else float("nan")
        if not self._fits(number):
            self.refuse(value, f"a number{self._range()}, as in 0.05 or 1e-3", param, ctx)
        return number

    def _fits(self, number: float) -> bool:
        return (
            float("-inf") < number < float("inf")
            and (self.minimum is None or number >= self.minimum)
            and (self.maximum is None or number <= self.maximum)
            and (self.above is None or number > self.above)
        )

    def _range(self) -> str:
        parts = []
        if self.above is not None:
            parts.append(f"above {self.above:g}")
        if self.minimum is not None:
            parts.append(f"of {self.minimum:g} or more")
        if self.maximum is not None:
            parts.append(f"of {self.maximum:g} or less")
        return " " + " and ".join(parts) if parts else ""


class GoDuration(_Strict):
    """A span of time as Go writes it, `10s` or `1h30m`, in seconds as a float; `1d`, `10` and negative ones refused.

    `zero`: whether 0 is allowed (a command that waits takes it as no bound).
    """

    name = "duration"

    def __init__(self, *, zero: bool = False) -> None:
        self.zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds. Raises BadParameter."""
        if isinstance(value, float):
            return value
        text = str(value)
        seconds = _seconds(text) if DURATION.fullmatch(text) else None
        if seconds is None or not (0 < seconds <= LONGEST or (seconds == 0 and self.zero)):
            self.refuse(value, f"a duration{' or 0' if self.zero else ''}, as in 10s, 1m30s or 2h", param, ctx)
        return seconds


def _seconds(text: str) -> float | None:
    from durationpy import DurationError, from_str

    try:
        seconds: float = from_str(text).total_seconds()
    except DurationError:
        return None
    # A timedelta ends at microseconds, and a time above zero must not become none at all.
    return seconds if seconds or not re.search("[1-9]", text) else 1e-9


positive_int = WholeNumber(minimum=1)
natural_int = WholeNumber(minimum=0)


def finite_float(
    *, minimum: float | None = None, maximum: float | None = None, above: float | None = None
) -> FiniteNumber:
    """The type of a finite number, as in `type=finite_float(above=0)`."""
    return FiniteNumber(minimum, maximum, above)
