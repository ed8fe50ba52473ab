"""Write a new step of the tables' history: ``make migration NAME='what changes'``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from alembic import command

from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.steps import newest_step
from keltis_ladder.store.schema.upkeep import configuration, upgrade


def write_step(name: str) -> None:
    """Compare the tables of the last step with those of the sources, and write the difference."""
    config = configuration()
    with tempfile.TemporaryDirectory() as scratch:
        database = Database(str(Path(scratch) / "ladder.db"))
        upgrade(database)
        with database.engine.begin() as connection:
            config.attributes["connection"] = connection
            number = int(newest_step()) + 1
            command.revision(config, message=name, autogenerate=True, rev_id=f"{number:04}")
        database.close()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].strip():
        sys.exit("say what changes: make migration NAME='remember the language of a bot'")
    write_step(sys.argv[1])
