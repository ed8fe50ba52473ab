"""Bring what was rated by another release up to date, and say how far that is.

The live ratings and the margins of duels are replaced in one transaction; until then nothing can be
stored. The joint rating follows from the margins, and is published scope by scope: a ladder that is
played does so by itself, in a process of its own.
"""

from __future__ import annotations

from typing import Final, Protocol

from sqlmodel import Session

from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import lock_ledger
from keltis_ladder.store.ratings.joint.publishing import is_published, publish_all
from keltis_ladder.store.ratings.models import is_ours
from keltis_ladder.store.ratings.recomputing import replace

RATING: Final = "working out the ratings of another release again"
FITTING: Final = "fitting the joint rating"


class Work(Protocol):
    """Shows somebody what is being done, and how far it is."""

    def begin(self, text: str) -> None:
        """Say what is done now."""
        ...

    def tell(self, done: int, total: int) -> None:
        """Say how far it is."""
        ...


def renew(database: Database, work: Work) -> int | None:
    """Work the ratings out again if another release made them; return from how many matches.

    None: they are of this release.
    """

    def again(session: Session) -> int | None:
        if is_ours(lock_ledger(session)):
            return None
        work.begin(RATING)
        return replace(session, work.tell)

    return database.write(again)


def publish_first(database: Database, work: Work) -> int:
    """Publish the joint rating where this release never has; return how many figures that were."""
    with database.reading() as session:
        if is_published(session):
            return 0
    work.begin(FITTING)
    return publish_all(database, work.tell)
