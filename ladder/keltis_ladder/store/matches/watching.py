"""Stored matches as onlookers see them: the same as a match under way, but over."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from sqlmodel import Session, col, select

from keltis_engine import Ruleset, find_variant
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import Kind
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import GameResult, MatchResult
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.spectate.batches import Decided, Decision, Dropped, Ended, Entry
from keltis_ladder.spectate.live_match import LiveMatch
from keltis_ladder.store.matches.job_rows import job_of
from keltis_ladder.store.matches.matches import FaultRow, MatchRow
from keltis_ladder.store.matches.records import unpack_moves
from keltis_ladder.store.matches.replays import Damaged, pruned_replay
from keltis_ladder.store.schema.tables import Game, Match, Place


def stored_match(session: Session, row: MatchRow) -> LiveMatch:
    """Return a match that is over as if it had been watched; only its times are not known."""
    job = row.job
    played = job_of(
        job, [Entrant(each.bot, str(each.version_id), (), None) for each in row.entrants]
    )
    ruleset = find_variant(job.variant, job.options)
    games = session.exec(
        select(Game).where(Game.match_number == row.number).order_by(col(Game.rotation))
    )
    match = LiveMatch(played)
    results = []
    for game in games:
        dropped = [fault for fault in row.faults if fault.rotation == game.rotation]
        if not game.moves:
            raise pruned_replay(game.match_number)
        try:
            actions = unpack_moves(game.moves)
            match.take(tuple(_entries(ruleset, played, game.rotation, actions, dropped)))
        except (zlib.error, ValueError):  # whatever the engine has against the moves
            raise Damaged(
                f"game {game.rotation} of match {row.number} does not play out as it did: "
                "its record is damaged; restore a backup"
            ) from None
        results.append(_result(game, actions, job.players))
    match.finish(MatchResult(results))
    return match


def _entries(
    ruleset: Ruleset,
    job: Job,
    rotation: int,
    actions: Sequence[int],
    faults: Sequence[FaultRow],
) -> Iterable[Entry]:
    """Yield what a referee told of a game, but for the times."""
    state = ruleset.deal(len(job.entrants), job.seed)
    left = list(faults)
    for ply, action in enumerate(actions):
        while left and left[0].decision <= ply:
            yield _dropped(left.pop(0))
        yield Decided(rotation, (Decision(int(state.seat), action, 0),))
        state.apply(action)
    for fault in left:
        yield _dropped(fault)
    yield Ended(rotation)


def _dropped(fault: FaultRow) -> Dropped:
    return Dropped(fault.rotation, fault.seat, Kind(fault.kind), fault.code)


def _result(game: Game, actions: list[int], players: int) -> GameResult:
    return GameResult(
        rotation=game.rotation,
        entrants=entrants_by_seat(game.rotation, players),
        actions=actions,
        ending=game.ending,
        scores=game.scores,
        ranks=game.ranks,
        times=[],
    )


def first_match_of(session: Session, version_id: int) -> str | None:
    """Return the job of the first rated match that a version has played."""
    query = (
        select(Match.job_id)
        .join(Place, col(Place.match_number) == Match.number)
        .where(Place.version_id == version_id, col(Match.rated))
        .order_by(col(Place.match_number))
    )
    return session.exec(query).first()
