"""Who serves a ladder: one server at a time, by locks that end with the process that holds them.

A server locks a file in the ladder's directory, and one beside the database if that is a file. On
PostgreSQL it holds an advisory lock of the database by a connection of its own. Programs and parts
of uploads are in the directory, so that a second server with the same database and another
directory would find versions that it can neither check nor play.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from keltis_ladder.errors import LadderError
from keltis_ladder.store.database import Database, clear_errors
from keltis_ladder.store.home import Home

LOCK_FILE: Final = "server.lock"
ADVISORY_KEY: Final = 0x6B656C746973  # the bytes of "keltis"
FILE_SECONDS: Final = 3.0  # for a server that was killed a moment ago
ADVISORY_SECONDS: Final = 15.0  # for the connection of one whose machine is gone
LOOK_AGAIN_SECONDS: Final = 0.1

_TAKE: Final = text("SELECT pg_try_advisory_lock(:key)")
_HOLDER: Final = text(
    "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)"
    " WHERE locktype = 'advisory' AND granted"
    " AND (classid::bigint << 32) | objid::bigint = :key"
    " AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class Occupied(LadderError):
    """A ladder that another server serves."""


class Occupancy:
    """The locks of this process on a ladder."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._database = Database(home.url)
        self._connection: Connection | None = None
        self._files = ExitStack()

    def take(self) -> None:
        """Take all locks, or raise ``Occupied``; the holder of one may be about to end."""
        self._home.make_directory()
        for path in _lock_files(self._home, self._database):
            self._files.enter_context(_locked(path))
        if not self._database.is_sqlite:
            with clear_errors(self._database):
                self._take_advisory(ADVISORY_SECONDS)

    def keep(self) -> None:
        """Take the lock of the database again if its connection was lost.

        Raise ``Occupied`` if somebody else was quicker, ``DBAPIError`` if the database is away.
        """
        if self._database.is_sqlite:
            return
        try:
            if self._connection is not None:
                self._connection.execute(text("SELECT 1"))
                return
        except DBAPIError:
            self._let_go()
        self._take_advisory(ADVISORY_SECONDS)

    def release(self) -> None:
        """Give all locks back."""
        self._let_go()
        self._database.close()
        self._files.close()

    def _take_advisory(self, patience: float) -> None:
        connection = self._database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            connection.execute(
                text("SELECT set_config('application_name', :name, false)"),
                {"name": f"keltis-ladder {_this_server()}"[:63]},
            )
            until = time.monotonic() + patience
            while not connection.scalar(_TAKE, {"key": ADVISORY_KEY}):
                if time.monotonic() > until:
                    raise _refusal(_advisory_holder(connection), self._database.shown)
                time.sleep(LOOK_AGAIN_SECONDS)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _let_go(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.invalidate()  # the lock ends with it
            connection.close()


@contextmanager
def occupied(home: Home) -> Iterator[Occupancy]:
    """Keep other servers away from a ladder; raise ``Occupied`` if there is one."""
    occupancy = Occupancy(home)
    try:
        occupancy.take()
        yield occupancy
    finally:
        occupancy.release()


def find_server(home: Home) -> str | None:
    """Return which server serves a ladder, in words; none if there is none."""
    database = Database(home.url)
    try:
        for path in _lock_files(home, database):
            if path.exists() and (holder := _file_holder(path)) is not None:
                return holder
        if database.is_sqlite:
            return None
        with clear_errors(database), database.engine.connect() as connection:
            return _advisory_holder(connection)
    finally:
        database.close()


def _lock_files(home: Home, database: Database) -> list[Path]:
    files = [home.directory / LOCK_FILE]
    if database.file is not None and database.file.resolve().parent != home.directory.resolve():
        files.append(database.file.resolve().with_name(f"{database.file.name}-{LOCK_FILE}"))
    return files


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file's lock. It belongs to this process alone: none that it starts inherits it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        until = time.monotonic() + FILE_SECONDS
        while not _try_lock(handle):
            if time.monotonic() > until:
                raise _refusal(_read_holder(handle), str(path.parent))
            time.sleep(LOOK_AGAIN_SECONDS)
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps({"server": _this_server()}).encode(), 0)
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)  # the file stays: another may be about to lock it


def _try_lock(handle: int) -> bool:
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _file_holder(path: Path) -> str | None:
    """Return who holds the lock of a file; this must not be asked by the holder itself."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:  # not ours to write, so it is somebody else's ladder
        return None
    try:
        return None if _try_lock(handle) else _read_holder(handle)
    finally:
        os.close(handle)


def _read_holder(handle: int) -> str:
    try:
        return str(json.loads(os.pread(handle, 4096, 0))["server"])
    except (ValueError, KeyError, TypeError):  # it has just begun, or is about to end
        return "another server"


def _advisory_holder(connection: Connection) -> str | None:
    name: str | None = connection.scalar(_HOLDER, {"key": ADVISORY_KEY})
    return None if name is None else name.removeprefix("keltis-ladder ")


def _refusal(holder: str | None, where: str) -> Occupied:
    return Occupied(
        f"{holder or 'another server'} serves this ladder ({where}) already: stop it first, or"
        " choose another directory with --data (and another --database, if you name one)"
    )


def _this_server() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as containers have them
        user = str(os.getuid())
    return f"the server of {user} on {platform.node()} (process {os.getpid()})"
