"""Matches, from what is stored. What is hidden until the end is left out before."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlmodel import Session

from keltis_ladder.match.commitments import commitment_of
from keltis_ladder.match.reasons import reason_text
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.match.seeds import Origin, origin_from_plain
from keltis_ladder.store.matches.job_rows import reason_of
from keltis_ladder.store.matches.matches import EntrantRow, GameRow, MatchRow, match_row
from keltis_ladder.store.matches.records import TWELFTHS
from keltis_ladder.store.schema.tables import JobState
from keltis_server.loaders.filling import filled
from keltis_server.models.matches import (
    ControlOut,
    EntrantOut,
    GameFaultOut,
    GameOut,
    MatchOut,
    MatchState,
    OriginOut,
)

STATES: Final = {
    JobState.WAITING: MatchState.WAITING,
    JobState.HELD: MatchState.WAITING,
    JobState.LEASED: MatchState.PLAYING,
    JobState.DONE: MatchState.FINISHED,
    JobState.FAILED: MatchState.FAILED,
    JobState.CANCELLED: MatchState.CANCELLED,
}


def origin_out(origin: Origin, secret: str | None = None) -> OriginOut:
    """Return what a seed is made of, as everybody may see it."""
    return OriginOut(**origin.to_plain(), secret=secret)


def match_out(row: MatchRow, unbegun: Collection[str] = ()) -> MatchOut:
    """Return a match as everybody may see it; those that are not begun still wait."""
    job = row.job
    state = MatchState.WAITING if job.id in unbegun else STATES[JobState(job.state)]
    over = row.number is not None
    origin = None
    if job.origin is not None:
        origin = origin_out(origin_from_plain(job.origin), row.secret if over else None)
    return filled(
        MatchOut,
        job,
        number=row.number,
        state=MatchState.FINISHED if over else state,
        clock=ControlOut.model_validate(job, from_attributes=True),
        reason=reason_text(reason_of(job)),
        reason_code=job.reason,
        reason_details=job.reason_details or {},
        tournament=row.tournament,
        commitment=commitment_of(job.id, job.seed),
        seed=job.seed if over else None,
        origin=origin,
        result_digest=row.result_digest,
        entrants=[_entrant(entrant) for entrant in row.entrants],
        decisions=row.decisions,
        finished=row.finished,
        games=[_game(row, game) for game in row.games],
        replay_removed=not all(game.has_moves for game in row.games),
    )


def load_match(session: Session, job_id: str) -> MatchOut | None:
    """Return the match of a job; none if there is no such job."""
    row = match_row(session, job_id)
    return None if row is None else match_out(row)


def _entrant(row: EntrantRow) -> EntrantOut:
    wins = None if row.twelfths is None else row.twelfths / TWELFTHS
    return filled(EntrantOut, row, version=row.number, wins=wins)


def _game(row: MatchRow, game: GameRow) -> GameOut:
    return filled(
        GameOut,
        game,
        seats=entrants_by_seat(game.rotation, row.job.players),
        faults=[
            GameFaultOut.model_validate(fault, from_attributes=True)
            for fault in row.faults
            if fault.rotation == game.rotation
        ],
    )
