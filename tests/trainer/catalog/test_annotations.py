"""Comments, descriptions and labels in the catalog."""

from __future__ import annotations

import pytest
from support.catalog import make_run

from akka_optimize import errors
from akka_optimize.records import Run
from akka_optimize.trainer.catalog import Catalog, annotations


def annotate(
    catalog: Catalog, run: Run, comment: str | None = None, description: str | None = None, label: str | None = None
) -> Run:
    """What `annotate_run` makes of a run."""
    return catalog.annotate_run(run.run_id, comment=comment, description=description, label=label)


def test_a_comment_is_dated_and_put_after_the_others(catalog: Catalog) -> None:
    """Each has the time, the attempt and the text; those before it stay as they were."""
    run = make_run(catalog, attempts=[([1], [1.0], None)])
    first = annotate(catalog, run, "rows 4 to 6 are mislabelled")
    second = annotate(catalog, run, "mended since\nin the next dataset")
    assert second.events[: len(first.events)] == first.events
    said = [event for event in second.events if event["kind"] == "comment"]
    assert [(event["attempt"], event["text"]) for event in said] == [
        (2, "rows 4 to 6 are mislabelled"),
        (2, "mended since\nin the next dataset"),
    ]
    assert all(event["at"].startswith("2026-01-01T00:") for event in said)  # the catalog's clock
    assert catalog.run(run.run_id) == second


def test_description_and_label_are_set_and_what_they_were_is_kept(catalog: Catalog) -> None:
    """The run has the new text, and an event for each has the old one and the new one."""
    run = make_run(catalog, description="as submitted", name="first", purpose="to be looked at")
    after = annotate(catalog, run, None, "twice as many rows", "more rows")
    assert (after.description, after.config_name) == ("twice as many rows", "more rows")
    assert (after.name, after.purpose) == ("first", "to be looked at")
    changes = [(event["field"], event["from"], event["to"]) for event in after.events if event["kind"] == "annotated"]
    assert changes == [("description", "as submitted", "twice as many rows"), ("configName", None, "more rows")]


def test_an_empty_text_clears(catalog: Catalog) -> None:
    """The field is null afterwards, and the event says that it became so."""
    run = annotate(catalog, make_run(catalog), None, "text", "label")
    after = annotate(catalog, run, None, "", "")
    assert (after.description, after.config_name) == (None, None)
    assert [event["to"] for event in after.events[-2:]] == [None, None]


@pytest.mark.parametrize(("description", "label"), [("text", "label"), (None, None), ("text", None)])
def test_what_is_there_already_is_no_change(catalog: Catalog, description: str | None, label: str | None) -> None:
    """The same text again, an empty one where there is none, or nothing: the run is as it was, events included."""
    run = annotate(catalog, make_run(catalog), None, description, label)
    assert annotate(catalog, run, None, description or "", label or "") == run
    assert annotate(catalog, run) == run


def test_nothing_else_of_a_run_changes(catalog: Catalog) -> None:
    """What the hash is over, the curve's end, phase and times are what they were."""
    run = make_run(catalog, loss=[3.0, 2.0])
    after = annotate(catalog, run, "seen", "text", "label")
    same = set(Run.__slots__) - {"description", "config_name", "events"}
    assert {name: getattr(after, name) for name in same} == {name: getattr(run, name) for name in same}


def test_there_are_only_so_many(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one that fits is taken; a further one is refused whole, and events of other kinds do not count."""
    monkeypatch.setattr(annotations, "MOST_EVENTS", 3)
    run = make_run(catalog, attempts=[([1], [1.0], None)])
    annotate(catalog, run, "one", "two")
    with pytest.raises(errors.Exhausted, match="has 2 comments and changes, and takes 3"):
        annotate(catalog, run, "three", None, "four")
    assert catalog.run(run.run_id).config_name is None
    annotate(catalog, run, "three")
    with pytest.raises(errors.Exhausted):
        annotate(catalog, run, "four")


def test_together_they_are_only_so_long(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every character that is kept counts: of comments, and of texts before and after a change."""
    monkeypatch.setattr(annotations, "MOST_CHARACTERS", 30)
    run = annotate(catalog, make_run(catalog), "x" * 10, "y" * 10)
    with pytest.raises(errors.Exhausted, match="would have 31 characters, and may have 30"):
        annotate(catalog, run, None, "z")
    annotate(catalog, run, "x" * 10)


def test_an_unknown_run_has_no_comments(catalog: Catalog) -> None:
    """It is said so, and nothing is kept."""
    with pytest.raises(errors.NotFound):
        catalog.annotate_run("0" * 16, comment="seen", description=None, label=None)
