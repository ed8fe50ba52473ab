"""Checkpoints: the whole book of ratings as it was after a match, kept with its digest.

Where there are too many results to enter all of them again, a recomputation begins at a checkpoint.
One that begins earlier passes through it, and finds out whether it was right: from checkpoint to
checkpoint, and from the last one to the stored ratings, every number has to be the same.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, delete, func, select
from sqlmodel import Session

from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.book import Book, Pair, Score, Standing
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.ratings.skill import Belief
from keltis_ladder.store.database import allow_pauses, insert_or_update
from keltis_ladder.store.matches.finishing import lock_ledger, standing_of
from keltis_ladder.store.ratings.models import MODELS, is_ours
from keltis_ladder.store.schema.relations import DUEL, RATING, RATING_CHECKPOINT
from keltis_ladder.store.schema.tables import Ledger

EVERY: Final = 20_000  # matches from one checkpoint to the next: seconds of recomputation
KEPT: Final = 10  # checkpoints; older ones go

_OURS: Final = tuple(RATING_CHECKPOINT.c[name] == version for name, version in MODELS.items())


class DamagedCheckpoint(LadderError):
    """A checkpoint that is not what was written."""


@dataclass(frozen=True)
class CheckpointMark:
    """A checkpoint without its contents."""

    number: int  # of the last match that is in it
    digest: str


def text_of(book: Book) -> bytes:
    """Return a book in the one form that it has; a float is written with all of its digits."""
    standings = [
        [
            version, scope.variant, scope.players, each.belief.mu, each.belief.sigma,
            each.matches, each.firsts, each.shared, each.games, each.twelfths, each.faults,
            each.seats, each.seat_games, each.last_match,
        ]
        for (version, scope), each in sorted(book.standings.items(), key=lambda item: item[0])
    ]  # fmt: skip
    duels = [[*pair, *astuple(score)] for pair, score in sorted(book.duels.items())]
    whole = {"standings": standings, "duels": duels}
    return json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()


def digest_of(book: Book) -> str:
    """Return the digest of a book."""
    return hashlib.sha256(text_of(book)).hexdigest()


def marks(session: Session, after: int = 0) -> list[CheckpointMark]:
    """Return the checkpoints of our models after a match, the oldest first."""
    query = (
        select(RATING_CHECKPOINT.c.number, RATING_CHECKPOINT.c.digest)
        .where(*_OURS, RATING_CHECKPOINT.c.number > after)
        .order_by(RATING_CHECKPOINT.c.number)
    )
    return [CheckpointMark(number, digest) for number, digest in session.execute(query)]


def newest(
    session: Session, predecessors: Mapping[int, int | None], until: int | None = None
) -> tuple[int, Book] | None:
    """Return the book of the newest checkpoint, and its number; of those up to a match, if any."""
    query = (
        select(RATING_CHECKPOINT).where(*_OURS).order_by(RATING_CHECKPOINT.c.number.desc()).limit(1)
    )
    if until is not None:
        query = query.where(RATING_CHECKPOINT.c.number <= until)
    row = session.execute(query).first()
    return None if row is None else (row.number, _read(row, predecessors))


def _read(row: Row[Any], predecessors: Mapping[int, int | None]) -> Book:
    try:
        text = zlib.decompress(row.book)
    except zlib.error:
        text = b""
    if hashlib.sha256(text).hexdigest() != row.digest:
        raise DamagedCheckpoint(
            f"the checkpoint of the ratings after match {row.number} is damaged: prove them from "
            "the first match with keltis-ladder ratings recompute, and make checkpoints again with "
            "--store"
        )
    whole = json.loads(text)
    book = Book(predecessors)
    for version, variant, players, mu, sigma, *counts in whole["standings"]:
        book.standings[version, Scope(variant, players)] = Standing(Belief(mu, sigma), *counts)
    for one, other, variant, players, *counts in whole["duels"]:
        book.duels[Pair(one, other, variant, players)] = Score(*counts)
    return book


def stored_book(session: Session, predecessors: Mapping[int, int | None]) -> Book:
    """Return the book that the stored ratings and duels make."""
    book = Book(predecessors)
    for row in session.execute(select(RATING)):
        book.standings[row.version_id, Scope(row.variant, row.players)] = standing_of(row)
    for row in session.execute(select(DUEL)):
        pair = Pair(row.one_id, row.other_id, row.variant, row.players)
        book.duels[pair] = Score(row.wins, row.draws, row.losses, row.margin)
    return book


def add_if_due(session: Session, now: datetime, every: int = EVERY) -> int | None:
    """Make a checkpoint if there are enough results since the last; return its number."""
    ledger = session.get(Ledger, 1)  # without holding up results if there is nothing to do
    if ledger is None or ledger.matches < _last(session) + every:
        return None
    held = lock_ledger(session)
    allow_pauses(session)  # to write a large book out takes a while
    if not is_ours(held) or held.matches < _last(session) + every:
        return None
    add(session, held.matches, stored_book(session, {}), now)
    kept = (
        select(RATING_CHECKPOINT.c.number).order_by(RATING_CHECKPOINT.c.number.desc()).limit(KEPT)
    )
    oldest = min(session.execute(kept).scalars())
    session.execute(delete(RATING_CHECKPOINT).where(RATING_CHECKPOINT.c.number < oldest))
    return int(held.matches)


def _last(session: Session) -> int:
    return session.execute(select(func.max(RATING_CHECKPOINT.c.number))).scalar() or 0


def add(session: Session, number: int, book: Book, now: datetime) -> None:
    """Keep a book as it is after a match."""
    text = text_of(book)
    row = {
        "number": number,
        **MODELS,
        "digest": hashlib.sha256(text).hexdigest(),
        "book": zlib.compress(text, 6),
        "created": now,
    }
    insert_or_update(session, RATING_CHECKPOINT, [row], ("number",))
