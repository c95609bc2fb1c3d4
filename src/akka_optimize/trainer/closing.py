"""What a run's folder gains when the run ends: metrics.csv, summary.json, and checksums.txt over every file in it."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from akka_optimize import errors
from akka_optimize.core.alignment import latest
from akka_optimize.core.medians import median
from akka_optimize.core.nonfinite import non_finite
from akka_optimize.core.spikes import spikes
from akka_optimize.protocol import convert
from akka_optimize.record import checksums as lists
from akka_optimize.record import curves
from akka_optimize.record import files as plain
from akka_optimize.record.layout import (
    CHECKSUMS,
    DATA,
    DIFF,
    FORMAT_VERSION,
    MANIFEST,
    METRICS,
    RUN,
    SNAPSHOTS,
    SUMMARY,
    TRAINING_STATE,
    UNFINISHED,
    WEIGHTS,
)
from akka_optimize.records import TERMINAL_PHASES
from akka_optimize.trainer import disk, files, retention
from akka_optimize.trainer.catalog.base import utc_now
from akka_optimize.trainer.catalog.runs import ended
from akka_optimize.trainer.failures import RESUMABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from akka_optimize.records import Document, Metrics, Pause, Run
    from akka_optimize.trainer.catalog import Catalog

SPIKE_FACTOR = 10.0  # the one that `compare` has by default
MOST_EVENTS = 1000
DIGEST = re.compile("[0-9a-f]{64}")


def close(
    catalog: Catalog,
    folder: Path,
    run: Run,
    *,
    phase: str,
    code: str | None,
    reason: str | None,
    ended_at: str | None = None,
    pause: Pause | None = None,
) -> None:
    """Write the run's last files, for the `phase` that it is about to have.

    `ended_at` is when, by default now; `pause` is by default the catalog's. All else is what the catalog says at this
    moment, and that the run ended in this phase, where it does not say so yet. Raises Exhausted, Refused (disk),
    NotFound.
    """
    now = catalog.run(run.run_id)
    at = ended_at or now.ended_at or utc_now()
    told_of = phase in (now.phase, "COMPLETED")
    told = replace(
        now,
        phase=phase,
        failure_code=code,
        failure_reason=reason,
        resumable=phase == "FAILED" and (code in RESUMABLE or (now.phase == phase and now.resumable)),
        ended_at=at if phase in TERMINAL_PHASES else None,
        pause=(pause or now.pause) if phase == "PAUSED" else pause,
        events=now.events if told_of else (*now.events, ended(now, phase, at, code, reason)),
    )
    metrics = convert.metrics(catalog.metrics(run.run_id))
    retention.tidy(catalog, folder, run)
    write(folder, summary(told, metrics, **_engine(catalog, run.run_id)), metrics)


def write(folder: Path, summary: Document, metrics: Metrics) -> None:
    """Close the folder with this summary and these curves. Raises Exhausted, Refused (disk)."""
    with files.translated(folder):
        _clear(folder)
        disk.replace(folder / METRICS, (line.encode() for line in curves.lines(metrics)))
        disk.replace(folder / SUMMARY, [disk.pretty(summary)])
        disk.replace(folder / CHECKSUMS, [checksums(folder)])


def reopen(folder: Path) -> None:
    """Take away what `write` wrote, for an attempt that goes on. Raises Refused (disk)."""
    with files.translated(folder):
        for name in (CHECKSUMS, SUMMARY, METRICS):
            (folder / name).unlink(missing_ok=True)
        files.flush_folder(folder)


def refresh(catalog: Catalog, folder: Path, run: Run) -> bool:
    """Put what the catalog has come to say of a run into the summary of its closed folder; was that done?

    Not where the folder is open, and not where its checksums are not sound: damage is never written down as if it
    were the record. Between the two files that are replaced a crash leaves a summary that does not match; mark the
    run as unclosed meanwhile, and whoever comes next closes it again. Raises Exhausted, Refused (disk), NotFound.
    """
    with files.translated(folder):
        if not (folder / CHECKSUMS).is_file():
            return False
        listed = lists.read((folder / CHECKSUMS).read_bytes())
        if listed.problems or listed.digests.get(SUMMARY) != disk.digest(folder / SUMMARY):
            return False
        metrics = convert.metrics(catalog.metrics(run.run_id))
        told = summary(catalog.run(run.run_id), metrics, **_engine(catalog, run.run_id))
        disk.replace(folder / SUMMARY, [disk.pretty(told)])
        digests = listed.digests | {SUMMARY: disk.digest(folder / SUMMARY)}
        disk.replace(folder / CHECKSUMS, [lists.written(digests)])
    return True


def summary(run: Run, metrics: Metrics, *, engine: Document | None = None, runtime: Document | None = None) -> Document:
    """`summary.json`: how the run stands, what its curves end in, its best snapshot, and all that was unusual.

    `engine` is what the engine was asked for and made of it, `runtime` what it then used.
    """
    best = {"snapshotId": run.best_snapshot_id, "step": run.best_step, "validationLoss": run.best_validation_loss}
    state = {
        "runId": run.run_id,
        "configHash": run.config_hash,
        "phase": run.phase,
        "failureCode": run.failure_code,
        "failureReason": run.failure_reason,
        "resumable": run.resumable,
        "pause": None if run.pause is None else {_camel(name): value for name, value in asdict(run.pause).items()},
        "attempt": run.attempt,
        "startedAt": run.started_at,
        "endedAt": run.ended_at,
        "steps": run.steps,
        "observedStep": run.observed_step,
        "savedStep": run.saved_step,
        "replacedSteps": run.replaced_steps,
        "loss": number(run.loss),
        "validationLoss": number(run.validation_loss),
        "best": None if run.best_snapshot_id is None else best,
        "engine": engine,
        "runtime": runtime,
    }
    return composed(state, metrics, events=run.events)


def composed(state: Document, metrics: Metrics, *, events: Sequence[Document] = ()) -> Document:
    """`summary.json`, from how a run stands and its curves: what they end in, and what was unusual in them."""
    return {
        "formatVersion": FORMAT_VERSION,
        **state,
        "final": _final(metrics),
        "events": [*events, *_found(metrics)],
    }


def checksums(folder: Path) -> bytes:
    """One `sha256sum` line for every plain file below `folder` but the diff, which stays when the folder travels, and
    whose digest is in `run.json`; the last line is the digest of those before it.

    Of rows, weights and training states it lists what they were when they were written, and reads none of them again:
    damage since then is found, and not taken for the record.
    """
    known = _written(folder)
    digests = {}
    for name, oddity in plain.walk(folder):
        unfinished = f"/{UNFINISHED}" in f"/{name}"
        if oddity is None and name not in (CHECKSUMS, DIFF) and not unfinished:
            digests[name] = known.get(name) or disk.digest(folder / name)
    return lists.written(digests)


def number(value: float | None) -> float | None:
    """JSON has no NaN and no infinity: they are null, and told of among the events."""
    return value if value is not None and math.isfinite(value) else None


def _engine(catalog: Catalog, run_id: str) -> dict[str, Document]:
    """What the catalog holds of the engine's settings; nothing before it has said them."""
    told: dict[str, Document] = {}
    try:
        config = catalog.engine_config(run_id)
        told["engine"] = {"requested": config.requested, "resolved": config.resolved}
        used = catalog.engine_runtime(run_id)
        told["runtime"] = {"attempt": used.attempt, "used": used.runtime}
    except errors.NotFound:
        pass
    return told


def _written(folder: Path) -> dict[str, str]:
    """The sha256 that files had when they were written, by path, as far as the folder's documents say."""
    found = {DATA: _part(_document(folder / RUN), "dataset", "hash")}
    for manifest in folder.glob(f"{SNAPSHOTS}/*/{MANIFEST}"):
        place = manifest.parent.relative_to(folder).as_posix()
        told = _document(manifest)
        found |= {f"{place}/{name}": _part(told, "files", name, "sha256") for name in (WEIGHTS, TRAINING_STATE)}
    return {name: digest for name, digest in found.items() if isinstance(digest, str) and DIGEST.fullmatch(digest)}


def _document(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):  # whoever verifies the folder is told
        return None


def _part(document: Any, *path: str) -> Any:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _clear(folder: Path) -> None:
    """Take away what a writer that died or failed had not finished."""
    for leftover in [*folder.glob(f"{UNFINISHED}*"), *folder.glob(f"{SNAPSHOTS}/{UNFINISHED}*")]:
        if leftover.is_dir() and not leftover.is_symlink():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _final(metrics: Metrics) -> Document:
    """Each column's last step and what was recorded there."""
    final: Document = {}
    for name in curves.COLUMNS:
        if (column := metrics.columns.get(name)) is not None and len(column.steps):
            steps, values, _ = latest(column)
            final[name] = {"step": int(steps[-1]), "value": number(float(values[-1]))}
    return final


def _found(metrics: Metrics) -> list[Document]:
    """What is unusual in the curves: stretches that were not finite, and gradient spikes.

    Cut at `MOST_EVENTS`, and says so.
    """
    events: list[Document] = []
    for name in ("loss", "gradNorm", "validationLoss"):
        if (column := metrics.columns.get(name)) is not None:
            steps, values, _ = latest(column)
            events += _not_finite(name, steps, values)
    if (column := metrics.columns.get("gradNorm")) is not None:
        steps, norms, _ = latest(column)
        usual = median(norms[np.isfinite(norms)])
        events += [
            {"kind": "spike", "step": int(steps[i]), "gradNorm": number(float(norms[i])), "medianGradNorm": usual}
            for i in spikes(norms, usual, SPIKE_FACTOR)[:MOST_EVENTS].tolist()
        ]
    if len(events) > MOST_EVENTS:
        events[MOST_EVENTS:] = [{"kind": "cut", "left": len(events) - MOST_EVENTS}]
    return events


def _not_finite(metric: str, steps: np.ndarray, values: np.ndarray) -> Iterator[Document]:
    for found in non_finite(metric, steps, values):
        blocks = (found.ranges.first_steps.tolist(), found.ranges.last_steps.tolist(), found.ranges.counts.tolist())
        for first, last, count in zip(*blocks, strict=True):
            yield {
                "kind": "nonFinite",
                "metric": metric,
                "value": found.value,
                "firstStep": first,
                "lastStep": last,
                "steps": count,
            }


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
