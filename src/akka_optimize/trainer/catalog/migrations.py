"""How a catalog comes to have today's tables: a written list of steps, each in one transaction, recorded in it.

A step is never changed once it was released; a new one is added below it. `{bytes}` stands for the database's own
name of a binary type. A test compares what the steps make with `schema`.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from sqlalchemy import Connection, LargeBinary, func, insert, inspect, select

from akka_optimize import errors
from akka_optimize.trainer.catalog import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from akka_optimize.trainer.catalog.database import Database
    from akka_optimize.trainer.home import Home, Lock

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE catalog_versions (
            version INTEGER NOT NULL PRIMARY KEY, applied_at TEXT NOT NULL)""",
        """CREATE TABLE datasets (
            hash TEXT NOT NULL PRIMARY KEY, position BIGINT NOT NULL UNIQUE, example_count BIGINT NOT NULL,
            size_bytes BIGINT NOT NULL, format_version INTEGER NOT NULL, findings TEXT NOT NULL,
            created_at TEXT NOT NULL)""",
        """CREATE TABLE dataset_names (
            name TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL REFERENCES datasets (hash))""",
        "CREATE INDEX ix_dataset_names_hash ON dataset_names (hash)",
        """CREATE TABLE workloads (
            workload_id TEXT NOT NULL PRIMARY KEY, position BIGINT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,
            dataset TEXT REFERENCES datasets (hash), grader TEXT, created_at TEXT NOT NULL)""",
        """CREATE TABLE runs (
            run_id TEXT NOT NULL PRIMARY KEY, position BIGINT NOT NULL UNIQUE, name TEXT, purpose TEXT,
            description TEXT, config_name TEXT, workload_id TEXT NOT NULL REFERENCES workloads (workload_id),
            method TEXT NOT NULL, base_model TEXT NOT NULL, dataset TEXT NOT NULL REFERENCES datasets (hash),
            dataset_name TEXT, grader TEXT, submission_id TEXT, config_hash TEXT NOT NULL, plan TEXT NOT NULL,
            config TEXT NOT NULL, execution TEXT NOT NULL, stated TEXT NOT NULL, devices INTEGER NOT NULL,
            sequences_per_pass INTEGER NOT NULL, accumulation INTEGER NOT NULL, sequences_per_update INTEGER NOT NULL,
            seed BIGINT NOT NULL, steps BIGINT NOT NULL, folder TEXT NOT NULL, training_rows BIGINT NOT NULL,
            validation_rows BIGINT NOT NULL, skipped_rows BIGINT NOT NULL, phase TEXT NOT NULL,
            attempt INTEGER NOT NULL, cancel_requested BOOLEAN NOT NULL, environment TEXT, hparams TEXT,
            observed_step BIGINT NOT NULL, saved_step BIGINT, loss TEXT, validation_loss TEXT, failure_code TEXT,
            failure_reason TEXT, resumable BOOLEAN NOT NULL, created_at TEXT NOT NULL, started_at TEXT,
            ended_at TEXT)""",
        "CREATE INDEX ix_runs_name ON runs (name)",
        "CREATE INDEX ix_runs_submission_id ON runs (submission_id)",
        "CREATE INDEX ix_runs_phase_position ON runs (phase, position)",
        "CREATE INDEX ix_runs_workload_id_position ON runs (workload_id, position)",
        """CREATE TABLE metric_chunks (
            run_id TEXT NOT NULL REFERENCES runs (run_id), attempt INTEGER NOT NULL, position BIGINT NOT NULL,
            names TEXT NOT NULL, last_step BIGINT NOT NULL, chunk {bytes} NOT NULL,
            PRIMARY KEY (run_id, attempt, position))""",
        """CREATE TABLE snapshots (
            snapshot_id TEXT NOT NULL PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs (run_id),
            attempt INTEGER NOT NULL, step BIGINT NOT NULL, epoch TEXT NOT NULL, artifacts TEXT NOT NULL,
            status TEXT NOT NULL, validation_loss TEXT, created_at TEXT NOT NULL)""",
        "CREATE UNIQUE INDEX ix_snapshots_run_id_step_attempt ON snapshots (run_id, step, attempt)",
    ),
    (
        "ALTER TABLE runs ADD COLUMN parent_run_id TEXT REFERENCES runs (run_id)",
        "ALTER TABLE runs ADD COLUMN source_snapshot_id TEXT",
        "ALTER TABLE runs ADD COLUMN source_step BIGINT",
        "ALTER TABLE runs ADD COLUMN restore TEXT",
        "ALTER TABLE runs ADD COLUMN changes TEXT",
        "CREATE INDEX ix_runs_parent_run_id_position ON runs (parent_run_id, position)",
        "CREATE INDEX ix_runs_source_snapshot_id_position ON runs (source_snapshot_id, position)",
        """CREATE TABLE pins (
            snapshot_id TEXT NOT NULL REFERENCES snapshots (snapshot_id), kind TEXT NOT NULL, created_at TEXT NOT NULL,
            PRIMARY KEY (snapshot_id, kind))""",
        """CREATE TABLE submissions (
            submission_id TEXT NOT NULL PRIMARY KEY, parent_run_id TEXT NOT NULL, snapshot_id TEXT NOT NULL,
            steps BIGINT NOT NULL, restore TEXT NOT NULL, created_at TEXT NOT NULL)""",
        """CREATE TABLE deleted_runs (
            run_id TEXT NOT NULL PRIMARY KEY, submission_id TEXT, deleted_at TEXT NOT NULL)""",
        "CREATE INDEX ix_deleted_runs_submission_id ON deleted_runs (submission_id)",
    ),
    (
        """CREATE TABLE uploads (
            upload_id TEXT NOT NULL PRIMARY KEY, sha256 TEXT NOT NULL,
            dataset TEXT NOT NULL REFERENCES datasets (hash), name TEXT, finished_at TEXT NOT NULL)""",
        "CREATE INDEX ix_uploads_finished_at ON uploads (finished_at)",
    ),
    (
        "ALTER TABLE runs ADD COLUMN pause_requested TEXT",
        "ALTER TABLE runs ADD COLUMN pause TEXT",
        "ALTER TABLE runs ADD COLUMN best_snapshot_id TEXT",
        "ALTER TABLE runs ADD COLUMN best_step BIGINT",
        "ALTER TABLE runs ADD COLUMN best_validation_loss TEXT",
        "ALTER TABLE runs ADD COLUMN last_snapshot_id TEXT",
        "ALTER TABLE runs ADD COLUMN replaced_steps BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE runs ADD COLUMN events TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE runs ADD COLUMN changed TEXT",
        "ALTER TABLE runs ADD COLUMN repeats TEXT",
        "ALTER TABLE runs ADD COLUMN origin TEXT",
        "ALTER TABLE runs ADD COLUMN engine_config TEXT",
        "ALTER TABLE runs ADD COLUMN engine_runtime TEXT",
        """UPDATE runs SET last_snapshot_id = (
            SELECT s.snapshot_id FROM snapshots s WHERE s.run_id = runs.run_id
            ORDER BY s.attempt DESC, s.step DESC LIMIT 1)""",
        """UPDATE runs SET best_snapshot_id = (
            SELECT s.snapshot_id FROM snapshots s WHERE s.run_id = runs.run_id
            AND s.validation_loss NOT IN ('nan', 'inf', '-inf')
            ORDER BY CAST(s.validation_loss AS DOUBLE PRECISION), s.step, s.attempt LIMIT 1)""",
        """UPDATE runs SET best_step = (
            SELECT s.step FROM snapshots s WHERE s.run_id = runs.run_id
            AND s.validation_loss NOT IN ('nan', 'inf', '-inf')
            ORDER BY CAST(s.validation_loss AS DOUBLE PRECISION), s.step, s.attempt LIMIT 1)""",
        """UPDATE runs SET best_validation_loss = (
            SELECT s.validation_loss FROM snapshots s WHERE s.run_id = runs.run_id
            AND s.validation_loss NOT IN ('nan', 'inf', '-inf')
            ORDER BY CAST(s.validation_loss AS DOUBLE PRECISION), s.step, s.attempt LIMIT 1)""",
    ),
)


def require_kept(home: Home) -> None:
    """Raise Refused when the catalog is missing or empty in a home that holds runs or rows: it is lost, and not new."""
    if _size(home.catalog):
        return
    kept = [folder for folder in (home.runs, home.datasets) if any(_visible(folder))]
    if kept and not (size := _size(home.catalog)):  # or another process has just made it, and more
        raise errors.Refused(
            f"the catalog {home.catalog} was lost: it is {'missing' if size is None else 'empty'}, {kept[0]} is not",
            hint="put a copy of it back, or use another home",
        )


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _visible(folder: Path) -> Iterator[str]:
    return (name for name in os.listdir(folder) if not name.startswith("."))


def migrate(home: Home, database: Database, now: Callable[[], str]) -> tuple[str, ...]:
    """Bring the catalog to the newest version and say in sentences what was done.

    Raises Refused when a newer trainer made it.
    """
    if _version(database) == len(STEPS):
        return ()
    with _alone(home, database):  # another process may be doing the same
        found = _version(database)
        database.prepare()
        for number in range(found + 1, len(STEPS) + 1):
            with database.write() as connection:
                for statement in STEPS[number - 1]:
                    connection.exec_driver_sql(statement.format(bytes=_bytes_type(connection)))
                connection.execute(insert(schema.catalog_versions).values(version=number, applied_at=now()))
    if found in (0, len(STEPS)):
        return ()
    return (f"the catalog was brought from version {found} to {len(STEPS)}",)


def _alone(home: Home, database: Database) -> Lock:
    deadline = time.monotonic() + database.patience
    while (lock := home.lock("catalog")) is None:
        if time.monotonic() > deadline:
            raise errors.TimedOut(f"another process has been at work on the tables of {database.path}")
        time.sleep(0.005)
    return lock


def _version(database: Database) -> int:
    """The newest step that the catalog has seen; 0 for an empty one."""
    newest = select(func.max(schema.catalog_versions.c.version))
    with database.read() as connection:  # a statement that fails sees no state: the table is asked for first
        known = inspect(connection).has_table(schema.catalog_versions.name)
        version = (connection.execute(newest).scalar() or 0) if known else 0
    if version > len(STEPS):
        raise errors.Refused(
            f"the catalog {database.path} has version {version}, made by a newer akka-optimize; "
            f"this one reads versions up to {len(STEPS)}",
            hint="upgrade akka-optimize, or use another home",
        )
    return version


def _bytes_type(connection: Connection) -> str:
    return connection.dialect.type_compiler_instance.process(LargeBinary())
