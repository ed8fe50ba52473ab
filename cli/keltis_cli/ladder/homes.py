"""Which ladder a command is about: the options that all commands with a database share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from keltis_ladder.store.database import Database, clear_errors
from keltis_ladder.store.home import DATABASE, Home
from keltis_ladder.store.whereabouts import DATA

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        envvar=DATA,
        help="The ladder's directory.",
        show_default="~/.local/share/keltis-ladder",
    ),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        envvar=DATABASE,
        help="Database: path of an SQLite file, or postgresql://USER:PASSWORD@HOST/NAME.",
        show_default="ladder.db in the directory",
    ),
]


def open_home(data: Path | None, database: str | None) -> Home:
    """Return where the ladder lives that a user means; its database is opened by ``Home.open``."""
    return Home(data, database)


@contextmanager
def existing_ladder(data: Path | None, database: str | None) -> Iterator[tuple[Home, Database]]:
    """Open a ladder that is there and up to date; what its database says is made clear."""
    home = open_home(data, database)
    with opened(home.open(create=False)) as found:
        yield home, found


@contextmanager
def opened(database: Database) -> Iterator[Database]:
    """Close a database at the end, and make clear what it says if it cannot be used."""
    try:
        with clear_errors(database):
            yield database
    finally:
        database.close()
