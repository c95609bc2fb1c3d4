"""Datasets in the catalog, and the names that point at them."""

from __future__ import annotations

import pytest
from support.catalog import make_dataset

from akka_optimize import errors
from akka_optimize.trainer.catalog import Catalog

A, B = "a" * 64, "b" * 64


def test_a_dataset_is_kept_whole(catalog: Catalog) -> None:
    """What was registered is what is listed."""
    added = catalog.add_dataset(A, example_count=3, size_bytes=99, findings=("one", "zwei"), name="train")
    assert (added.hash, added.names, added.example_count, added.size_bytes) == (A, ("train",), 3, 99)
    assert (added.findings, added.format_version) == (("one", "zwei"), 1)
    assert catalog.datasets() == (added,)


def test_registering_again_reaches_the_first(catalog: Catalog) -> None:
    """The same rows are one dataset, as it was registered first; a further name is added."""
    first = catalog.add_dataset(A, example_count=3, size_bytes=99, name="train")
    again = catalog.add_dataset(A, example_count=3, size_bytes=99, findings=("other",), name="all")
    assert (again.names, again.findings, again.created_at) == (("all", "train"), (), first.created_at)
    assert len(catalog.datasets()) == 1


def test_newest_first(catalog: Catalog) -> None:
    """Datasets are listed in the order of arrival, the last one first, and keep their own names."""
    for hash, name in {B: "b", A: "a"}.items():
        make_dataset(catalog, hash=hash, name=name)
    assert [(dataset.hash, dataset.names) for dataset in catalog.datasets()] == [(A, ("a",)), (B, ("b",))]


def test_a_name_moves(catalog: Catalog) -> None:
    """A name points at one dataset, the one it was given to last; a dataset may have several."""
    make_dataset(catalog, hash=A, name="train")
    make_dataset(catalog, hash=B)
    assert catalog.name_dataset("train", "bbb").names == ("train",)
    assert catalog.name_dataset("second", "train").names == ("second", "train")
    assert catalog.dataset("train").hash == B
    assert catalog.dataset("aaa").names == ()
    assert make_dataset(catalog, hash=A, name="train").names == ("train",)
    assert catalog.dataset(B).names == ("second",)


@pytest.mark.parametrize(
    ("name", "reference", "kind"),
    [
        pytest.param("Train", "train", errors.Invalid, id="bad-name"),
        pytest.param("deadbeef", "train", errors.Invalid, id="name-like-an-id"),
        pytest.param("new", "ccc", errors.NotFound, id="unknown"),
        pytest.param("new", "", errors.Invalid, id="empty"),
    ],
)
def test_a_bad_naming_changes_nothing(
    catalog: Catalog, name: str, reference: str, kind: type[errors.AkkaError]
) -> None:
    """A name that cannot be given leaves all names where they were."""
    before = make_dataset(catalog, hash=A, name="train")
    with pytest.raises(kind):
        catalog.name_dataset(name, reference)
    assert catalog.datasets() == (before,)
