"""What the layers hand each other: frozen dataclasses, without behaviour.

Times are RFC 3339 text in UTC. A field that is not known is None. Documents are plain dicts with the types that the
user wrote (an integer stays an integer). Field names become the JSON names by turning snake_case into camelCase.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Document = dict[str, Any]

PHASES = ("QUEUED", "PREPARING", "TRAINING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED")
TERMINAL_PHASES = frozenset({"COMPLETED", "FAILED", "CANCELLED"})


@dataclass(frozen=True, slots=True)
class Info:
    """What a trainer says of itself."""

    backend: str
    version: str
    home: str
    workers: int
    queued: int
    running: int
    startup: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """An immutable list of chat examples, known by the hash of its rows in order."""

    hash: str
    names: tuple[str, ...]
    example_count: int
    size_bytes: int
    format_version: int
    findings: tuple[str, ...]
    created_at: str


@dataclass(frozen=True, slots=True)
class Workload:
    """One task that runs are grouped under."""

    workload_id: str
    name: str
    dataset: str | None
    grader: str | None
    created_at: str
    run_count: int


@dataclass(frozen=True, slots=True)
class BaseModel:
    """A pretrained model that runs adapt."""

    model_id: str
    repository: str
    revision: str
    status: str
    engine: str
    methods: tuple[str, ...]
    precisions: tuple[str, ...]
    parameters: int
    context_length: int
    license: str
    description: str


@dataclass(frozen=True, slots=True)
class Division:
    """How one update's sequences are spread; the product of the first three is the fourth."""

    devices: int
    sequences_per_pass: int
    accumulation: int
    sequences_per_update: int


@dataclass(frozen=True, slots=True)
class ResolvedRun:
    """What a descriptor means once every default is filled in."""

    descriptor: Document
    config: Document
    execution: Document
    plan: Document
    config_hash: str
    division: Division
    steps: int
    training_rows: int
    validation_rows: int
    skipped_rows: int
    stated: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One training operation, whatever phase it is in."""

    run_id: str
    name: str | None
    purpose: str | None
    description: str | None
    config_name: str | None
    phase: str
    workload: str
    workload_id: str
    method: str
    base_model: str
    dataset: str
    dataset_name: str | None
    grader: str | None
    submission_id: str | None
    config_hash: str
    plan: Document
    config: Document
    execution: Document
    environment: Document | None
    stated: tuple[str, ...]
    division: Division
    seed: int
    steps: int
    observed_step: int
    saved_step: int | None
    attempt: int
    loss: float | None
    validation_loss: float | None
    failure_code: str | None
    failure_reason: str | None
    resumable: bool
    created_at: str
    started_at: str | None
    ended_at: str | None
    folder: str
    training_rows: int
    validation_rows: int
    skipped_rows: int
    parent_run_id: str | None = None
    source_snapshot_id: str | None = None
    source_step: int | None = None
    restore: str | None = None
    changes: Document | None = None


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One change that a watcher is told of."""

    run_id: str
    phase: str
    step: int
    steps: int
    loss: float | None
    at: str
    terminal: bool
    failure_code: str | None
    failure_reason: str | None


@dataclass(frozen=True, slots=True)
class Column:
    """One metric: `values[i]`, float64, was recorded at `steps[i]`, int64, by attempt `attempts[i]`, int64.

    Ordered by attempt, then step; a step that two attempts recorded is there twice.
    """

    steps: np.ndarray
    values: np.ndarray
    attempts: np.ndarray


@dataclass(frozen=True, slots=True)
class Metrics:
    """A run's curves by name: `loss`, `gradNorm`, `clipped`, `learningRate`, `tokens`, `seconds`, `validationLoss`."""

    columns: dict[str, Column]


@dataclass(frozen=True, slots=True)
class MetricsTable:
    """A run's curves side by side: for each of `steps`, int64 (n,), the latest attempt's value of every metric.

    `columns[name]` is float64 (n,), and holds something only where `recorded[name]`, bool (n,), says so. `replaced`
    counts the values that a later attempt recorded again.
    """

    run_id: str
    steps: np.ndarray
    columns: dict[str, np.ndarray]
    recorded: dict[str, np.ndarray]
    non_finite: tuple[NonFinite, ...]
    replaced: int


@dataclass(frozen=True, slots=True)
class Hparams:
    """A run's settings by path, as its worker recorded them, and the sha256 of its plan."""

    run_id: str
    hparams: Document
    sha: str


@dataclass(frozen=True, slots=True)
class Artifact:
    """One kind of thing that a snapshot holds: `weights` or `trainingState`."""

    kind: str
    manifest_digest: str
    size_bytes: int
    swept: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One committed save."""

    snapshot_id: str
    run_id: str
    attempt: int
    step: int
    epoch: float
    artifacts: tuple[Artifact, ...]
    status: str
    validation_loss: float | None
    created_at: str
    best: bool
    held_by: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a list: `items` from `offset` on, out of `total`."""

    items: tuple[Any, ...]
    offset: int
    total: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One leaf in which two documents differ; a side that has no such leaf is None."""

    path: str
    run: Any
    baseline: Any


@dataclass(frozen=True, slots=True)
class Ranges:
    """Blocks of neighbouring recorded steps, int64 (blocks,) each: first and last step, and how many steps."""

    first_steps: np.ndarray
    last_steps: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True, slots=True)
class NonFinite:
    """Blocks of neighbouring recorded steps at which `metric` was `value`: `NaN`, `Infinity` or `-Infinity`."""

    metric: str
    value: str
    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Spikes:
    """Steps with a spike in the gradient norm before clipping, (spikes,) each; `compared` is bool."""

    steps: np.ndarray
    grad_norms: np.ndarray
    compared: np.ndarray


@dataclass(frozen=True, slots=True)
class Curve:
    """What one of the two runs brought: its recorded losses and norms.

    `median_grad_norm` is over the finite norms, and None when there is none; `norms` counts the recorded ones.
    """

    steps: int
    first_step: int
    last_step: int
    replaced: int
    only: Ranges
    norms: int
    median_grad_norm: float | None
    spikes: Spikes
    non_finite: tuple[NonFinite, ...]


@dataclass(frozen=True, slots=True)
class Windows:
    """Consecutive groups of compared steps, (windows,) each; a mean that is no number is NaN or infinite.

    `steps` is how many steps the means are over; `full` tells whether the window can make the two part.
    """

    first_steps: np.ndarray
    last_steps: np.ndarray
    steps: np.ndarray
    full: np.ndarray
    run_losses: np.ndarray
    baseline_losses: np.ndarray
    mean_differences: np.ndarray


@dataclass(frozen=True, slots=True)
class Parting:
    """The first full window in which the two are further apart than the margin.

    Its `reason` is `margin`, or `nonFinite` where only one of the two was finite at some step.
    """

    window: int
    first_step: int
    last_step: int
    mean_difference: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Curves:
    """Two loss curves, compared step by step. A mean that does not exist is None."""

    window: int
    margin: float
    spike_factor: float
    compared: int
    run: Curve
    baseline: Curve
    windows: Windows
    mean_difference: float | None
    max_abs_window: float | None
    full_windows: int
    parting: Parting | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside its baseline: who they are, in what their plans and machines differ, and their curves.

    `aligned_steps` is False where the two started from different weights, so that equal numbers are not equal ages.
    """

    run: Run
    baseline: Run
    differences: tuple[Difference, ...]
    aligned_steps: bool
    environment: tuple[Difference, ...]
    curves: Curves


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a grid: the path of a field below `config`, and the values that it takes in turn, as written."""

    path: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """One child of a fan: where its point stands in the grid, from 0 on, what the point sets, what it resolves to.

    `changes` holds paths below `config`. `existing`: the child was there before. `phase` is None where there is no
    child yet. `restore_error` is the relative error of an adapter that had to be truncated, else None.
    """

    index: int
    label: str
    changes: Document
    child_run_id: str
    existing: bool
    config_hash: str
    config: Document
    execution: Document
    phase: str | None
    resumable: bool
    restore_error: float | None


@dataclass(frozen=True, slots=True)
class Fan:
    """The children of one parent from one snapshot, in every phase: there before, new, both, and the most allowed."""

    existing: int
    new: int
    total: int
    limit: int


@dataclass(frozen=True, slots=True)
class Branches:
    """Children of one parent from one snapshot, resolved or submitted together under one token."""

    parent_run_id: str
    snapshot_id: str
    restore: str
    steps: int
    submission_id: str
    points: tuple[Branch, ...]
    fan: Fan
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A grid of children, previewed (`dry_run`) or submitted, and the command to go on with."""

    branches: Branches
    axes: tuple[Axis, ...]
    dry_run: bool
    next_command: str


@dataclass(frozen=True, slots=True)
class RunTree:
    """A run and all that descend from it, every parent before its children."""

    runs: tuple[Run, ...]
