"""`training runs export` and `training runs import`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import records
from support.homes import CommandLine


@pytest.fixture(scope="module")
def lineage(tmp_path_factory: pytest.TempPathFactory) -> records.Lineage:
    """A parent and a child that nobody changes."""
    return records.lineage(tmp_path_factory.mktemp("lineage"))


def names(lineage: records.Lineage) -> list[str]:
    """The folders of the child's lineage."""
    return [records.place(Path(), run).name for run in (lineage.parent, lineage.child)]


def test_export_tells_of_the_folders_that_it_wrote(lineage: records.Lineage, tmp_path: Path) -> None:
    """As text where they are, as JSON each field; what was there already is said on stderr."""
    shell = CommandLine(lineage.folder)
    argv = ["training", "runs", "export", lineage.child.run_id, str(tmp_path / "records")]
    text = shell.ok(argv)
    assert all(part in text for part in (str(tmp_path / "records"), *names(lineage)))
    ended = shell([*argv, "-o", "json"])
    assert json.loads(ended.out) == {
        "directory": str(tmp_path / "records"),
        "runIds": [lineage.parent.run_id, lineage.child.run_id],
        "folders": names(lineage),
        "existing": names(lineage),
        "bytes": 0,
    }
    assert ended.err.count("was there already, with the same content, and was left alone") == 2


def test_import_shows_the_runs(lineage: records.Lineage, tmp_path: Path) -> None:
    """A table of them, roots first, or the JSON of a list; the second time says that they were there."""
    directory = records.exported(lineage, tmp_path / "records")
    shell = CommandLine(tmp_path / "fresh")
    argv = ["training", "runs", "import", str(directory)]
    first = shell(argv)
    assert (first.code, first.err) == (0, "")
    assert [line.split()[0] for line in first.out.splitlines()] == ["RUN", lineage.parent.run_id, lineage.child.run_id]
    again = shell([*argv, "-o", "json"])
    assert [run["runId"] for run in json.loads(again.out)["runs"]] == [lineage.parent.run_id, lineage.child.run_id]
    assert again.err.count("is there already, and nothing of it was changed") == 2


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        ("training runs export nobody DIR", 1, "nobody"),
        ("training runs export", 2, "RUN"),
        ("training runs export parent", 2, "DIR"),
        ("training runs import", 2, "DIR"),
        ("training runs import DIR/none", 2, "none cannot be read"),
        ("training runs import DIR", 1, "neither the folder of a run"),
    ],
)
def test_what_cannot_be_done_is_said(lineage: records.Lineage, tmp_path: Path, argv: str, code: int, said: str) -> None:
    """With its exit code, and nothing on stdout."""
    ended = CommandLine(lineage.folder)(argv.replace("DIR", str(tmp_path)) if "runs import DIR" in argv else argv)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
