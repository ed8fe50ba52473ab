"""Bots on a ladder, matches between them, and everything that a database holds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import select
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.match.orders import Order
from keltis_ladder.store.bots.catalogue import add_version, ensure_author, ensure_bot
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import Stored, finish
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.matches.records import MatchRows
from keltis_ladder.store.ratings.models import MODELS
from keltis_ladder.store.schema.tables import Bot, Ledger, Table, table_of
from keltis_ladder.store.schema.version_states import VersionCause

SEEDS = count(2**64)  # of matches that nobody gave one
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)

Dump = dict[str, list[tuple[Any, ...]]]


def later(seconds: float) -> datetime:
    """Return a moment after noon."""
    return NOON + timedelta(seconds=seconds)


def enter(session: Session, *names: str, author: str = "Ada") -> list[int]:
    """Put bots on the ladder; return their versions. A name that is there gets a new version."""
    owner = ensure_author(session, author)
    return [_new_version(session, ensure_bot(session, owner, name)) for name in names]


def _new_version(session: Session, bot: Bot) -> int:
    version, _ = add_version(
        session, bot, variants=list(VARIANTS), players=[2, 3, 4], cause=VersionCause.ENTERED
    )
    assert version.id is not None
    return version.id


def entered(database: Database, *names: str) -> list[int]:
    """Put bots on the ladder, in a transaction of its own."""
    with database.writing() as session:
        return enter(session, *names)


def ask_for(
    session: Session,
    versions: Iterable[int],
    variant: str = "keltis",
    rated: bool = True,
    **more: Any,
) -> str:
    """Put a match in the queue, with a seed unless told otherwise; return its id."""
    more.setdefault("seed", next(SEEDS))
    order = Order(variant, tuple(versions), rated=rated, **more)
    return add_job(session, order, NOON).id


def store(
    session: Session, versions: Iterable[int], rows: MatchRows, rated: bool = True, **more: Any
) -> Stored:
    """Ask for a match and store its result."""
    job = ask_for(session, versions, rows.variant, rated, **more)
    return finish(session, job, rows, NOON)


def stored(
    database: Database, versions: Iterable[int], rows: MatchRows, rated: bool = True, **more: Any
) -> Stored:
    """Ask for a match and store its result, in a transaction of its own."""
    with database.writing() as session:
        return store(session, versions, rows, rated, **more)


def dump(database: Database) -> Dump:
    """Return every row of every table."""
    with database.reading() as session:
        return {
            table.name: [
                tuple(row)
                for row in session.execute(select(table).order_by(*table.primary_key.columns))
            ]
            for table in Table.metadata.sorted_tables
        }


def clear(database: Database) -> None:
    """Empty every table."""
    with database.writing() as session:
        for table in reversed(Table.metadata.sorted_tables):
            session.execute(table.delete())
        session.execute(table_of(Ledger).insert(), {"id": 1, "matches": 0, **MODELS})
