"""An SQLite database that is up to date, as bytes: quicker to write than to make another."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.upkeep import upgrade


def place_database(file: Path) -> Path:
    """Write an empty database that is up to date, unless there is one already; return the file."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_upgraded())
    return file


@cache
def _upgraded() -> bytes:
    with TemporaryDirectory() as scratch:
        file = Path(scratch) / "ladder.db"
        database = Database(str(file))
        upgrade(database)
        database.close()
        return file.read_bytes()
