"""The connection: set-up, transactions, and what the database's errors mean to a user."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, exc
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from akka_optimize import errors
from akka_optimize.trainer.catalog import damage, schema

BUSY_SECONDS = 30.0  # the longest that anybody waits for another process
CONNECTIONS, MORE_CONNECTIONS = 16, 16  # kept, and closed after use: a thread has one at a time, a service 12 and some
NOT_TEXT = "Could not decode to UTF-8"  # all that the driver says of it

NO_ROOM = (
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",
    "SQLITE_IOERR_FSYNC",
    "SQLITE_IOERR_TRUNCATE",
    "SQLITE_IOERR_SHMSIZE",
    "SQLITE_IOERR_SHMOPEN",  # the file that readers share, and that a disk may be too full for
)
NOT_A_DATABASE = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
NOT_USABLE = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_IOERR")
TAKEN = ("SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE")


class Database:
    """One database file, and its two kinds of transaction."""

    def __init__(self, path: Path, patience: float) -> None:
        """`patience`: seconds for which a transaction waits for another process."""
        self.path, self.patience = path, patience
        self._file: tuple[int, int] | None = None  # device and number of the file that is open
        self._reader = create_engine(
            URL.create("sqlite", database=str(path)),
            connect_args={"timeout": patience, "check_same_thread": False},
            pool_size=CONNECTIONS,
            max_overflow=MORE_CONNECTIONS,
            pool_timeout=patience,
        )
        event.listen(self._reader, "connect", _set_up)
        event.listen(self._reader, "begin", _begin)
        self._writer = self._reader.execution_options(immediate=True)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database throughout."""
        with self._transaction(self._reader) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that no other writer overlaps, from before its first read; committed whole or not at all."""
        with self._transaction(self._writer) as connection:
            self._require_its_file()
            yield connection

    def prepare(self) -> None:
        """Set up the file itself, once: readers and a writer do not wait for each other."""
        with self._translated(), self._reader.connect() as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.execute("PRAGMA journal_mode = WAL")

    def close(self) -> None:
        """Close every connection."""
        self._reader.dispose()

    def _require_its_file(self) -> None:
        """Raise Refused where the file at the path is no more the one that is open: what is written would be lost."""
        if (now := self._found()) != self._file:
            raise errors.Refused(
                f"the catalog {self.path} was {'removed' if now is None else 'replaced'} while it was open",
                hint="put it back, if there is a copy, and start the trainer anew",
            )

    def _found(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        with self._translated(), engine.begin() as connection:
            if self._file is None:
                self._file = self._found()
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what SQLAlchemy raises into this package's errors."""
        try:
            yield
        except schema.Unreadable as error:
            raise self._unreadable(error) from error
        except exc.DBAPIError as error:
            if NOT_TEXT in str(error.orig):
                raise self._unreadable(error.orig) from error
            raise _meaning(self.path, error.orig, self.patience) from error
        except exc.TimeoutError as error:
            raise errors.TimedOut(f"the catalog {self.path} has no free connection") from error

    def _unreadable(self, error: BaseException | None) -> errors.Refused:
        with suppress(exc.DBAPIError), self._reader.begin() as connection:
            if (found := next(damage.entries(connection), None)) is not None:
                return damage.refused(self.path, found)
        return damage.refused(self.path, f"an entry ({error})")


def _meaning(path: Path, error: BaseException | None, patience: float) -> errors.AkkaError:
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith(NO_ROOM):
        return errors.Exhausted(
            f"the catalog {path} cannot be written: the disk is full", hint="make room on the disk, then try again"
        )
    if code.startswith(NOT_A_DATABASE):
        return errors.Refused(f"the catalog {path} is damaged: {error}", hint=damage.HINT)
    if code.startswith(NOT_USABLE):
        return errors.Refused(
            f"the catalog {path} cannot be used: {error}", hint="see that this user may write it, and its folder"
        )
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return errors.TimedOut(
            f"the catalog {path} was held by another process for {patience:g} s", hint="allow more with --timeout"
        )
    if code in TAKEN:
        return errors.Conflict(f"the catalog holds such an entry already: {error}")
    return errors.Internal(f"the catalog {path} answered: {error}")


def _set_up(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    connection.isolation_level = None  # or the driver begins transactions of its own
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def _begin(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")
