"""What the catalog's parts share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, func, select

from akka_optimize import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.trainer.catalog.database import Database


def utc_now() -> str:
    """The time, as RFC 3339 text in UTC to the millisecond."""
    return time_text(datetime.now(UTC))


def time_text(moment: datetime) -> str:
    """A time in UTC as the text that the catalog holds; the order of such texts is that of the times."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Part:
    """One kind of thing in the catalog."""

    _database: Database
    _now: Callable[[], str]


def next_position(connection: Connection, column: ColumnElement[Any], *among: ColumnElement[bool]) -> int:
    """The place after the last one; inside a writing transaction nobody else takes it."""
    return int(connection.execute(select(func.coalesce(func.max(column), 0)).where(*among)).scalar_one()) + 1


def check_page(limit: int, offset: int) -> None:
    """Raise Invalid unless a page can have this limit and offset."""
    if limit < 1:
        raise errors.Invalid(f"a page has at least one entry, and the limit is {limit}", field="limit")
    if offset < 0:
        raise errors.Invalid(f"an offset is not negative, and {offset} is", field="offset")
