"""The trainer, and what it knows: datasets, workloads, base models."""

from __future__ import annotations

from dataclasses import dataclass


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
    build: str
    started_at: str


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
class ServiceStatus:
    """One service, as `status` found it. `milliseconds` is None when nothing answered."""

    name: str
    address: str
    source: str
    region: str | None
    answers: bool
    milliseconds: float | None
    version: str | None
    message: str
