"""Grids whose every point is good, made up by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from akka_optimize.core.fields import FIELDS, LARGEST_INT, Field
from akka_optimize.records import Axis

HORIZON = ("epochs", "maxSteps")
CHANGEABLE = [field for field in FIELDS if field.path.startswith("config.") and field.key not in HORIZON]


def below_config(field: Field) -> str:
    """The field's path as a grid writes it."""
    return field.path.removeprefix("config.")


def good_values(field: Field) -> st.SearchStrategy:
    """Values that the field takes; whole numbers among a float field's."""
    if field.choices:
        return st.sampled_from(field.choices)
    if field.kind == "string":
        return st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=12)
    if field.kind == "int":
        return st.integers(int(field.minimum), int(min(field.maximum or LARGEST_INT, LARGEST_INT)))
    floats = st.floats(
        min_value=field.minimum if field.above is None else field.above,
        max_value=field.maximum if field.below is None else field.below,
        exclude_min=field.above is not None,
        exclude_max=field.below is not None,
        allow_infinity=False,
    )
    return (floats | st.integers(1, 1000)).map(lambda number: number or 0).filter(field.contains)  # -0.0 is 0


def axes(most: int = 4, most_values: int = 4) -> st.SearchStrategy[list[Axis]]:
    """Axes on different fields, no value twice on one."""
    chosen = st.lists(st.sampled_from(CHANGEABLE), min_size=1, max_size=most, unique_by=lambda field: field.path)
    return chosen.flatmap(lambda fields: st.tuples(*(axis(field, most_values) for field in fields))).map(list)


def axis(field: Field, most_values: int) -> st.SearchStrategy[Axis]:
    """One axis on a field."""
    known = float if field.kind == "float" else lambda value: value
    values = st.lists(good_values(field), min_size=1, max_size=most_values, unique_by=known)
    return values.map(lambda taken: Axis(below_config(field), tuple(taken)))
