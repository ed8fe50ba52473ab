"""The connection to the database: SQLite in WAL mode, or PostgreSQL.

Every change happens inside ``writing()``, which lets one writer in at a time on SQLite and takes
the rows it is about to change on PostgreSQL (``lock``). Deferred transactions fail on the one and
lose updates on the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, Executable, Table, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    InterfaceError,
    OperationalError,
)
from sqlalchemy.pool import ConnectionPoolEntry
from sqlmodel import Session

from keltis_ladder.errors import LadderError

T = TypeVar("T")

BUSY_MS: Final = 30_000  # how long a writer waits for another
TRIES: Final = 8  # of a transaction whose connection was lost
FIRST_PAUSE: Final = 0.05  # seconds before the second try; then twice as long each time
POSTGRES: Final = "postgresql+psycopg"

_ADVICE: Final = (
    "give the path of an SQLite file, sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/NAME"
)
_PRAGMAS: Final = (
    f"PRAGMA busy_timeout={BUSY_MS}",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",  # a result that was told survives a power cut, too
    "PRAGMA foreign_keys=ON",
    "PRAGMA cache_size=-65536",  # KiB
    "PRAGMA wal_autocheckpoint=10000",  # pages: rarer, since whoever stores a result waits for it
    "PRAGMA mmap_size=268435456",
    "PRAGMA temp_store=MEMORY",
)


class BadDatabase(LadderError):
    """A database that cannot be used; the text says what to do."""


class Database:
    """Sessions on one database."""

    def __init__(self, url: str) -> None:
        self.url = proper_url(url)
        self.engine = _engine(self.url)
        self._writer = self.engine.execution_options(keltis_writes=True)
        # Without being told, PostgreSQL shows each statement what has changed since the last.
        self._reader = (
            self.engine
            if self.is_sqlite
            else self.engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        )

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of ours."""
        return self.engine.dialect.name == "sqlite"

    @property
    def file(self) -> Path | None:
        """The file, if it is one."""
        name = self.engine.url.database
        return Path(name) if self.is_sqlite and name else None

    @property
    def shown(self) -> str:
        """Where it is, for people: without the password."""
        return str(self.file or self.engine.url._replace(password=None).render_as_string())

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a session that sees one state of things and changes nothing."""
        with Session(self._reader) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Open a session whose changes are kept at the end, all or none."""
        with Session(self._writer, expire_on_commit=False) as session, session.begin():
            yield session

    def write(self, work: Callable[[Session], T]) -> T:
        """Do work in a transaction, and again if the connection was lost.

        Nobody knows whether a commit that was cut off took place. So the work must be such that
        doing it twice is the same as doing it once.
        """
        pause = FIRST_PAUSE
        for left in range(TRIES - 1, -1, -1):
            try:
                with self.writing() as session:
                    return work(session)
            except DBAPIError as error:
                if not left or not self._may_pass(error):
                    raise
                time.sleep(pause)
                pause *= 2
        raise AssertionError("the last try returns or raises")

    def _may_pass(self, error: DBAPIError) -> bool:
        """Tell whether another try may succeed: the connection was cut, or others were in the way.

        A lost connection of PostgreSQL shows itself in many ways, all of them operational errors,
        as deadlocks are. Those of SQLite are mostly for good.
        """
        if self.is_sqlite:
            return "locked" in str(error.orig)
        return error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def proper_url(text: str) -> str:
    """Return the address of a database as SQLAlchemy wants it; a bare path is an SQLite file."""
    try:
        url = make_url(text) if "://" in text else URL.create("sqlite", database=text)
    except (ArgumentError, ValueError):
        raise BadDatabase(f"this is no address of a database: {_ADVICE}") from None
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername=POSTGRES)
    if url.drivername not in ("sqlite", POSTGRES):
        raise BadDatabase(f"a database of the kind {url.drivername!r} cannot be used: {_ADVICE}")
    if url.drivername == "sqlite" and url.database in (None, "", ":memory:"):
        raise BadDatabase(f"a ladder is kept in a file, not in memory: {_ADVICE}")
    return url.render_as_string(hide_password=False)


@contextmanager
def clear_errors(database: Database) -> Iterator[None]:
    """Turn what a database that cannot be used says into one line that tells what to do."""
    try:
        yield
    except DBAPIError as error:
        reason = " ".join(str(error.orig).split())
        if database.is_sqlite and type(error) in (OperationalError, DatabaseError):
            text = f"{database.shown} cannot be used: {reason}; {_remedy(reason)}"
        elif not database.is_sqlite and isinstance(error, OperationalError | InterfaceError):
            text = (
                f"the database {database.shown} cannot be reached: {reason}; "
                "check that the server runs, and the address, user and password"
            )
        else:
            raise
        raise BadDatabase(text) from error


def _remedy(reason: str) -> str:
    if "not a database" in reason:
        return "choose another file"
    if "malformed" in reason or "no such" in reason:
        return "restore a backup"
    return "check who may write there, and the room on the disk"


def insert_or_update(
    session: Session,
    table: Table,
    rows: list[dict[str, Any]],
    keys: tuple[str, ...],
    added: tuple[str, ...] = (),
) -> None:
    """Insert rows, or bring those that exist up to date; the numbers in ``added`` are added."""
    if rows:
        connection = session.connection()
        statement = _upsert(connection.dialect.name, table, tuple(rows[0]), keys, added)
        connection.execute(statement, rows)


@cache
def _upsert(
    dialect: str,
    table: Table,
    names: tuple[str, ...],
    keys: tuple[str, ...],
    added: tuple[str, ...],
) -> Executable:
    make: Any = sqlite.insert if dialect == "sqlite" else postgresql.insert
    statement = make(table)
    new = statement.excluded
    changed = {
        name: table.c[name] + new[name] if name in added else new[name]
        for name in names
        if name not in keys
    }
    found: Executable = statement.on_conflict_do_update(index_elements=keys, set_=changed)
    return found


def insert_if_new(session: Session, table: Table, row: dict[str, Any], keys: list[str]) -> bool:
    """Insert a row unless there is one, be it from a moment ago; tell whether it is new."""
    statement = _insert(session, table).values(row).on_conflict_do_nothing(index_elements=keys)
    return session.execute(statement.returning(table.c[keys[0]])).first() is not None


def _insert(session: Session, table: Table) -> Any:
    make: Any = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    return make(table)


def _engine(url: str) -> Engine:
    if url.startswith("sqlite"):
        engine = create_engine(url, connect_args={"check_same_thread": False})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        return create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError:
        raise BadDatabase(
            "PostgreSQL needs its driver: pip install 'keltis-ladder[postgres]'"
        ) from None


def _prepare_sqlite(connection: Any, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # the driver would begin transactions when it likes
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("keltis_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
