"""All rated matches, in their order, as far as ratings are concerned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Select, func, select
from sqlmodel import Session

from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.book import Record, Share
from keltis_ladder.store.matches.scores import FaultRow, GameRow, scores_of
from keltis_ladder.store.schema.relations import FAULT, GAME, MATCH, PLACE

FETCHED_MATCHES: Final = 1_000  # matches that are fetched

_PLACES: Final = (
    select(
        MATCH.c.number, MATCH.c.variant, MATCH.c.players,
        PLACE.c.version_id, PLACE.c.rank, PLACE.c.twelfths, PLACE.c.faults,
        PLACE.c.seat0, PLACE.c.seat1, PLACE.c.seat2, PLACE.c.seat3,
    )
    .join(PLACE, PLACE.c.match_number == MATCH.c.number, isouter=True)
    .where(MATCH.c.rated)
    .order_by(MATCH.c.number, PLACE.c.position)
)  # fmt: skip
_GAMES: Final = select(GAME.c.match_number, GAME.c.rotation, GAME.c.scores, GAME.c.ranks).order_by(
    GAME.c.match_number, GAME.c.rotation
)
_FAULTS: Final = select(FAULT.c.match_number, FAULT.c.rotation, FAULT.c.seat).order_by(
    FAULT.c.match_number, FAULT.c.id
)


class Incomplete(LadderError):
    """A match of which rows are missing."""


def records(session: Session, after: int = 0, until: int | None = None) -> Iterator[Record]:
    """Return the rated matches in their order; those after a number, and up to one."""
    last = until
    if last is None:
        last = session.execute(select(func.max(MATCH.c.number))).scalar() or 0
    for begin in range(after, last, FETCHED_MATCHES):
        yield from _records(session, begin, min(begin + FETCHED_MATCHES, last))


def _records(session: Session, begin: int, end: int) -> Iterator[Record]:
    places, games, faults = (
        _by_match(session, query, column, begin, end)
        for query, column in (
            (_PLACES, MATCH.c.number),
            (_GAMES, GAME.c.match_number),
            (_FAULTS, FAULT.c.match_number),
        )
    )
    for number, rows in places.items():
        yield _record(
            number,
            rows,
            [GameRow(*row) for row in games[number]],
            [FaultRow(*row) for row in faults[number]],
        )


def _by_match(
    session: Session, query: Select[Any], number: Any, begin: int, end: int
) -> defaultdict[int, list[tuple[Any, ...]]]:
    found: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in session.execute(query.where(number > begin, number <= end)):
        found[row[0]].append(tuple(row[1:]))
    return found


def _record(
    number: int, rows: list[tuple[Any, ...]], games: list[GameRow], faults: list[FaultRow]
) -> Record:
    variant, players = rows[0][:2]
    if {len(rows), len(games)} != {players}:
        raise Incomplete(
            f"match {number} has not all its {players} places and games: restore a backup"
        )
    try:
        scores = scores_of(variant, games, faults)
    except (ValueError, TypeError, IndexError) as error:
        raise Incomplete(
            f"the games of match {number} make no result ({error}): restore a backup"
        ) from error
    shares = [
        Share(version, rank, twelfths, faults, tuple(seats[:players]), score)
        for (_, _, version, rank, twelfths, faults, *seats), score in zip(rows, scores, strict=True)
    ]
    return Record(number, variant, players, tuple(shares))
