"""Imports whose process dies, or whose disk is full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import processes, records

from akka_optimize import errors
from akka_optimize.trainer import files, intake
from akka_optimize.trainer.catalog import Catalog

FULL = """
import resource, sys
from pathlib import Path
from support import records
from akka_optimize import errors
from akka_optimize.trainer import intake
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
home = Home.open(sys.argv[1])
sent = records.sent(home, Path(sys.argv[2]))
with Catalog.open(home) as catalog:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
    try:
        intake.take(catalog, home, sent)
    except errors.Exhausted as error:
        print(error.message)
"""


def test_an_import_that_is_killed_has_happened_or_not() -> None:
    """Killed before each kind of act: all runs are there or none, with whole folders, and the next import ends well."""
    outcomes = json.loads(processes.run("from support.intake_faults import *; print(json.dumps(quietly(imports)))"))
    assert [(stage, wrong) for stage, _, wrong in outcomes if wrong] == []
    assert {after for _, after, _ in outcomes} == {0, 2}
    assert len(outcomes) > 20


@pytest.mark.parametrize("most", [0, 1000, 20_000])
def test_a_disk_that_is_full_leaves_nothing(folders: Path, tmp_path: Path, most: int) -> None:
    """Whichever file has no room, the import is refused, nothing has changed, and with room it succeeds."""
    home = records.fresh(tmp_path / "home")
    before = records.state(home)
    assert "cannot be written" in processes.run(FULL, home.path, folders, most)
    assert records.state(home) == before
    with Catalog.open(home) as catalog:
        assert len(intake.take(catalog, home, records.sent(home, folders)).runs) == 3


def test_a_disk_that_fails_while_folders_are_moved_leaves_nothing(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders that are in place already go again with those that are not."""
    home = records.fresh(tmp_path / "home")
    before = records.state(home)
    rename, renamed = Path.rename, []

    def failing(self: Path, target: Path) -> Path:
        if Path(target).parent == home.runs:
            renamed.append(target)
            if len(renamed) == 3:
                raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with Catalog.open(home) as catalog, pytest.raises(errors.Exhausted):
        intake.take(catalog, home, records.sent(home, folders))
    assert records.state(home) == before


def test_everything_is_on_the_disk_before_a_run_is_listed(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file and folder is flushed before it is moved, and the folder of all runs before the catalog commits."""
    home = records.fresh(tmp_path / "home")
    acts: list[tuple[str, str]] = []
    flush_all, flush_folder, rename = files.flush_all, files.flush_folder, Path.rename
    monkeypatch.setattr(
        files, "flush_all", lambda paths: (acts.extend(("flush", path.name) for path in paths), flush_all(paths))
    )
    monkeypatch.setattr(
        files, "flush_folder", lambda folder: (acts.append(("flush folder", folder.name)), flush_folder(folder))
    )

    def renaming(self: Path, target: Path) -> Path:
        if Path(target).parent == home.runs:
            acts.append(("move", Path(target).name))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", renaming)
    with Catalog.open(home) as catalog:
        take_in = catalog.take_in
        monkeypatch.setattr(catalog, "take_in", lambda taken: (acts.append(("list", "")), take_in(taken))[1])
        intake.take(catalog, home, records.sent(home, folders))
    kinds = [kind for kind, _ in acts if kind != "flush"]
    names = {path.name for path in home.runs.rglob("*")}
    first = next(at for at, (kind, _) in enumerate(acts) if kind == "move")
    assert names <= {name for kind, name in acts[:first] if kind == "flush"}
    last = [at for at, (kind, _) in enumerate(acts) if kind == "move"][-1]
    assert acts[last + 1 : last + 3] == [("flush folder", "runs"), ("list", "")]
    assert kinds.count("move") == 3


def test_two_imports_at_once_end_as_one(folders: Path, tmp_path: Path) -> None:
    """Of two processes that import the same folders both say so, or one that the runs were made meanwhile."""
    home = records.fresh(tmp_path / "home")
    code = (
        "import sys; from pathlib import Path; from support import records; from akka_optimize import errors\n"
        "from akka_optimize.trainer import intake\nfrom akka_optimize.trainer.catalog import Catalog\n"
        "from akka_optimize.trainer.home import Home\n"
        "home = Home.open(sys.argv[1]); catalog = Catalog.open(home); sent = records.sent(home, Path(sys.argv[2]))\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "try: print(len(intake.take(catalog, home, sent).runs))\n"
        "except errors.Conflict as error: print(error.message)\n"
    )
    both = [processes.start(code, home.path, folders) for _ in range(2)]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [processes.output(process) for process in both]
    assert "3\n" in said
    assert all(each == "3\n" or "was made meanwhile" in each for each in said)
    with Catalog.open(home) as catalog:
        assert catalog.runs().total == 3
    assert sorted(path.name for path in home.runs.iterdir()) == sorted(path.name for path in folders.iterdir())
