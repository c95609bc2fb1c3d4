"""Attempts at runs of which only the catalog knows."""

from __future__ import annotations

from support.catalog import new_run

from akka_optimize.records import Artifact, Run, Snapshot
from akka_optimize.trainer.catalog import Catalog, NewSnapshot


def saved(
    catalog: Catalog, run: Run, step: int, *, loss: float | None = None, kinds: tuple[str, ...] = ("trainingState",)
) -> Snapshot:
    """A snapshot of the run's attempt that only the catalog knows, of which these kinds are kept."""
    digest = f"{run.attempt:02}{step:062}"
    found = tuple(Artifact(kind, digest, 100, swept=kind not in kinds) for kind in ("weights", "trainingState"))
    new = NewSnapshot(
        snapshot_id=f"{run.run_id}{digest[16:]}{run.attempt:016}",
        run_id=run.run_id,
        attempt=run.attempt,
        step=step,
        epoch=1.0,
        artifacts=found,
        validation_loss=loss,
    )
    return catalog.add_snapshot(new)


def claimed(catalog: Catalog) -> Run:
    """A run in its first attempt."""
    catalog.add_run(new_run(catalog, steps=100))
    run = catalog.claim()
    assert run is not None
    return run


def fell(catalog: Catalog, run: Run) -> None:
    """The run's worker died."""
    catalog.set_phase(
        run.run_id, "FAILED", only_from=("PREPARING", "TRAINING"), failure_code="WORKER_LOST", resumable=True
    )


def again(catalog: Catalog, run: Run) -> Run:
    """The run, after its worker died, in its next attempt."""
    fell(catalog, run)
    catalog.requeue(run.run_id)
    found = catalog.claim()
    assert found is not None
    assert found.run_id == run.run_id
    return found
