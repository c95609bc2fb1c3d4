"""Comments on a run, its description and its label. Its name and its purpose never change."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import texts
from akka_optimize.records import TERMINAL_PHASES
from akka_optimize.trainer import claims, unclosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

IN_HAND = frozenset({"PREPARING", "TRAINING"})
CLOSED = frozenset({*TERMINAL_PHASES, "PAUSED"})  # the phases in which a record has its last files
PATIENCE_SECONDS = 2.0  # for whoever else writes the last files of the record


def annotate(
    catalog: Catalog,
    home: Home,
    reference: str,
    *,
    comment: str | None,
    description: str | None,
    config_name: str | None,
) -> Run:
    """Add a dated comment; set, or by "" clear, description and label; None leaves them. The run as it is then.

    The catalog has it first. Where the record was closed, `summary.json` and `checksums.txt` are made anew, by whoever
    opens the home next if not here. Raises Invalid (nothing, or a text that is none), NotFound, Ambiguous, Exhausted.
    """
    if comment is None and description is None and config_name is None:
        raise errors.Invalid("give a comment, a description or a label", field="comment")
    for field, form, text in (
        ("comment", "text", comment),
        ("description", "text", description or None),
        ("configName", "line", config_name or None),
    ):
        if text is not None and (wrong := texts.fault(form, text)):
            raise errors.Invalid(f"{field}: the text {wrong}", field=field)
    run = catalog.run(reference)
    with _held(catalog, home, run) as held:
        mine = held and not unclosed.is_marked(home, run.run_id)
        if mine:
            unclosed.mark(home, run.run_id)
        owing = False
        try:
            run = catalog.annotate_run(run.run_id, comment=comment, description=description, label=config_name)
            owing = held and run.phase in CLOSED and not _renewed(catalog, home, run)
        finally:
            if mine and not owing:
                unclosed.clear(home, run.run_id)
    return run


@contextmanager
def _held(catalog: Catalog, home: Home, run: Run) -> Iterator[bool]:
    """Is the record this call's alone, for the block? Not while a worker has the run, and writes those files itself."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (lock := claims.hold(home, run)) is None:
        if time.monotonic() > deadline or catalog.run(run.run_id).phase in IN_HAND:
            break
        time.sleep(0.005)
    if lock is None:
        yield False
    else:
        with lock:
            yield True


def _renewed(catalog: Catalog, home: Home, run: Run) -> bool:
    """Make the last files of a closed record anew, unless they are damaged; False where the disk does not let it."""
    from akka_optimize.trainer import closing  # numpy

    try:
        closing.refresh(catalog, home.path / run.folder, run)
    except (errors.Exhausted, errors.Refused):  # what was said is in the catalog, and the mark stays
        return False
    return True
