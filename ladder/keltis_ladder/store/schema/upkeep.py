"""Bring a database up to date, and copy it while it is in use."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, inspect
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url

from keltis_ladder.errors import LadderError
from keltis_ladder.files.trees import discard
from keltis_ladder.store.archives import PARTIAL
from keltis_ladder.store.database import BadDatabase, Database
from keltis_ladder.store.ratings.models import MODELS
from keltis_ladder.store.schema import steps
from keltis_ladder.store.schema.relations import LEDGER
from keltis_ladder.store.schema.steps import newest_step, step_of
from keltis_ladder.store.schema.tables import Table

if TYPE_CHECKING:
    from alembic.config import Config

BUSY: Final = 30.0  # seconds that a vacuum waits for writers
COPIED_PAGES: Final = 4096  # of a database that are copied in one step

Progress = Callable[[int, int], None]  # done, in all

_ONE_AT_A_TIME: Final = 20081215  # the number of the lock that those who change tables take


def upgrade(database: Database) -> tuple[str | None, str]:
    """Bring the tables up to date; return the step before and the step now."""
    newest = newest_step()
    with (
        database.engine.connect() as connection,
        _loose_references(connection),
        connection.execution_options(keltis_writes=True).begin(),
    ):
        if not database.is_sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ONE_AT_A_TIME})")
        before = step_of(connection)
        if before is None:
            _refuse_strangers(connection)
        if before != newest:
            _take_steps(connection)
            _check_references(connection)
        _open_ledger(connection)
    return before, newest


def _take_steps(connection: Connection) -> None:
    from alembic import command

    config = configuration()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


@contextmanager
def _loose_references(connection: Connection) -> Iterator[None]:
    """Ignore references in SQLite: a table that is rebuilt must not take its children with it."""
    if connection.dialect.name != "sqlite":
        yield
        return
    # Within a transaction, which SQLAlchemy would begin, SQLite takes no notice.
    cursor = connection.connection.cursor()
    cursor.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()


def _check_references(connection: Connection) -> None:
    if connection.dialect.name == "sqlite" and (broken := broken_references(connection)):
        raise BadDatabase(f"rows refer to others that are not there: {', '.join(broken)}")


def broken_references(connection: Connection) -> list[str]:
    """Return, for SQLite, which tables have rows that refer to rows that are not there."""
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check")
    return sorted({f"{table} to {parent}" for table, _, parent, _ in rows})


def _refuse_strangers(connection: Connection) -> None:
    """Raise if there are tables in our way, which are not ours."""
    names = set(inspect(connection).get_table_names())
    if connection.dialect.name != "sqlite":
        names &= set(Table.metadata.tables)
    if names:
        raise BadDatabase(
            f"the database holds tables of something else: {', '.join(sorted(names))}; "
            "choose another for the ladder"
        )


def require_up_to_date(database: Database) -> None:
    """Raise unless the tables are those that we know."""
    with database.engine.connect() as connection:
        if step_of(connection) != newest_step():
            raise BadDatabase("the database is not up to date: run keltis-ladder db upgrade")


def tables_differ(database: Database) -> list[str]:
    """Return how the tables differ from what the last step should have left."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences: list[Any] = compare_metadata(context, Table.metadata)
    return [str(difference) for difference in differences]


def configuration() -> Config:
    """Return what alembic has to know."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(steps.STEPS).replace("%", "%%"))
    return config


def _open_ledger(connection: Connection) -> None:
    make: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    row = {"id": 1, "matches": 0, **MODELS}
    connection.execute(make(LEDGER).values(row).on_conflict_do_nothing())


def vacuum(database: Database) -> int:
    """Give room that nothing needs any more back to the disk; return how many bytes.

    PostgreSQL does so by itself as far as it can, and needs its own tools for the rest.
    """
    if database.file is None:
        raise LadderError(
            "PostgreSQL reuses freed room by itself (autovacuum); to give it back to the disk, run "
            "VACUUM FULL there while the ladder is stopped"
        )
    before = database.file.stat().st_size
    with closing(sqlite3.connect(database.file, isolation_level=None, timeout=BUSY)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return before - database.file.stat().st_size


def backup(
    database: Database, archives: Path, target: Path, progress: Progress | None = None
) -> Path:
    """Copy the database, as it is at this moment, and the bots' files to a new directory.

    The database comes first: every archive that it names is on disk by then.
    """
    if target.exists():
        raise LadderError(f"{target} exists already: choose another name for the backup")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.mkdir(mode=0o700, parents=True)
    try:
        if database.file is not None:
            _copy_sqlite(database.file, part / "ladder.db", progress)
        else:
            _dump_postgres(database, part / "ladder.dump")
        if archives.is_dir():
            partial = shutil.ignore_patterns(f"{PARTIAL}*")
            shutil.copytree(archives, part / "archives", ignore=partial)
        part.rename(target)
    finally:
        discard(part)
    return target


def _copy_sqlite(source: Path, target: Path, progress: Progress | None) -> None:
    if not source.exists():
        raise LadderError(f"there is no database {source}")

    def tell(_: int, left: int, total: int) -> None:
        if progress is not None:
            progress(total - left, total)

    with (
        _copying(source),
        closing(sqlite3.connect(source)) as old,
        closing(sqlite3.connect(target)) as new,
    ):
        # Readers see one moment. Otherwise the copy would begin again with every result that
        # is stored meanwhile, and never end.
        old.execute("BEGIN")
        old.execute("SELECT 1 FROM sqlite_master").fetchone()
        old.backup(new, pages=COPIED_PAGES, progress=tell)
        (verdict,) = new.execute("PRAGMA integrity_check").fetchone()
        if verdict != "ok":
            raise LadderError(f"the copy is damaged: {verdict}; run keltis-ladder db check")
        new.execute("PRAGMA journal_mode=DELETE")


@contextmanager
def _copying(source: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise LadderError(f"{source} cannot be copied: {error}") from error


def _dump_postgres(database: Database, target: Path) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise LadderError("pg_dump is missing: install postgresql-client (Debian's name for it)")
    url = make_url(database.url).set(drivername="postgresql")
    address = url._replace(password=None).render_as_string()
    environment = {**os.environ, "PGPASSWORD": url.password or os.environ.get("PGPASSWORD", "")}
    done = subprocess.run(
        [program, "--format=custom", f"--file={target}", f"--dbname={address}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LadderError(f"pg_dump failed: {done.stderr.strip()}")
