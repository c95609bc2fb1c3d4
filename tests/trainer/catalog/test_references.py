"""Ids, prefixes and names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert
from support.catalog import make_dataset, make_run, new_run
from support.curves import laws

from akka_optimize import errors
from akka_optimize.trainer import names
from akka_optimize.trainer.catalog import Catalog, references, runs, schema

A, B, C = "aaaa000000000001", "aaaa000000000002", "bbbb000000000003"


@pytest.fixture
def three(catalog: Catalog) -> Catalog:
    """A catalog of three runs, two with a common prefix and two with a common name."""
    for run_id, name in {A: "base", B: "aaaa", C: "aaaa"}.items():
        make_run(catalog, run_id=run_id, name=name)
    return catalog


@pytest.mark.parametrize(
    ("reference", "run_id"),
    [
        pytest.param(A, A, id="whole-id"),
        pytest.param("b", C, id="prefix"),
        pytest.param("aaaa000000000002", B, id="id-before-everything"),
        pytest.param("aaaa00000000000", None, id="prefix-of-two"),
        pytest.param("base", A, id="name"),
        pytest.param("aaaa", None, id="name-of-two-before-prefix"),
    ],
)
def test_what_a_reference_reaches(three: Catalog, reference: str, run_id: str | None) -> None:
    """An exact id is taken first, then a name, then a prefix."""
    if run_id:
        assert three.run(reference).run_id == run_id
    else:
        with pytest.raises(errors.Ambiguous, match="fits 2 runs"):
            three.run(reference)


@pytest.mark.parametrize(
    "reference",
    ["c", "aaaa1", "%", "_aaa000000000001", "aaaa%", "*", "AAAA000000000001", "bas", "ba_e", " base", "base\n", "'",
     "\0", "\ud800", "aaaa\udcff", "a" * 65, "x" * 10_000, "ﬀ", "g"],
)  # fmt: skip
def test_what_reaches_nothing(three: Catalog, reference: str) -> None:
    """Wildcards, other case, parts of names and odd characters match nothing; the message says what was looked for."""
    with pytest.raises(errors.NotFound, match=r"^no run goes by ['\"]") as caught:
        three.run(reference)
    assert len(caught.value.message) < 600
    assert caught.value.hint == "`akka-optimize training runs list` lists them"
    caught.value.message.encode()


def test_an_empty_reference_is_refused(three: Catalog) -> None:
    """The empty text is every id's prefix and names none."""
    with pytest.raises(errors.Invalid, match="empty"):
        three.run("")


def test_candidates_are_listed(three: Catalog) -> None:
    """An ambiguous reference lists ids with their names, in order."""
    with pytest.raises(errors.Ambiguous) as caught:
        three.run("aaaa0")
    assert caught.value.message == f"'aaaa0' fits 2 runs: {A} (base), {B} (aaaa)"
    assert caught.value.field == "run"


def test_many_candidates_are_counted(catalog: Catalog) -> None:
    """At most ten candidates are listed; the others are counted."""
    for number in range(13):
        make_run(catalog, run_id=f"{number:016x}")
    with pytest.raises(errors.Ambiguous, match=f"fits 13 runs: {0:016x}, .* and 3 more$") as caught:
        catalog.run("00")
    assert caught.value.message.count(",") == references.SHOWN - 1


def test_long_hashes_are_listed_as_far_as_they_differ(catalog: Catalog) -> None:
    """Candidates of 64 digits are cut where the reference no longer tells them apart."""
    for last in "01":
        make_dataset(catalog, hash="a" * 30 + last + "b" * 33, name=f"rows-{last}")
    with pytest.raises(errors.Ambiguous) as caught:
        catalog.dataset("a" * 30)
    listed = ", ".join(f"{'a' * 30}{last}bbb (rows-{last})" for last in "01")
    assert caught.value.message == f"'{'a' * 30}' fits 2 datasets: {listed}"


@laws
@given(
    ids=st.sets(st.text("09af", min_size=4, max_size=4), min_size=1, max_size=12),
    reference=st.text("09af", min_size=1, max_size=4),
)
def test_a_prefix_agrees_with_the_definition(ids: set[str], reference: str) -> None:
    """The range of ids that is looked up is exactly the ids that begin with the reference."""
    after = reference[:-1] + references.AFTER[reference[-1]]
    assert {id for id in ids if reference <= id < after} == {id for id in ids if id.startswith(reference)}


def test_a_prefix_is_found_by_index(catalog: Catalog) -> None:
    """However many runs there are, a prefix and a name are looked up and not searched for."""
    with catalog._database.read() as connection:
        for rule in (references._named(runs.KIND, "base"), references._beginning(runs.KIND, "aaf")):
            sql = str(rule.compile(connection, compile_kwargs={"literal_binds": True}))
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}").all()
            assert [row[-1].split(" ")[0] for row in plan] == ["SEARCH"], plan


@pytest.mark.parametrize(
    "name", ["a", "0", "triage", "support-triage-2", "x" * 64, "deadbee", "deadbeef-", "abcdefgh", "1-"]
)
def test_names(name: str) -> None:
    """Lower-case words with digits and dashes can name things, and so can hex words that are shorter than an id."""
    names.check_name(name, "dataset")


@pytest.mark.parametrize("name", ["", "-a", "A", "a b", "a_b", "ü", "a\n", "a" * 65, "deadbeef", "0" * 64, "a/b", "٣"])
def test_what_names_nothing(name: str) -> None:
    """Everything else is refused, ids and what looks like one included."""
    with pytest.raises(errors.Invalid, match="cannot name a dataset"):
        names.check_name(name, "dataset")


def test_a_run_cannot_be_named_like_an_id(catalog: Catalog) -> None:
    """A run's name is free, but never stands where an id could."""
    with pytest.raises(errors.Invalid, match="look like an id"):
        catalog.add_run(new_run(catalog, name="deadbeef"))
    assert catalog.add_run(new_run(catalog, name="Base run, take 2 🙂")).name == "Base run, take 2 🙂"


def test_a_name_like_a_prefix_does_not_hide_a_whole_id(catalog: Catalog) -> None:
    """A thing whose id is given whole is reached, whatever is named the same."""
    with catalog._database.write() as connection:
        row = {"position": 1, "created_at": "", "workload_id": "abc", "name": "one"}
        connection.execute(insert(schema.workloads).values(row))
        connection.execute(insert(schema.workloads).values(row | {"position": 2, "workload_id": "d", "name": "abc"}))
    assert catalog.workload("abc").name == "one"
