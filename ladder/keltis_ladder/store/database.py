"""The connection to the database: SQLite in WAL mode, or PostgreSQL.

Every change happens inside ``writing()``, which lets one writer in at a time on SQLite and takes
the rows it is about to change on PostgreSQL (``lock``). Deferred transactions fail on the one and
lose updates on the other.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, Executable, Table, create_engine, event, text
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
OUTCOME_SECONDS: Final = 30.0  # in which PostgreSQL has to tell whether a commit took place
POSTGRES: Final = "postgresql+psycopg"

# How long a transaction of PostgreSQL may wait for our next statement. A writer that vanishes keeps
# its locks for so long; one that is merely slow gets twice the time with each try.
WRITER_IDLE_MS: Final = 4_000
ONLY_TRY_IDLE_MS: Final = 30_000  # of a writer that does not try again
LONG_IDLE_MS: Final = 300_000  # of readers, upgrades, and writers that work things out for long

# Both ends notice a connection that is dead. The address may say otherwise.
_CONNECTION: Final = {
    "connect_timeout": 10,  # seconds
    "keepalives": 1,
    "keepalives_idle": 5,  # seconds
    "keepalives_interval": 2,  # seconds
    "keepalives_count": 3,
    "tcp_user_timeout": 6_000,  # milliseconds
}
_SESSION: Final = (
    f"SET idle_in_transaction_session_timeout = {LONG_IDLE_MS}; "
    "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; "
    "SET tcp_user_timeout = 6000"
)

_TRANSACTION: Final = text("SELECT pg_current_xact_id_if_assigned()::text")
_STATUS: Final = text("SELECT pg_xact_status(CAST(:id AS xid8))")
_ADVICE: Final = (
    "give the path of an SQLite file, sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/NAME"
)
_PRAGMAS: Final = (
    f"PRAGMA busy_timeout={BUSY_MS}",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",  # a result that was told survives a power cut, too
    "PRAGMA foreign_keys=ON",
    "PRAGMA cache_size=-65536",  # KiB
    "PRAGMA wal_autocheckpoint=10000",  # pages: rarer, since storing a result waits for it
    "PRAGMA mmap_size=268435456",
    "PRAGMA temp_store=MEMORY",
)


class BadDatabase(LadderError):
    """A database that cannot be used; the text says what to do."""


class OutcomeUnknown(OperationalError):
    """A commit that was cut off, by a database that does not come back to tell what became of it.

    The caller that does the work again makes sure that doing it twice is the same as doing it once.
    """


class _CommitFailed(Exception):
    """A commit that raised: the result of its work, and the transaction if it has a number."""

    def __init__(self, error: DBAPIError, result: Any, transaction: str | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.result = result
        self.transaction = transaction


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
            allow_pauses(session, ONLY_TRY_IDLE_MS)
            yield session

    def write(self, work: Callable[[Session], T]) -> T:
        """Do work in a transaction; again, if the connection was lost and it surely had no effect.

        If a commit was cut off, PostgreSQL is asked what became of the transaction. Work that took
        place is not repeated: its result is returned as if nothing had happened.
        """
        pause = FIRST_PAUSE
        for number in range(TRIES):
            try:
                return self._try(work, WRITER_IDLE_MS << number)
            except _CommitFailed as failed:
                if self._took_place(failed):
                    result: T = failed.result
                    return result
                error = failed.error
            except DBAPIError as failed_work:
                error = failed_work
            if number == TRIES - 1 or not self._may_pass(error):
                raise error
            time.sleep(pause)
            pause *= 2
        raise AssertionError("the last try returns or raises")

    def _try(self, work: Callable[[Session], T], idle_ms: int) -> T:
        """Do work in a transaction once; raise ``_CommitFailed`` if it got as far as that."""
        with Session(self._writer, expire_on_commit=False) as session:
            allow_pauses(session, idle_ms)
            result = work(session)
            session.flush()
            transaction = None if self.is_sqlite else session.scalar(_TRANSACTION)
            try:
                session.commit()
            except DBAPIError as error:
                raise _CommitFailed(error, result, transaction) from error
            return result

    def _took_place(self, failed: _CommitFailed) -> bool:
        """Return whether a transaction was committed though its commit raised.

        One without a number has changed nothing. A failed commit of SQLite has no effect.
        """
        if failed.transaction is None:
            return False
        until = time.monotonic() + OUTCOME_SECONDS
        pause = FIRST_PAUSE
        while True:
            try:
                status = self._status(failed.transaction)
            except DBAPIError as error:
                if not self._may_pass(error):  # it is another server, or an old copy of this one
                    status = None
                else:
                    status = "unreachable"
            if status in ("committed", "aborted"):
                return status == "committed"
            if status is None or time.monotonic() > until:
                raise OutcomeUnknown(None, None, failed.error.orig or failed.error) from failed
            time.sleep(pause)  # the server may not know yet that we are gone
            pause = min(2 * pause, 1.0)

    def _status(self, transaction: str) -> str | None:
        """Ask what became of a transaction; none if nobody knows any more."""
        with self.engine.connect() as connection:
            status: str | None = connection.scalar(_STATUS, {"id": transaction})
            return status

    def _may_pass(self, error: DBAPIError) -> bool:
        """Return whether a retry may succeed: the connection was cut, or others were in the way.

        A lost connection of PostgreSQL shows itself in many ways, all of them operational errors,
        as deadlocks are. Those of SQLite are mostly for good.
        """
        if self.is_sqlite:
            return "locked" in str(error.orig)
        return error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def proper_url(given: str) -> str:
    """Return the address of a database as SQLAlchemy wants it; a bare path is an SQLite file."""
    try:
        url = make_url(given) if "://" in given else URL.create("sqlite", database=given)
    except (ArgumentError, ValueError):
        raise BadDatabase(f"this is no address of a database: {_ADVICE}") from None
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername=POSTGRES)
    if url.drivername not in ("sqlite", POSTGRES):
        raise BadDatabase(f"a database of the kind {url.drivername!r} cannot be used: {_ADVICE}")
    if url.drivername == "sqlite" and url.database in (None, "", ":memory:"):
        raise BadDatabase(f"a ladder is kept in a file, not in memory: {_ADVICE}")
    return url.render_as_string(hide_password=False)


def allow_pauses(session: Session, idle_ms: int = LONG_IDLE_MS) -> None:
    """Let a transaction of PostgreSQL wait for so long between two statements, and no longer."""
    if session.get_bind().dialect.name != "sqlite":
        session.connection().exec_driver_sql(
            f"SET LOCAL idle_in_transaction_session_timeout = {idle_ms:d}"
        )


@contextmanager
def clear_errors(database: Database) -> Iterator[None]:
    """Turn what a database that cannot be used says into one line that tells what to do."""
    try:
        yield
    except DBAPIError as error:
        reason = " ".join(str(error.orig).split())
        if database.is_sqlite and type(error) in (OperationalError, DatabaseError):
            message = f"{database.shown} cannot be used: {reason}; {_remedy(error.orig)}"
        elif not database.is_sqlite and isinstance(error, OperationalError | InterfaceError):
            message = (
                f"the database {database.shown} cannot be reached: {reason}; "
                "check that the server runs, and the address, user and password"
            )
        else:
            raise
        raise BadDatabase(message) from error


def _remedy(error: BaseException | None) -> str:
    """Return what to do about an error of SQLite, by its code without what more is known."""
    match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF:
        case sqlite3.SQLITE_NOTADB:
            return "choose another file"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_ERROR:  # damaged, or a table is missing
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


def insert_if_new(
    session: Session, table: Table, row: dict[str, Any], keys: list[str] | None = None
) -> bool:
    """Insert a row unless there is one, be it from a moment ago; return whether it is new.

    Without keys, one that is equal in anything unique counts. A table with several such columns
    needs that: PostgreSQL may notice a row from a moment ago by a column that was not named.
    """
    statement = _insert(session, table).values(row).on_conflict_do_nothing(index_elements=keys)
    return session.execute(statement.returning(*table.primary_key)).first() is not None


def _insert(session: Session, table: Table) -> Any:
    make: Any = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    return make(table)


def _engine(url: str) -> Engine:
    if url.startswith("sqlite"):
        engine = create_engine(url, connect_args={"check_same_thread": False})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    given = make_url(url).query
    arguments = {name: value for name, value in _CONNECTION.items() if name not in given}
    try:
        engine = create_engine(url, pool_pre_ping=True, connect_args=arguments)
        event.listen(engine, "connect", _prepare_postgres)
        return engine
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


def _prepare_postgres(connection: Any, _: ConnectionPoolEntry) -> None:
    # By statements, not in the start-up packet: poolers such as PgBouncer refuse it there.
    connection.autocommit = True
    connection.execute(_SESSION)
    connection.autocommit = False


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("keltis_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
