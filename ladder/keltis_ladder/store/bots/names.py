"""Names that look alike are the same name: nobody passes for somebody else by a dot or a zero."""

from __future__ import annotations

import unicodedata
from typing import Final

import sqlalchemy as sql
from sqlmodel import Session

from keltis_ladder.store.schema.tables import Author, Bot, table_of

SEPARATORS: Final = ".-_ "
# Of characters that are easily taken for each other, one stands for all.
LOOK_ALIKES: Final = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "5": "s"})
MARK: Final = "~"  # in no folded name of anybody's choice: it keeps apart what folds to the same


def fold(name: str) -> str:
    """Return what a name is compared by: without case, separators and look-alikes."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    kept = "".join(letter for letter in plain if letter not in SEPARATORS)
    return kept.replace(MARK, "").translate(LOOK_ALIKES)


def look_alike(session: Session, table: type[Author] | type[Bot], name: str) -> str | None:
    """Return the name that somebody has which is the same or looks like this one, if any."""
    column = table_of(table).c
    same = sql.select(column.name).where(column.name == name)
    alike = sql.select(column.name).where(column.folded == fold(name))
    found: str | None = session.execute(same).scalar() or session.execute(alike).scalar()
    return found


def free_fold(session: Session, table: type[Author] | type[Bot], name: str, id: int = 0) -> str:
    """Return a folded form for a name of ours, which we keep even if another looks like it.

    With the ``id`` of a row that is there already, its own is as good as free.
    """
    column = table_of(table).c
    folded, number = fold(name), 1
    while True:
        query = sql.select(column.id).where(column.folded == folded, column.id != id)
        if session.execute(query).first() is None:
            return folded
        number += 1
        folded = f"{fold(name)}{MARK}{number}"
