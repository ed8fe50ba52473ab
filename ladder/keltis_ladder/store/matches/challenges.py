"""Challenges: unrated matches that an author wants played at once."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from keltis_ladder.match.orders import Order
from keltis_ladder.store.bots.catalogue import Refused
from keltis_ladder.store.matches.matches import challenges_under_way
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.schema.tables import Author, Job


class TooManyChallenges(Refused):
    """An author has as many challenges under way as one may have."""


def add_challenge(session: Session, order: Order, most: int, now: datetime) -> Job:
    """Put a challenge in the queue; its author may have a limited number there at once."""
    known = session.get(Job, order.id)
    if known is not None:
        return known
    assert order.author_id is not None
    # The first one locks the author: two at the same time cannot both be the last.
    session.get_one(Author, order.author_id, with_for_update={"key_share": True})
    if challenges_under_way(session, order.author_id) >= most:
        raise TooManyChallenges(f"{most} challenges of yours are not over yet")
    return add_job(session, order, now)
