"""The tables as they are now; `migrations` says how they came to be."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)

from akka_optimize.core.plans import plan_text


class Unreadable(ValueError):
    """What the database holds is not what this package writes."""


class Number(TypeDecorator[float]):
    """A float as its shortest exact text, since SQL has no portable NaN and SQLite turns one into NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: float | None, _dialect: Dialect) -> str | None:
        """Python to SQL."""
        return None if value is None else repr(float(value))

    def process_result_value(self, value: str | None, _dialect: Dialect) -> float | None:
        """SQL to Python."""
        try:
            return None if value is None else float(value)
        except (ValueError, TypeError) as error:
            raise Unreadable(f"not a number: {error}") from error


class Json(TypeDecorator[Any]):
    """A document as JSON text; integers stay integers, and keys keep their order."""

    impl = Text
    cache_ok = True
    shape: type = dict

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str | None:
        """Python to SQL."""
        return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        """SQL to Python."""
        try:
            document = None if value is None else json.loads(value)
        except (ValueError, TypeError, RecursionError) as error:
            raise Unreadable(f"not JSON: {error}") from error
        if value is not None and not isinstance(document, self.shape):
            raise Unreadable(f"not a {self.shape.__name__}")
        return document


class JsonList(Json):
    """The same for a list."""

    cache_ok = True
    shape = list


class Plan(Json):
    """A plan as the very text that its hash is over."""

    cache_ok = True

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str | None:
        """Python to SQL."""
        return plan_text(value)


metadata = MetaData()

catalog_versions = Table(
    "catalog_versions",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("applied_at", Text, nullable=False),
)

datasets = Table(
    "datasets",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("position", BigInteger, nullable=False, unique=True),  # the order of arrival, whatever the clock said
    Column("example_count", BigInteger, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("format_version", Integer, nullable=False),
    Column("findings", JsonList, nullable=False),
    Column("created_at", Text, nullable=False),
)

dataset_names = Table(
    "dataset_names",
    metadata,
    Column("name", Text, primary_key=True),
    Column("hash", Text, ForeignKey("datasets.hash"), nullable=False, index=True),
)

workloads = Table(
    "workloads",
    metadata,
    Column("workload_id", Text, primary_key=True),
    Column("position", BigInteger, nullable=False, unique=True),
    Column("name", Text, nullable=False, unique=True),
    Column("dataset", Text, ForeignKey("datasets.hash")),
    Column("grader", Text),
    Column("created_at", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("position", BigInteger, nullable=False, unique=True),
    Column("name", Text, index=True),
    Column("purpose", Text),
    Column("description", Text),
    Column("config_name", Text),
    Column("workload_id", Text, ForeignKey("workloads.workload_id"), nullable=False),
    Column("method", Text, nullable=False),
    Column("base_model", Text, nullable=False),
    Column("dataset", Text, ForeignKey("datasets.hash"), nullable=False),
    Column("dataset_name", Text),
    Column("grader", Text),
    Column("submission_id", Text, index=True),
    Column("config_hash", Text, nullable=False),
    Column("plan", Plan, nullable=False),
    Column("config", Json, nullable=False),
    Column("execution", Json, nullable=False),
    Column("stated", JsonList, nullable=False),
    Column("devices", Integer, nullable=False),
    Column("sequences_per_pass", Integer, nullable=False),
    Column("accumulation", Integer, nullable=False),
    Column("sequences_per_update", Integer, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("steps", BigInteger, nullable=False),
    Column("folder", Text, nullable=False),
    Column("training_rows", BigInteger, nullable=False),
    Column("validation_rows", BigInteger, nullable=False),
    Column("skipped_rows", BigInteger, nullable=False),
    Column("phase", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("cancel_requested", Boolean, nullable=False),
    Column("environment", Json),
    Column("hparams", Json),
    Column("observed_step", BigInteger, nullable=False),
    Column("saved_step", BigInteger),
    Column("loss", Number),
    Column("validation_loss", Number),
    Column("failure_code", Text),
    Column("failure_reason", Text),
    Column("resumable", Boolean, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("started_at", Text),
    Column("ended_at", Text),
    Column("parent_run_id", Text, ForeignKey("runs.run_id")),
    Column("source_snapshot_id", Text),
    Column("source_step", BigInteger),
    Column("restore", Text),
    Column("changes", Json),
    Column("pause_requested", Text),
    Column("pause", Json),
    Column("best_snapshot_id", Text),
    Column("best_step", BigInteger),
    Column("best_validation_loss", Number),
    Column("last_snapshot_id", Text),
    Column("replaced_steps", BigInteger, nullable=False, server_default="0"),
    Column("events", JsonList, nullable=False, server_default="[]"),
    Column("changed", JsonList),
    Column("repeats", Text),
    Column("origin", Json),
    Column("engine_config", Json),
    Column("engine_runtime", Json),
    Index("ix_runs_phase_position", "phase", "position"),
    Index("ix_runs_workload_id_position", "workload_id", "position"),
    Index("ix_runs_parent_run_id_position", "parent_run_id", "position"),
    Index("ix_runs_source_snapshot_id_position", "source_snapshot_id", "position"),
)

metric_chunks = Table(
    "metric_chunks",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("position", BigInteger, primary_key=True, autoincrement=False),  # the order of recording
    Column("names", Text, nullable=False),  # of its columns, with spaces between
    Column("last_step", BigInteger, nullable=False),
    Column("chunk", LargeBinary, nullable=False),  # a serialised MetricsChunk
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("snapshot_id", Text, primary_key=True),
    Column("run_id", Text, ForeignKey("runs.run_id"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("step", BigInteger, nullable=False),
    Column("epoch", Number, nullable=False),
    Column("artifacts", JsonList, nullable=False),
    Column("status", Text, nullable=False),
    Column("validation_loss", Number),
    Column("created_at", Text, nullable=False),
    Index("ix_snapshots_run_id_step_attempt", "run_id", "step", "attempt", unique=True),
)

pins = Table(
    "pins",
    metadata,
    Column("snapshot_id", Text, ForeignKey("snapshots.snapshot_id"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("created_at", Text, nullable=False),
)

submissions = Table(  # what each token of a fan is bound to; outlives the children and their parent
    "submissions",
    metadata,
    Column("submission_id", Text, primary_key=True),
    Column("parent_run_id", Text, nullable=False),
    Column("snapshot_id", Text, nullable=False),
    Column("steps", BigInteger, nullable=False),
    Column("restore", Text, nullable=False),
    Column("created_at", Text, nullable=False),
)

uploads = Table(  # those that became a dataset, for a while: whoever asks again has lost the reply
    "uploads",
    metadata,
    Column("upload_id", Text, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("dataset", Text, ForeignKey("datasets.hash"), nullable=False),
    Column("name", Text),
    Column("finished_at", Text, nullable=False, index=True),
)

deleted_runs = Table(  # ids that are never given out again
    "deleted_runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("submission_id", Text, index=True),
    Column("deleted_at", Text, nullable=False),
)
