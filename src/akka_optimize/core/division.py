"""How one update's sequences are spread over devices, passes and accumulation.

The division decides how an update is carried out and never what it computes, so it must come out even: a sequence
more or less on one device would be another update.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.core.fields import BY_PATH
from akka_optimize.core.problems import Problem
from akka_optimize.errors import Invalid
from akka_optimize.records import Division

if TYPE_CHECKING:
    from akka_optimize.records import Document

GPUS = "execution.gpus"
PER_PASS = "execution.sequencesPerPass"


def divide(config: Document, execution: Document) -> Division:
    """Spread the config's `sequencesPerUpdate` as `execution` asks; without `sequencesPerPass`, in one pass.

    Raises Invalid, with the field, when something does not divide.
    """
    size = config["hyperparams"]["training"]["sequencesPerUpdate"]
    gpus, per_pass = execution["gpus"], execution.get("sequencesPerPass")
    if found := fault(size, gpus, per_pass):
        raise Invalid(str(found), field=found.path)
    per_pass = per_pass or size // gpus
    return Division(
        devices=gpus,
        sequences_per_pass=per_pass,
        accumulation=size // (gpus * per_pass),
        sequences_per_update=size,
    )


def fault(size: int, gpus: int, per_pass: int | None) -> Problem | None:
    """What keeps `size` sequences an update from being spread exactly, with the values that would do."""
    if gpus < 1 or size % gpus:
        would_do = _listed(_divisors(size, most=int(BY_PATH[GPUS].maximum or size)))
        return Problem(GPUS, gpus, f"{gpus} does not divide sequencesPerUpdate, {size}; write {would_do}")
    share = size // gpus
    if per_pass is not None and (per_pass < 1 or share % per_pass):
        whole = f"sequencesPerUpdate, {size}" if gpus == 1 else f"{share}, a device's share of sequencesPerUpdate"
        return Problem(
            PER_PASS, per_pass, f"{per_pass} does not divide {whole}; write {_listed(_divisors(share, most=share))}"
        )
    return None


def _divisors(number: int, *, most: int) -> list[int]:
    return [divisor for divisor in range(1, most + 1) if number % divisor == 0]


def _listed(numbers: list[int]) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} or {last}" if others else last
