"""Who descends from whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import ColumnElement, func, literal, select

from akka_optimize import errors
from akka_optimize.records import Page, Run
from akka_optimize.trainer.catalog import references, runs, schema
from akka_optimize.trainer.catalog.base import Part, check_page
from akka_optimize.trainer.catalog.fans import require_submission

table = schema.runs


class Lineage(Part):
    """The catalog's runs, as parents and children."""

    def branches(
        self, parent: str | None = None, *, submission_id: str | None = None, limit: int = 50, offset: int = 0
    ) -> Page:
        """Children, newest first: of a run, of a submission, or those of both.

        Raises Invalid (neither; limit, offset), NotFound (run, submission), Ambiguous.
        """
        check_page(limit, offset)
        if not parent and not submission_id:
            raise errors.Invalid("name the run, or the submission, whose children to list", field="parent")
        with self._database.read() as connection:
            condition: list[ColumnElement[bool]] = [table.c.parent_run_id.is_not(None)]
            if parent:
                condition.append(table.c.parent_run_id == references.find(connection, runs.KIND, parent))
            if submission_id:
                require_submission(connection, submission_id)
                condition.append(table.c.submission_id == submission_id)
            total = connection.execute(select(func.count()).select_from(table).where(*condition)).scalar_one()
            newest_first = runs.selected().where(*condition).order_by(table.c.position.desc())
            rows = connection.execute(newest_first.limit(limit).offset(offset))
            return Page(tuple(map(runs.record, rows)), offset, total)

    def descendants(self, reference: str, depth: int = 0) -> Page:
        """A run and `depth` generations below it, 0 for all: each run right before its children, the oldest first.

        Raises Invalid (depth), NotFound, Ambiguous.
        """
        if depth < 0:
            raise errors.Invalid(f"a depth counts generations and is not negative, as {depth} is", field="depth")
        with self._database.read() as connection:
            root = references.find(connection, runs.KIND, reference)
            top = select(table.c.run_id, literal(0).label("generation")).where(table.c.run_id == root)
            tree = top.cte("tree", recursive=True)
            below = select(table.c.run_id, tree.c.generation + 1).where(table.c.parent_run_id == tree.c.run_id)
            tree = tree.union_all(below.where(tree.c.generation < depth) if depth else below)
            wanted = runs.selected().join(tree, tree.c.run_id == table.c.run_id).order_by(table.c.position)
            found = tuple(_parents_first(root, map(runs.record, connection.execute(wanted))))
        return Page(found, 0, len(found))

    def ancestry(self, reference: str) -> Page:
        """The chain from the root to a run, which is the last. Raises NotFound, Ambiguous."""
        with self._database.read() as connection:
            own = references.find(connection, runs.KIND, reference)
            bottom = select(table.c.run_id, table.c.parent_run_id, literal(0).label("generation"))
            chain = bottom.where(table.c.run_id == own).cte("chain", recursive=True)
            above = select(table.c.run_id, table.c.parent_run_id, chain.c.generation + 1)
            chain = chain.union_all(above.where(table.c.run_id == chain.c.parent_run_id))
            wanted = runs.selected().join(chain, chain.c.run_id == table.c.run_id)
            rows = connection.execute(wanted.order_by(chain.c.generation.desc()))
            found = tuple(map(runs.record, rows))
        return Page(found, 0, len(found))


def _parents_first(root: str, found: Iterable[Run]) -> Iterator[Run]:
    """The tree below `root`, gone through depth first; siblings keep their order."""
    children: dict[str | None, list[Run]] = {}
    waiting: list[Run] = []
    for run in found:
        if run.run_id == root:
            waiting.append(run)
        else:
            children.setdefault(run.parent_run_id, []).append(run)
    while waiting:
        run = waiting.pop()
        yield run
        waiting += reversed(children.get(run.run_id, ()))
