"""Look at the decisions of stored matches: which bots' fit cards that they could not know.

This takes a second of computing for each match, so that it is done beside the server, not in it: by
``run/looker.py``, or by the command ``audit look``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session

from keltis_engine import Ruleset, find_variant
from keltis_ladder.audit.book import Played
from keltis_ladder.audit.evidence import Contrast
from keltis_ladder.audit.foresight import foresight
from keltis_ladder.audit.rotations import contrast
from keltis_ladder.match.rotation import seat_of
from keltis_ladder.store.audit.book import add_foresight, mark_of, played
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.records import unpack_moves
from keltis_ladder.store.schema.relations import FORESIGHT, GAME, JOB, MATCH

Progress = Callable[[int, int], None]  # matches done, matches in all


@dataclass(frozen=True)
class Looked:
    """What a round came to."""

    matches: int
    removed: int  # matches whose moves are not kept any more
    suspects: tuple[int, ...]  # bots


def look(
    database: Database,
    bot: int | None = None,
    latest: int | None = None,
    progress: Progress | None = None,
) -> Looked:
    """Look at all matches that nobody has looked at yet, the oldest first; of one bot, if wanted.

    Each is kept as soon as it is known: after an interruption it goes on there.
    """
    with database.reading() as session:
        begin, done = mark_of(session)
        known = set(session.execute(select(FORESIGHT.c.match_number).distinct()).scalars())
        matches = [
            match
            for match in played(session, begin, done, bot, latest)
            if match.number not in known
        ]
    suspects: list[int] = []
    removed = 0
    for count, match in enumerate(matches, 1):
        found = _look(database, match)
        if found is None:
            removed += 1
        else:
            suspects += found
        if progress is not None:
            progress(count, len(matches))
    return Looked(len(matches) - removed, removed, tuple(dict.fromkeys(suspects)))


def look_at(database: Database, number: int) -> tuple[int, ...] | None:
    """Look at one match and keep what was found; return the bots that it made suspicious.

    None if there is nothing to look at: its moves, or the match, are not kept any more.
    """
    with database.reading() as session:
        matches = played(session, number - 1, number)
    found = _look(database, matches[0]) if matches else None
    return None if found is None else tuple(found)


def _look(database: Database, match: Played) -> list[int] | None:
    with database.reading() as session:
        record = _record(session, match)
    if record is None:
        return None
    found = _contrasts(match, *record)  # no transaction is open meanwhile: it takes its time
    entries = [(position, match.versions[position], each) for position, each in enumerate(found)]
    return database.write(_kept(match, entries))


def _kept(
    match: Played, entries: list[tuple[int, int, Contrast]]
) -> Callable[[Session], list[int]]:
    return lambda session: add_foresight(session, match.number, match.variant, entries)


def _record(session: Session, match: Played) -> tuple[Ruleset, int, list[bytes]] | None:
    """Return what was played, of which seed, and the moves of all games; none if these are gone."""
    row = session.execute(
        select(JOB.c.seed, JOB.c.options)
        .join(MATCH, MATCH.c.job_id == JOB.c.id)
        .where(MATCH.c.number == match.number)
    ).one()
    moves = session.execute(
        select(GAME.c.moves).where(GAME.c.match_number == match.number).order_by(GAME.c.rotation)
    )
    games = list(moves.scalars())
    return (find_variant(match.variant, row.options), int(row.seed), games) if all(games) else None


def _contrasts(match: Played, ruleset: Ruleset, seed: int, games: list[bytes]) -> list[Contrast]:
    """Return what the decisions of all entrants say."""
    players = len(match.bots)
    scores = [
        foresight(ruleset, players, seed, unpack_moves(data), range(players)) for data in games
    ]
    return [
        contrast([game[seat_of(position, k, players)] for k, game in enumerate(scores)])
        for position in range(players)
    ]
