"""Look at the decisions of stored matches: which bots' fit cards that they could not know.

This takes a second of computing for each match, so that it is done beside the server, not in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session

from keltis_engine import find_variant
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
        with database.reading() as session:
            found = _contrasts(session, match)
        if found is None:
            removed += 1
        else:
            entries = [
                (position, match.versions[position], each) for position, each in enumerate(found)
            ]
            suspects += database.write(_kept(match, entries))
        if progress is not None:
            progress(count, len(matches))
    return Looked(len(matches) - removed, removed, tuple(dict.fromkeys(suspects)))


def _kept(
    match: Played, entries: list[tuple[int, int, Contrast]]
) -> Callable[[Session], list[int]]:
    return lambda session: add_foresight(session, match.number, match.variant, entries)


def _contrasts(session: Session, match: Played) -> list[Contrast] | None:
    """Return what the decisions of all entrants say; nothing if the moves were removed."""
    row = session.execute(
        select(JOB.c.seed, JOB.c.options)
        .join(MATCH, MATCH.c.job_id == JOB.c.id)
        .where(MATCH.c.number == match.number)
    ).one()
    moves = session.execute(
        select(GAME.c.moves).where(GAME.c.match_number == match.number).order_by(GAME.c.rotation)
    ).scalars()
    ruleset = find_variant(match.variant, row.options)
    players = len(match.bots)
    scores: list[dict[int, int]] = []
    for data in moves:
        if not data:
            return None
        actions = unpack_moves(data)
        scores.append(foresight(ruleset, players, int(row.seed), actions, range(players)))
    return [
        contrast([game[seat_of(position, k, players)] for k, game in enumerate(scores)])
        for position in range(players)
    ]
