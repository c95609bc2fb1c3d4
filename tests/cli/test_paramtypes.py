"""Numbers and durations as they are typed."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.cli.paramtypes import GoDuration, WholeNumber, finite_float, natural_int, positive_int


def read(kind: click.ParamType, text: str) -> object:
    """The value that the type makes of the text."""
    return kind.convert(text, None, None)


def refusal(kind: click.ParamType, text: str) -> str:
    """The sentence with which the type refuses the text."""
    with pytest.raises(click.BadParameter) as error:
        read(kind, text)
    return error.value.message


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("+7", 7), ("007", 7), ("9223372036854775807", 2**63 - 1)])
def test_whole_numbers(text, number):
    """Digits, with a sign at most."""
    assert read(positive_int, text) == number


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-1",
        "1.0",
        "8.5",
        "1e3",
        "1_000",
        " 1",
        "1 ",
        "",
        "nan",
        "inf",
        "٣",
        "0x10",
        "9223372036854775808",
        "9" * 5000,
    ],
    ids=lambda text: text[:20] or "empty",
)
def test_what_is_no_positive_whole_number_is_refused(text):
    """NaN, fractions, other scripts' digits, what 64 bits do not hold: all with what to write."""
    assert refusal(positive_int, text) == f"{text!r} is not a whole number of 1 or more"


def test_ranges_of_whole_numbers_are_named():
    """The sentence holds the range that the option has."""
    assert read(natural_int, "0") == 0
    assert refusal(natural_int, "-1") == "'-1' is not a whole number of 0 or more"
    assert refusal(WholeNumber(1, 8), "9") == "'9' is not a whole number from 1 to 8"
    assert refusal(WholeNumber(), "x") == "'x' is not a whole number of 64 bits"


@pytest.mark.parametrize("text", ["0", "-0.0", "0.03", ".5", "5.", "1e-5", "1E+3", "+2", "1e308"])
def test_finite_numbers(text):
    """Decimal numbers, read as Python reads them."""
    assert read(finite_float(), text) == float(text)


@pytest.mark.parametrize(
    "text",
    [
        "nan",
        "NaN",
        "-nan",
        "inf",
        "-inf",
        "Infinity",
        "1e400",
        "-1e999",
        "",
        " 1",
        "1_0",
        "0x1p3",
        "1,5",
        "1e",
        ".",
        "five",
        "٣",
    ],
    ids=lambda text: text or "empty",
)
def test_what_is_not_finite_is_refused(text):
    """Click's own ranges would let NaN through."""
    assert refusal(finite_float(), text) == f"{text!r} is not a number, as in 0.05 or 1e-3"


@pytest.mark.parametrize(
    ("kind", "inside", "outside", "wanted"),
    [
        (finite_float(minimum=0), ["0", "1e-300"], ["-1e-300", "nan", "inf"], "a number of 0 or more"),
        (finite_float(above=0), ["1e-300"], ["0", "-0.0", "nan"], "a number above 0"),
        (finite_float(minimum=0, maximum=0.5), ["0", "0.5"], ["0.5000001"], "a number of 0 or more and of 0.5 or less"),
    ],
)
def test_ranges_of_finite_numbers(kind, inside, outside, wanted):
    """Ends included or not, as declared; the sentence holds the range."""
    for text in inside:
        assert read(kind, text) == float(text)
    for text in outside:
        assert refusal(kind, text) == f"{text!r} is not {wanted}, as in 0.05 or 1e-3"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("1m30s", 90),
        ("2h", 7200),
        ("1h1m1s1ms", 3661.001),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("5.s", 5),
        ("+3s", 3),
        ("100ms", 0.1),
        ("7us", 7e-6),
        ("7µs", 7e-6),
        ("7μs", 7e-6),
        ("1s1h", 3601),
        ("1s1s", 2),
        ("2562047h", 2562047 * 3600),
    ],
)
def test_durations_of_go(text, seconds):
    """What `time.ParseDuration` reads, in seconds."""
    assert read(GoDuration(), text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "1d",
            "1w",
            "1y",
            "1mm",
            "1mo",
            "10",
            "",
            " ",
            "s",
            "ten",
            "1H",
            "1S",
            "1 s",
            " 1s",
            "1s ",
            "1h 30m",
            "1h,30m",
        ),
        *("-1s", "--1s", "+-1s", "1h-30m", "1e3s", "0x1s", ".s", "1..s", "1.2.3s", "٣s", "1s\n", "infs", "nans"),
        *("2562048h", "9999999999h", "1e400s", "9" * 400 + "h"),
    ],
    ids=lambda text: repr(text)[:20],
)
def test_what_go_refuses_is_refused(text):
    """Days, no unit, blanks, negative ones, more than 64 bits of nanoseconds: with what to write."""
    assert refusal(GoDuration(), text) == f"{text!r} is not a duration, as in 10s, 1m30s or 2h"


def test_no_time_at_all_is_allowed_where_it_means_no_bound():
    """`0` and `0s` are durations, and a timeout of none is refused."""
    for text in ("0", "0s", "0h0m", "+0", "0.0s"):
        assert read(GoDuration(zero=True), text) == 0
        assert refusal(GoDuration(), text).endswith("as in 10s, 1m30s or 2h")
    assert refusal(GoDuration(zero=True), "-1s") == "'-1s' is not a duration or 0, as in 10s, 1m30s or 2h"


def test_a_nanosecond_is_not_no_time():
    """Rounding must not turn the shortest bound into none."""
    assert 0 < read(GoDuration(zero=True), "1ns") <= 1e-6


UNITS = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6}


@given(st.lists(st.tuples(st.integers(0, 10**4), st.sampled_from(sorted(UNITS))), min_size=1, max_size=5))
def test_a_duration_is_the_sum_of_its_parts(parts):
    """In any order, with any unit more than once."""
    text = "".join(f"{number}{unit}" for number, unit in parts)
    total = sum(number * UNITS[unit] for number, unit in parts)
    assert read(GoDuration(zero=True), text) == pytest.approx(total, abs=1e-6)
