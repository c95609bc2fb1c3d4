"""What people write on a run afterwards: comments, its description, its label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import update

from akka_optimize import errors
from akka_optimize.trainer.catalog import runs
from akka_optimize.trainer.catalog.base import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from akka_optimize.records import Document, Run

MOST_EVENTS = 1000  # comments and changes of one run
MOST_CHARACTERS = 100_000  # in all of them together: every list of runs carries them
KINDS = frozenset({"comment", "annotated"})
COLUMNS = {"description": runs.table.c.description, "configName": runs.table.c.config_name}


class Annotations(Part):
    """The catalog's comments on runs."""

    def annotate_run(self, run_id: str, *, comment: str | None, description: str | None, label: str | None) -> Run:
        """Put a comment after the others, and set description and label; "" clears them, None leaves them.

        Each is an event of the run's, but for a text that is there already. Raises NotFound, Exhausted (limits).
        """
        with self._database.write() as connection:
            run = runs.run_of(connection, run_id)
            changes: list[Document] = [
                {"field": field, "from": was, "to": text or None}
                for field, was, text in (
                    ("description", run.description, description),
                    ("configName", run.config_name, label),
                )
                if text is not None and (text or None) != was
            ]
            said: list[tuple[str, Document]] = [("annotated", change) for change in changes]
            if comment is not None:
                said.insert(0, ("comment", {"text": comment}))
            _require_room(run, [event for _, event in said])
            for kind, event in said:
                dated = {"at": self._now(), "kind": kind, "attempt": run.attempt, **event}
                runs.append_event(connection, run_id, dated)
            for change in changes:
                column = COLUMNS[change["field"]]
                connection.execute(
                    update(runs.table).where(runs.table.c.run_id == run_id).values({column: change["to"]})
                )
            return runs.run_of(connection, run_id)


def _require_room(run: Run, events: Sequence[Document]) -> None:
    there = [event for event in run.events if event["kind"] in KINDS]
    if len(there) + len(events) > MOST_EVENTS:
        raise errors.Exhausted(f"run {run.run_id} has {len(there)} comments and changes, and takes {MOST_EVENTS}")
    size = sum(map(_characters, [*there, *events]))
    if size > MOST_CHARACTERS:
        raise errors.Exhausted(
            f"the comments and changes of run {run.run_id} would have {size} characters, and may have "
            f"{MOST_CHARACTERS}",
            hint="keep what is long in a file, and name it in the comment",
        )


def _characters(event: Document) -> int:
    return sum(len(event.get(name) or "") for name in ("text", "from", "to"))
