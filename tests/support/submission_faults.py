"""A submission of 50 points, killed at each kind of thing that it does, and then sent again under its token.

    PYTHONPATH=tests python -m support.submission_faults

prints a table: where it was killed, how many children there were then and after the second submission, how many of
the 50 were lost, how many there twice. `--json` prints the same for a program.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from support import life, parents

from akka_optimize.core import plans
from akka_optimize.records import FanRequest, Snapshot
from akka_optimize.trainer import branches, delete, recover, start
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

POINTS = 50
MEMORY = "/dev/shm"  # a flush there takes no time, and a process that is killed needs no disk
AUDITED = {"os.mkdir": 0, "os.rename": 0, "os.link": 1, "os.remove": 0, "shutil.rmtree": 0}  # the argument with a path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one kill came to; `wrong` says what should not have been."""

    stage: str
    after: int  # children there after the kill
    again: int  # and after the second submission
    doubled: int
    wrong: str | None


class Events:
    """What a submission does to the disk and to the catalog; the process dies at the number `last`, from 0."""

    def __init__(self, folder: Path, last: int | None = None) -> None:
        self._folder, self._last = str(folder), last
        self.seen: list[str] = []
        self._wrote = False

    def happens(self, what: str) -> None:
        """One more; it has not been done yet."""
        self.seen.append(what)
        if len(self.seen) - 1 == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def listen(self) -> None:
        """From now on, for the rest of the process."""
        from sqlalchemy import Engine, event
        from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

        sys.addaudithook(self._audited)
        fsync, commit = os.fsync, SQLiteDialect_pysqlite.do_commit

        def flushing(descriptor: int) -> None:
            self.happens("flush")
            fsync(descriptor)

        def committing(dialect: Any, connection: Any) -> None:
            wrote, self._wrote = self._wrote, False
            self.happens("commit" if wrote else "end of reading")
            commit(dialect, connection)
            if wrote:
                self.happens("committed")

        os.fsync = flushing
        SQLiteDialect_pysqlite.do_commit = committing  # type: ignore[method-assign]
        event.listen(Engine, "before_cursor_execute", self._executing)

    def _executing(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT"):
            self._wrote = True
            self.happens(" ".join(statement.split()[:3]).lower())

    def _audited(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _mode, flags = arguments
            if isinstance(path, str) and flags & (os.O_WRONLY | os.O_RDWR) and self._ours(path):
                self.happens(f"write {kind(path)}")
        elif event in AUDITED and isinstance(path := os.fspath(arguments[AUDITED[event]]), str) and self._ours(path):
            self.happens(f"{event.rpartition('.')[2]} {kind(path)}")

    def _ours(self, path: str) -> bool:
        return path.startswith(self._folder) and "/locks/" not in path and "catalog.sqlite" not in path


def kind(path: str) -> str:
    """A path below a home, without what differs from run to run."""
    name = os.path.basename(path)
    if os.path.basename(os.path.dirname(path)) == "runs":
        return "folder beside" if name.startswith(".tmp-") else "folder"
    if re.fullmatch(r"[0-9a-f]{32}(\.rows)?", name):
        return "rows beside" if name.endswith(".rows") else "upload"
    return "file beside" if name.startswith(".tmp-") else name


def in_child(task: Callable[[], None]) -> int:
    """Carry out a task in a forked process; its exit status, negative for a signal."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            task()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


Task = Callable[[Catalog, Home], object]


def submitting(asked: FanRequest) -> Task:
    """What the servicer does with a fan."""
    return lambda catalog, home: branches.submit(catalog, home, asked)


def perform(folder: Path, task: Task, last: int | None = None, told: Path | None = None) -> None:
    """Carry out a task in a process that dies at the event `last`; the events are written to `told`."""
    events = Events(folder, last)
    home = Home.open(folder)
    with Catalog.open(home) as catalog:
        events.listen()
        task(catalog, home)
        events.happens("end")
    if told is not None:
        told.write_text(json.dumps(events.seen))


def stages(seen: list[str]) -> list[int]:
    """For each kind of event its first and its last occurrence."""
    places: dict[str, list[int]] = {}
    for number, what in enumerate(seen):
        places.setdefault(what, []).append(number)
    return sorted({at for all_ in places.values() for at in (all_[0], all_[-1])})


def disagreements(catalog: Catalog, home: Home) -> list[str]:
    """Runs without their whole folder, folders without a run, and what else should not lie about."""
    runs = catalog.runs(limit=1000).items
    known = {run.folder.removeprefix("runs/") for run in runs}
    found = [f"{name} belongs to no run" for name in sorted(set(os.listdir(home.runs)) - known)]
    for run in runs:
        try:
            text = (home.path / run.folder / "config.json").read_text()
            identity = json.loads((home.path / run.folder / "run.json").read_bytes())
        except OSError as error:
            found.append(f"run {run.run_id}: {error}")
            continue
        if text != plans.plan_text(run.plan) or identity["runId"] != run.run_id:
            found.append(f"the folder of run {run.run_id} is another run's")
    if (home.path / "unfinished.json").exists():
        found.append("a note of folders on their way")
    return found


def look(folder: Path, asked: FanRequest, stage: str) -> Outcome:
    """Open the home as the next command does, then submit again."""
    home = Home.open(folder)
    with Catalog.open(home) as catalog:
        recover.recover(catalog, home)
        wrong = disagreements(catalog, home)
        after = catalog.branches(asked.parent).total
        if after not in (0, POINTS):
            wrong.append(f"{after} of {POINTS} children")
        told = branches.submit(catalog, home, asked)
        wrong += disagreements(catalog, home)
        there = [run.run_id for run in catalog.branches(asked.parent, limit=1000).items]
        expected = [point.child_run_id for point in told.points]
        if sorted(there) != sorted(expected) or there[::-1] != expected:
            wrong.append("other children than those that the points stand for, or in another order")
        return Outcome(stage, after, len(there), len(there) - len(set(there)), "; ".join(wrong) or None)


def prepare(folder: Path) -> tuple[Path, Snapshot]:
    """A home with a parent, closed, and the snapshot to branch from."""
    home, catalog = life.open_home(folder)
    with catalog:
        parent = parents.trained(catalog, home)
        return home.path, catalog.snapshots(parent.run_id).items[1]


def kills(folder: Path, base: Path, task: Task) -> Iterator[tuple[str, Path]]:
    """Kill a task at every stage, each time in a copy of the home `base`: where, and the copy."""
    told = folder / "events.json"
    whole = shutil.copytree(base, folder / "whole")
    assert in_child(lambda: perform(whole, task, told=told)) == 0
    shutil.rmtree(whole)
    seen = json.loads(told.read_text())
    for number in stages(seen):
        copy = shutil.copytree(base, folder / f"home-{number}")
        status = in_child(lambda copy=copy, number=number: perform(copy, task, last=number))
        assert status == -signal.SIGKILL, (seen[number], status)
        yield f"{seen[number]}, event {number + 1} of {len(seen)}", copy
        shutil.rmtree(copy)


def submissions(folder: Path) -> list[Outcome]:
    """Kill a submission at every stage, and send it again."""
    base, snapshot = prepare(folder)
    asked = parents.asked(snapshot, *parents.rates(POINTS))
    return [look(copy, asked, stage) for stage, copy in kills(folder, base, submitting(asked))]


def deletions(folder: Path) -> list[tuple[str, bool, list[str]]]:
    """Kill the deletion of a child at every stage: where, whether the child is still there, and what disagrees."""
    base, snapshot = prepare(folder)
    home = Home.open(base)
    with Catalog.open(home) as catalog:
        (point,) = branches.submit(catalog, home, parents.asked(snapshot, {parents.RATE: 1e-5})).points
        child = parents.carry_out(catalog, home).run_id
        assert child == point.child_run_id
    found = []
    for stage, copy in kills(folder, base, lambda catalog, home: delete.delete(catalog, home, child)):
        home = Home.open(copy)
        with Catalog.open(home) as catalog:
            recover.recover(catalog, home)
            there = bool(catalog.branches(snapshot.run_id).total)
            wrong = disagreements(catalog, home)
            if there:
                delete.delete(catalog, home, child)
                wrong += disagreements(catalog, home)
            found.append((stage, there, wrong))
    return found


def starts(folder: Path) -> list[tuple[str, int, list[str]]]:
    """Kill the start of a run at every stage: where, how many runs there are then, and what disagrees."""
    home, catalog = life.open_home(folder)
    catalog.close()
    found = []
    for stage, copy in kills(folder, home.path, lambda catalog, home: start.start(catalog, home, life.descriptor())):
        home = Home.open(copy)
        with Catalog.open(home) as catalog:
            recover.recover(catalog, home)
            found.append((stage, catalog.runs().total, disagreements(catalog, home)))
    return found


def quietly(what: Callable[[Path], Any]) -> Any:
    """The outcome, in a folder that goes again; what workers print is dropped."""
    stderr = sys.stderr
    with (
        tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as folder,
        open(os.devnull, "w") as sys.stderr,
    ):
        found = what(Path(folder))
    sys.stderr = stderr
    return found


def main(argv: list[str]) -> None:
    """Print the outcomes: of deletions or starts where these are asked for, and as JSON where that is."""
    for word, what in (("deletions", deletions), ("starts", starts)):
        if word in argv:
            print(json.dumps(quietly(what)))
            return
    outcomes = quietly(submissions)
    if "--json" in argv:
        print(json.dumps([asdict(outcome) for outcome in outcomes]))
        return
    print(f"{'killed before':44}  then  again  lost  doubled")
    for outcome in outcomes:
        lost = POINTS - outcome.again
        line = f"{outcome.stage:44}  {outcome.after:4}  {outcome.again:5}  {lost:4}  {outcome.doubled:7}"
        print(line, outcome.wrong or "")
    lost, doubled = sum(POINTS - each.again for each in outcomes), sum(each.doubled for each in outcomes)
    print(f"tried {len(outcomes)}, lost {lost}, doubled {doubled}")


if __name__ == "__main__":
    main(sys.argv[1:])
