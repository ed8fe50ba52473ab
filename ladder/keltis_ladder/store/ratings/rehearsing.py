"""Play all stored games again, and work out from them how their matches came out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Row, func, select
from sqlmodel import Session

from keltis_engine import find_variant
from keltis_ladder.match.faults import Fault, Kind
from keltis_ladder.match.results import GameResult, Loss, MatchResult
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.store.matches.records import in_twelfths
from keltis_ladder.store.matches.replays import Damaged, play_out, read_card
from keltis_ladder.store.ratings.recomputing import Progress
from keltis_ladder.store.schema.relations import JOB, MATCH
from keltis_ladder.store.schema.tables import FaultRecord, Game, Place, table_of

FETCHED_MATCHES: Final = 200  # matches that are fetched at once

AnyRow = Row[*tuple[Any, ...]]


def rehearse(session: Session, progress: Progress | None = None) -> Iterator[str]:
    """Play every match again; yield for each what is wrong with it, or an empty text."""
    match = MATCH.c
    last = session.execute(select(func.max(match.number))).scalar() or 0
    for begin in range(0, last, FETCHED_MATCHES):
        end = min(begin + FETCHED_MATCHES, last)
        job = JOB.c
        query = (
            select(match.number, job.variant, job.options, job.players, job.seed)
            .join(JOB, job.id == match.job_id)
            .where(match.number > begin, match.number <= end)
            .order_by(match.number)
        )
        games, places, faults = (
            _by_match(session, table, begin, end) for table in (Game, Place, FaultRecord)
        )
        for row in session.execute(query).all():
            yield _wrong(row, games[row.number], places[row.number], faults[row.number])
        if progress is not None:
            progress(end, last)


def _by_match(
    session: Session, model: type[Game | Place | FaultRecord], begin: int, end: int
) -> defaultdict[int, list[AnyRow]]:
    table = table_of(model)
    number = table.c.match_number
    query = select(table).where(number > begin, number <= end).order_by(*table.primary_key.columns)
    found: defaultdict[int, list[AnyRow]] = defaultdict(list)
    for row in session.execute(query):
        found[row.match_number].append(row)
    return found


def _wrong(job: AnyRow, games: list[AnyRow], places: list[AnyRow], faults: list[AnyRow]) -> str:
    if {len(games), len(places)} != {job.players}:
        return f"match {job.number} is not complete"
    try:
        ruleset = find_variant(job.variant, job.options)
        for game in games:
            if not game.moves:
                continue  # pruned; that it may be was looked at before
            play_out(ruleset, job.players, int(job.seed), game)
        for fault in faults:
            if not fault.card:
                continue
            read_card(fault.id, fault.card)
        result = MatchResult([_game_result(game, faults) for game in games])
        expected = [
            (rank, in_twelfths(share), points)
            for rank, share, points in zip(result.ranks, result.shares, result.points, strict=True)
        ]
    except Damaged as damage:
        return str(damage)
    except (ValueError, TypeError) as error:  # what is stored is not of the right kind
        return f"match {job.number} cannot be played again: {error}"
    stored = [(place.rank, place.twelfths, place.points) for place in places]
    if stored != expected:
        return (
            f"the places of match {job.number} (rank, twelfths of wins, points) are {stored}, "
            f"and its games make them {expected}"
        )
    return ""


def _game_result(game: AnyRow, faults: list[AnyRow]) -> GameResult:
    losses = [
        Loss(fault.seat, fault.decision, Fault(Kind(fault.kind), fault.code, fault.text), {})
        for fault in faults
        if fault.rotation == game.rotation
    ]
    return GameResult(
        rotation=game.rotation,
        entrants=entrants_by_seat(game.rotation, len(game.scores)),
        actions=[],
        ending=game.ending,
        scores=game.scores,
        ranks=game.ranks,
        times=[],
        losses=losses,
    )
