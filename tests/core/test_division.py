"""How an update may be divided, and what a division that does not come out is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.core.division import divide, fault
from akka_optimize.errors import Invalid
from akka_optimize.records import Division


def attempt(size, gpus, per_pass=None):
    """Divide `size` sequences an update."""
    return divide(
        {"hyperparams": {"training": {"sequencesPerUpdate": size}}}, {"gpus": gpus, "sequencesPerPass": per_pass}
    )


CASES = [
    pytest.param((8, 1, None), Division(1, 8, 1, 8), id="in-one-pass-by-default"),
    pytest.param((8, 2, None), Division(2, 4, 1, 8), id="each-device-its-share"),
    pytest.param((8, 1, 2), Division(1, 2, 4, 8), id="accumulated"),
    pytest.param((8, 2, 2), Division(2, 2, 2, 8), id="both"),
    pytest.param((1, 1, 1), Division(1, 1, 1, 1), id="one"),
]


@pytest.mark.parametrize(("asked", "division"), CASES)
def test_divide(asked, division):
    """What is left open follows from what is stated."""
    assert attempt(*asked) == division


@given(st.integers(1, 4096), st.integers(1, 8), st.none() | st.integers(1, 4096))
def test_a_division_is_exact_or_refused(size, gpus, per_pass):
    """Devices times passes times accumulation is the update, or there is no division; nothing else is refused."""
    even = size % gpus == 0 and (per_pass is None or (size // gpus) % per_pass == 0)
    if not even:
        assert fault(size, gpus, per_pass) is not None
        return
    made = attempt(size, gpus, per_pass)
    assert made.devices * made.sequences_per_pass * made.accumulation == made.sequences_per_update == size
    assert made.devices == gpus
    assert made.sequences_per_pass == (per_pass or size // gpus)


REFUSED = [
    ((8, 3), "execution.gpus: 3 does not divide sequencesPerUpdate, 8; write 1, 2, 4 or 8"),
    ((16, 3), "execution.gpus: 3 does not divide sequencesPerUpdate, 16; write 1, 2, 4 or 8"),
    ((7, 2), "execution.gpus: 2 does not divide sequencesPerUpdate, 7; write 1 or 7"),
    ((1, 2), "execution.gpus: 2 does not divide sequencesPerUpdate, 1; write 1"),
    ((8, 1, 3), "execution.sequencesPerPass: 3 does not divide sequencesPerUpdate, 8; write 1, 2, 4 or 8"),
    (
        (8, 2, 8),
        "execution.sequencesPerPass: 8 does not divide 4, a device's share of sequencesPerUpdate; write 1, 2 or 4",
    ),
    ((8, 8, 2), "execution.sequencesPerPass: 2 does not divide 1, a device's share of sequencesPerUpdate; write 1"),
]


@pytest.mark.parametrize(("asked", "message"), REFUSED)
def test_refuses(asked, message):
    """A division that does not come out names the field, the numbers, and every value that would do."""
    with pytest.raises(Invalid) as caught:
        attempt(*asked)
    assert str(caught.value) == message
    assert caught.value.field == message.partition(":")[0]


@given(st.integers(1, 4096), st.integers(1, 8), st.integers(1, 4096))
def test_what_is_suggested_would_do(size, gpus, per_pass):
    """Every value that a refusal offers is accepted in its place."""
    found = fault(size, gpus, per_pass)
    if found is None:
        return
    for value in map(int, found.reason.rpartition("write ")[2].replace(" or ", ", ").split(", ")):
        if found.path == "execution.gpus":
            assert fault(size, value, None) is None
        else:
            assert fault(size, gpus, value) is None
