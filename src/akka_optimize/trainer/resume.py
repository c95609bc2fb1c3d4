"""Going on with a run: what it goes on from is looked at before it is queued."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import base_models, datasets
from akka_optimize.trainer.catalog.attempts import require_resumable
from akka_optimize.trainer.worker import source

if TYPE_CHECKING:
    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home


def resume(catalog: Catalog, home: Home, reference: str) -> Run:
    """Queue a run for another attempt.

    Raises NotFound (run, rows, base model), Ambiguous, Refused (it is neither paused nor one that failed and may go on;
    its folder is gone; what it would go on from, or the base model, is not what it was).
    """
    run = catalog.run(reference)
    require_resumable(run)
    again = f"`akka-optimize training runs repeat {run.run_id}` starts its plan again, from the beginning"
    if not (home.path / run.folder).is_dir():
        raise errors.Refused(
            f"the folder of run {run.run_id} is gone: {home.path / run.folder}", field="run", hint=again
        )
    datasets.place(home, run.dataset)
    _require_same_model(run)
    try:
        if source.own(catalog, home, run) is None:
            source.find(catalog, home, run)
    except (source.StateLost, source.SourceLost) as lost:
        raise errors.Refused(
            f"run {run.run_id} cannot go on: {lost.message}",
            field="run",
            hint=f"put the file back as it was and resume the run then; {again}",
        ) from lost
    return catalog.requeue(run.run_id)


def _require_same_model(run: Run) -> None:
    """Raise NotFound or Refused for what would fail the run for good once a worker has it."""
    model, wanted = base_models.find(run.base_model), run.plan["baseModel"]["revision"]
    if model.revision != wanted:
        raise errors.Refused(
            f"base model {model.repository} has revision {model.revision[:12]}, and run {run.run_id} trains on "
            f"{wanted[:12]}",
            field="run",
            hint="install the akka-optimize that the run was started with",
        )
