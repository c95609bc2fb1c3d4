"""Comments reach the catalog first, then a closed record, which stays sound."""

from __future__ import annotations

import json
import threading
from contextlib import suppress

import pytest
from support import life, parents

from akka_optimize import errors
from akka_optimize.trainer import annotate as module
from akka_optimize.trainer import claims, closing, recover, start, unclosed, verify


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def annotate(trainer, run, comment=None, description=None, config_name=None):
    """What `annotate` makes of a run."""
    return module.annotate(*trainer, run.run_id, comment=comment, description=description, config_name=config_name)


def told(trainer, run):
    """The comments and changes that the run's summary.json tells of."""
    events = json.loads((trainer[1].path / run.folder / "summary.json").read_text())["events"]
    return [event.get("text", event.get("to")) for event in events if event["kind"] in ("comment", "annotated")]


def sound(trainer, run):
    """Does every file of the record match?"""
    return verify.verify(*trainer, run.run_id).mismatches == ()


def test_a_closed_record_takes_the_comment_and_stays_sound(trainer):
    """summary.json has it, every other file is as it was, the checksums match, and nobody has to close it again."""
    run = parents.trained(*trainer)
    folder = trainer[1].path / run.folder
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    after = annotate(trainer, run, "rows 4 to 6 are mislabelled", "text", "label")
    assert told(trainer, run) == ["rows 4 to 6 are mislabelled", "text", "label"]
    changed = {path.name for path, data in before.items() if path.read_bytes() != data}
    assert changed == {"summary.json", "checksums.txt"}
    assert {path for path in folder.rglob("*") if path.is_file()} == set(before)
    assert sound(trainer, run)
    assert unclosed.marked(trainer[1]) == ()
    assert after == trainer[0].run(run.run_id)


def test_a_run_that_waits_takes_it_into_its_record_at_the_end(trainer):
    """A comment made before the run begins is in the record that its worker closes."""
    run = start.start(*trainer, life.descriptor())
    annotate(trainer, run, "made while it waited")
    assert not (trainer[1].path / run.folder / "summary.json").exists()
    ended = parents.carry_out(*trainer)
    assert ended.run_id == run.run_id
    assert told(trainer, run) == ["made while it waited"]
    assert sound(trainer, run)


def test_a_run_in_hand_is_not_waited_for(trainer, monkeypatch):
    """While a worker holds the run, the comment goes into the catalog, and the mark of the worker stays."""
    monkeypatch.setattr(module.time, "sleep", lambda _: pytest.fail("it waits"))
    start.start(*trainer, life.descriptor())
    run, lock = claims.take(*trainer)
    with lock:
        assert annotate(trainer, run, "made while it trained").events[-1]["text"] == "made while it trained"
        assert unclosed.is_marked(trainer[1], run.run_id)


def test_a_crash_between_catalog_and_record_is_made_good(trainer, monkeypatch):
    """What had reached the catalog alone is in the record once somebody has opened the home."""
    run = parents.trained(*trainer)

    class Killed(BaseException):
        """No handler in the code under test sees it coming."""

    def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(closing, "refresh", killed)
        patch.setattr(unclosed, "clear", lambda *_: None)  # nothing is done any more by a process that is gone
        with pytest.raises(Killed):
            annotate(trainer, run, "said just before")
    assert told(trainer, run) == []
    assert recover.recover(*trainer) == ()
    assert told(trainer, run) == ["said just before"]
    assert sound(trainer, run)
    assert unclosed.marked(trainer[1]) == ()


def test_a_crash_between_the_two_files_is_made_good(trainer, monkeypatch):
    """A summary that its checksums do not know yet is closed again, with the comment in it."""
    run = parents.trained(*trainer)
    replace = closing.disk.replace

    def fail(path, content):
        if path.name == "checksums.txt":
            raise OSError(28, "No space left on device", str(path))
        replace(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(closing.disk, "replace", fail)
        assert annotate(trainer, run, "said on a full disk").events[-1]["text"] == "said on a full disk"
    assert not sound(trainer, run)
    assert unclosed.is_marked(trainer[1], run.run_id)
    recover.recover(*trainer)
    assert told(trainer, run) == ["said on a full disk"]
    assert sound(trainer, run)


def test_damage_is_not_signed(trainer):
    """A record that does not match is not made to match by a comment: the damaged file is still named."""
    run = parents.trained(*trainer)
    config = trainer[1].path / run.folder / "config.json"
    config.write_bytes(config.read_bytes().replace(b"0", b"1", 1))
    annotate(trainer, run, "seen")
    recover.recover(*trainer)
    assert "config.json" in {mismatch.file for mismatch in verify.verify(*trainer, run.run_id).mismatches}


def test_a_folder_that_is_gone_takes_no_comment(trainer):
    """The catalog has it all the same."""
    run = parents.trained(*trainer)
    (trainer[1].path / run.folder).rename(trainer[1].path / "away")
    assert annotate(trainer, run, "the folder was lent out").events[-1]["kind"] == "comment"
    assert unclosed.marked(trainer[1]) == ()


def test_comments_at_the_same_time_are_all_kept(trainer):
    """Eight at once: each is in the catalog and in the record, once, and the record is sound."""
    run = parents.trained(*trainer)
    texts = [f"comment {number}" for number in range(8)]
    threads = [threading.Thread(target=annotate, args=(trainer, run, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told(trainer, run)) == texts
    assert sorted(event["text"] for event in trainer[0].run(run.run_id).events) == texts
    assert sound(trainer, run)
    assert unclosed.marked(trainer[1]) == ()


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ({}, "give a comment, a description or a label"),
        ({"comment": "  "}, "comment: the text is empty"),
        ({"comment": "x" * 10_001}, "comment: the text is 10001 characters long; write at most 10000"),
        ({"comment": "a\x1b[2J"}, "comment: the text holds the character U\\+001B at position 2"),
        ({"comment": "\ud800"}, "comment: the text holds the character U\\+D800"),
        ({"description": " \n"}, "description: the text is empty"),
        ({"description": "x" * 10_001}, "description: the text is 10001 characters long"),
        ({"config_name": "x" * 201}, "configName: the text is 201 characters long; write at most 200"),
        ({"config_name": "a\nb"}, "configName: the text holds a line end"),
        ({"config_name": " a"}, "configName: the text begins or ends with a space"),
    ],
)
def test_a_text_that_is_none_is_refused(trainer, stated, says):
    """With the rules that a descriptor's fields have, whichever field it is, and nothing is kept of the others."""
    run = start.start(*trainer, life.descriptor())
    usual = {"comment": None, "description": None, "config_name": None}
    with pytest.raises(errors.Invalid, match=says):
        module.annotate(*trainer, run.run_id, **usual | stated)
    assert trainer[0].run(run.run_id) == run


def test_a_refusal_leaves_no_mark(trainer):
    """Where the catalog takes no more, nobody has to close the record again."""
    run = parents.trained(*trainer)
    with suppress(errors.Exhausted):
        for _ in range(20):
            annotate(trainer, run, "x" * 10_000)
    assert len(told(trainer, run)) == 10
    assert unclosed.marked(trainer[1]) == ()
    assert sound(trainer, run)
