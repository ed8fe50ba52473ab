"""Where a ladder lives: a directory with its database and the files that bots came in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from keltis_ladder.store.archives import Archives
from keltis_ladder.store.database import Database, clear_errors
from keltis_ladder.store.upkeep import require_up_to_date, upgrade
from keltis_ladder.store.whereabouts import default_directory

DATABASE: Final = "KELTIS_DATABASE"
FILE: Final = "ladder.db"


class Home:
    """A ladder's directory and database."""

    def __init__(self, directory: Path | None = None, url: str | None = None) -> None:
        self.directory = directory or default_directory()
        self.url = url or os.environ.get(DATABASE) or str(self.directory / FILE)
        self.archives = Archives(self.directory / "archives")

    def open(self, create: bool = True) -> Database:
        """Open the database; bring it up to date, or with ``create=False`` insist that it is."""
        if create:
            self.directory.mkdir(parents=True, exist_ok=True)
        database = Database(self.url)
        if database.file is not None and not create and not database.file.exists():
            raise FileNotFoundError(2, "there is no ladder yet", str(database.file))
        try:
            with clear_errors(database):
                if create:
                    upgrade(database)
                else:
                    require_up_to_date(database)
        except BaseException:
            database.close()
            raise
        return database
