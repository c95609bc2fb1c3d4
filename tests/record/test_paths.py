"""Names that somebody else sends, and runs in order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize import errors
from akka_optimize.record import order, paths


@given(
    st.one_of(st.text(max_size=30), st.lists(st.sampled_from(["..", ".", "", "a", "~", "\0", "/", "C:"])).map("/".join))
)
def test_a_path_that_is_let_through_leads_into_the_folder(path: str) -> None:
    """Whatever it is, joined to a folder and made plain it is a file below it, by that very name."""
    try:
        paths.check_file(path)
    except errors.Invalid:
        return
    joined = os.path.normpath(Path("/folder") / path)
    assert joined == f"/folder/{path}"
    assert "\0" not in path


@pytest.mark.parametrize("path", ["run.json", "snapshots/10/weights.safetensors", "my notes, été.txt", "a" * 200])
def test_names_of_files_pass(path: str) -> None:
    """What a run's folder holds, and what somebody may have put there before it was closed."""
    paths.check_file(path)


@pytest.mark.parametrize(
    "name", ["", "..", "/", "0" * 16, f"{'0' * 16}-{'0' * 11}", f"{'0' * 16}-{'0' * 12}\n", f"../{'0' * 16}-{'0' * 12}"]
)
def test_what_is_no_folder_of_a_run_is_refused(name: str) -> None:
    """Only RUNID-CONFIGHASH is one."""
    with pytest.raises(errors.Invalid):
        paths.run_id_of(name)


forests = st.lists(st.integers(-1, 30), max_size=30).map(
    lambda above: {str(at): str(min(parent, at - 1)) if parent >= 0 and at else None for at, parent in enumerate(above)}
)


@given(forests, st.randoms())
def test_every_run_comes_after_its_parent(parents: dict[str, str | None], random: object) -> None:
    """For any forest, in whatever order and at whatever times: each run once, and no child before its parent."""
    shuffled = list(parents.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    created = {run_id: str(random.random()) for run_id in parents}  # type: ignore[attr-defined]
    found = order.roots_first(dict(shuffled), created)
    assert sorted(found) == sorted(parents)
    places = {run_id: place for place, run_id in enumerate(found)}
    assert all(parent is None or places[parent] < places[child] for child, parent in parents.items())


def test_among_runs_that_may_come_next_the_oldest_does() -> None:
    """Of two roots, and of a child and a root that is younger than it."""
    parents = {"a": None, "b": "a", "c": None, "d": "elsewhere"}
    assert order.roots_first(parents, {"a": "2", "b": "3", "c": "4", "d": "1"}) == ["d", "a", "b", "c"]


@pytest.mark.parametrize("parents", [{"a": "a"}, {"a": "b", "b": "a", "c": None}, {"a": "b", "b": "c", "c": "b"}])
def test_a_circle_is_refused(parents: dict[str, str | None]) -> None:
    """And the runs in it are named."""
    with pytest.raises(errors.Invalid, match="a"):
        order.roots_first(parents, dict.fromkeys(parents, ""))
