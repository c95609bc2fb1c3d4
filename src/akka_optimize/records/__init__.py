"""What the layers hand each other: frozen dataclasses, without behaviour.

Times are RFC 3339 text in UTC. A field that is not known is None. Documents are plain dicts with the types that the
user wrote (an integer stays an integer). Field names become the JSON names by turning snake_case into camelCase.
"""

from __future__ import annotations

from akka_optimize.records.comparison import (
    Comparison,
    Curve,
    Curves,
    Difference,
    EnvironmentDifference,
    Parting,
    Spikes,
    Windows,
)
from akka_optimize.records.document import Document
from akka_optimize.records.folder import (
    Exported,
    ExportPart,
    Imported,
    Mismatch,
    Origin,
    UploadedFile,
    UploadedFolder,
    Verification,
)
from akka_optimize.records.metrics import Column, Metrics, MetricsTable, NonFinite, Ranges
from akka_optimize.records.page import Page
from akka_optimize.records.run import (
    ChangedRun,
    Division,
    EngineConfig,
    EngineRuntime,
    Hparams,
    Pause,
    Repeats,
    ResolvedRun,
    Run,
    RunEvent,
    RunTree,
)
from akka_optimize.records.service import BaseModel, Dataset, Info, ServiceStatus, Workload
from akka_optimize.records.snapshot import Artifact, Snapshot
from akka_optimize.records.sweep import Axis, Branch, Branches, Fan, FanRequest, Sweep

__all__ = [
    "PHASES",
    "TERMINAL_PHASES",
    "Artifact",
    "Axis",
    "BaseModel",
    "Branch",
    "Branches",
    "ChangedRun",
    "Column",
    "Comparison",
    "Curve",
    "Curves",
    "Dataset",
    "Difference",
    "Division",
    "Document",
    "EngineConfig",
    "EngineRuntime",
    "EnvironmentDifference",
    "ExportPart",
    "Exported",
    "Fan",
    "FanRequest",
    "Hparams",
    "Imported",
    "Info",
    "Metrics",
    "MetricsTable",
    "Mismatch",
    "NonFinite",
    "Origin",
    "Page",
    "Parting",
    "Pause",
    "Ranges",
    "Repeats",
    "ResolvedRun",
    "Run",
    "RunEvent",
    "RunTree",
    "ServiceStatus",
    "Snapshot",
    "Spikes",
    "Sweep",
    "UploadedFile",
    "UploadedFolder",
    "Verification",
    "Windows",
    "Workload",
]

PHASES = ("QUEUED", "PREPARING", "TRAINING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED")
TERMINAL_PHASES = frozenset({"COMPLETED", "FAILED", "CANCELLED"})
