"""The names of the files in a run's folder."""

from __future__ import annotations

from typing import Final

RUN: Final = "run.json"
CONFIG: Final = "config.json"
DATA: Final = "data.jsonl"
DIFF: Final = "origin.diff"
LOG: Final = "worker.log"
SNAPSHOTS: Final = "snapshots"
METRICS: Final = "metrics.csv"
SUMMARY: Final = "summary.json"
CHECKSUMS: Final = "checksums.txt"
WEIGHTS: Final = "weights.safetensors"
TRAINING_STATE: Final = "training-state.pt"
MANIFEST: Final = "manifest.json"
UNFINISHED: Final = ".tmp-"  # how the name of what is being written begins

FORMAT_VERSION: Final = 1  # of run.json, summary.json and every manifest
