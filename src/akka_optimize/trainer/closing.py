"""What a run's folder gains when the run ends: metrics.csv, summary.json, and checksums.txt over every file in it."""

from __future__ import annotations

import hashlib
import math
import shutil
from typing import TYPE_CHECKING

import numpy as np

from akka_optimize.core.alignment import Latest, latest
from akka_optimize.core.medians import median
from akka_optimize.core.nonfinite import non_finite
from akka_optimize.core.spikes import spikes
from akka_optimize.protocol import convert
from akka_optimize.trainer import disk, files, retention

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from akka_optimize.records import Document, Metrics, Run
    from akka_optimize.trainer.catalog import Catalog

COLUMNS = ("loss", "gradNorm", "clipped", "learningRate", "tokens", "seconds", "validationLoss")
WHOLE = frozenset({"clipped", "tokens"})  # columns of whole numbers
METRICS, SUMMARY, CHECKSUMS = "metrics.csv", "summary.json", "checksums.txt"
SPIKE_FACTOR = 10.0  # the one that `compare` has by default
MOST_EVENTS = 1000
LINES_AT_ONCE = 4096
PAGE = 100
UNFINISHED = "/.tmp-"


def close(catalog: Catalog, folder: Path, run: Run, *, phase: str, code: str | None, reason: str | None) -> None:
    """Write the run's last files, for the `phase` that it is about to have. Raises Exhausted, Refused (disk)."""
    metrics = convert.metrics(catalog.metrics(run.run_id))
    summary = {
        "formatVersion": 1,
        "runId": run.run_id,
        "configHash": run.config_hash,
        "phase": phase,
        "failureCode": code,
        "failureReason": reason,
        "attempt": run.attempt,
        "steps": run.steps,
        "final": _final(metrics),
        "best": _best(catalog, run),
        "events": _events(metrics),
    }
    retention.tidy(catalog, folder, run)
    with files.translated(folder):
        _clear(folder)
        disk.replace(folder / METRICS, (line.encode() for line in _lines(metrics)))
        disk.replace(folder / SUMMARY, [disk.pretty(summary)])
        disk.replace(folder / CHECKSUMS, [checksums(folder)])


def _clear(folder: Path) -> None:
    """Take away what a writer that died or failed had not finished."""
    for leftover in [*folder.glob(".tmp-*"), *folder.glob("snapshots/.tmp-*")]:
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def checksums(folder: Path) -> bytes:
    """One `sha256sum` line for every file below `folder`; the last line is the digest of those before it.

    It stands behind a comment sign, so that `sha256sum --check` passes over it.
    """
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [
        f"{disk.digest(folder / name)}  {name}\n"
        for name in names
        if name != CHECKSUMS and UNFINISHED not in f"/{name}"
    ]
    body = "".join(lines).encode()
    return body + f"# {hashlib.sha256(body).hexdigest()}  {CHECKSUMS}\n".encode()


def number(value: float) -> float | None:
    """JSON has no NaN and no infinity: they are null, and told of among the events."""
    return value if math.isfinite(value) else None


def text(value: float, *, whole: bool = False) -> str:
    """A number for CSV: the shortest digits that read back as the same float; NaN, Infinity, -Infinity in words.

    >>> text(0.1), text(float("-inf")), text(24.0, whole=True)
    ('0.1', '-Infinity', '24')
    """
    if math.isfinite(value):
        return str(int(value)) if whole else repr(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _lines(metrics: Metrics) -> Iterator[str]:
    """The CSV: the latest attempt's value of each step, nothing where nothing was recorded."""
    yield f"step,{','.join(COLUMNS)}\n"
    curves = {name: latest(column) for name, column in metrics.columns.items()}
    steps = np.unique(np.concatenate([np.empty(0, np.int64), *(curve.steps for curve in curves.values())]))
    for at in range(0, len(steps), LINES_AT_ONCE):
        block = steps[at : at + LINES_AT_ONCE]
        cells = [_cells(curves.get(name), block, whole=name in WHOLE) for name in COLUMNS]
        for step, *row in zip(block.tolist(), *cells, strict=True):
            yield f"{step},{','.join(row)}\n"


def _cells(curve: Latest | None, block: np.ndarray, *, whole: bool) -> list[str]:
    """One column's cells for the steps in `block`, int64 (lines,) ascending."""
    if curve is None:
        return [""] * len(block)
    at = np.searchsorted(curve.steps, block).clip(max=len(curve.steps) - 1)
    there = curve.steps[at] == block
    values = curve.values[at]
    if there.all() and np.isfinite(values).all():  # as nearly everywhere, and three times as fast
        return list(map(repr, values.astype(np.int64).tolist() if whole else values.tolist()))
    pairs = zip(there.tolist(), values.tolist(), strict=True)
    return [text(value, whole=whole) if found else "" for found, value in pairs]


def _final(metrics: Metrics) -> Document:
    """Each column's last step and what was recorded there."""
    final: Document = {}
    for name in COLUMNS:
        if (column := metrics.columns.get(name)) is not None:
            steps, values, _ = latest(column)
            final[name] = {"step": int(steps[-1]), "value": number(float(values[-1]))}
    return final


def _best(catalog: Catalog, run: Run) -> Document | None:
    """The snapshot of the lowest validation loss, as the catalog judges."""
    offset = 0
    while (page := catalog.snapshots(run.run_id, limit=PAGE, offset=offset)).items:
        for snapshot in page.items:
            if snapshot.best:
                loss = snapshot.validation_loss
                return {"snapshotId": snapshot.snapshot_id, "step": snapshot.step, "validationLoss": loss}
        offset += PAGE
    return None


def _events(metrics: Metrics) -> list[Document]:
    """What was unusual: stretches that were not finite, and gradient spikes. Cut at `MOST_EVENTS`, and says so."""
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
