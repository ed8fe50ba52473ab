"""Where a ladder lives: a directory with its database and the files that bots came in."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

from keltis_ladder.store.archives import Archives
from keltis_ladder.store.database import Database, clear_errors
from keltis_ladder.store.schema.upkeep import require_up_to_date, upgrade
from keltis_ladder.store.whereabouts import default_directory

DATABASE: Final = "KELTIS_DATABASE"
FILE: Final = "ladder.db"
OWNER_ONLY: Final = 0o700
OTHERS: Final = 0o077


class Home:
    """A ladder's directory and database."""

    def __init__(self, directory: Path | None = None, url: str | None = None) -> None:
        self.directory = directory or default_directory()
        self.url = url or os.environ.get(DATABASE) or str(self.directory / FILE)
        self.archives = Archives(self.directory / "archives")

    def make_directory(self) -> None:
        """Make the directory for its owner alone: the seeds of deals are in it, and logins.

        One that is there is closed to others only if it holds a ladder or nothing: it might be
        somebody's home.
        """
        with contextlib.suppress(FileExistsError):
            self.directory.mkdir(mode=OWNER_ONLY, parents=True)
            return
        if (self.directory / FILE).exists() or not any(self.directory.iterdir()):
            _close_to_others(self.directory)

    def open(self, create: bool = True) -> Database:
        """Open the database; bring it up to date, or with ``create=False`` insist that it is."""
        if create:
            self.make_directory()
        database = Database(self.url)
        if database.file is not None and not create and not database.file.exists():
            raise FileNotFoundError(2, "there is no ladder yet", str(database.file))
        try:
            with clear_errors(database):
                if create:
                    make_private(database)
                    upgrade(database)
                else:
                    require_up_to_date(database)
        except BaseException:
            database.close()
            raise
        return database


def make_private(database: Database) -> None:
    """Have the file of an SQLite database, and those beside it, readable for its owner alone."""
    if database.file is None:
        return
    with contextlib.suppress(OSError):  # the database will say what is wrong, in its own words
        os.close(os.open(database.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    # What SQLite puts beside the file gets the file's mode, but may be there already.
    for suffix in ("", "-wal", "-shm"):
        _close_to_others(database.file.with_name(database.file.name + suffix))


def _close_to_others(path: Path) -> None:
    """Take all rights from everybody but the owner, if that is us; a place for all stays one."""
    try:
        found = path.stat()
    except OSError:
        return
    if found.st_uid == os.geteuid() and not found.st_mode & stat.S_ISVTX and found.st_mode & OTHERS:
        path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
