"""Matches as the API shows them. What is hidden until the end is not in them before."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, Field
from sqlmodel import Session

from keltis_ladder.match.commitments import commitment_of
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.match.seeds import Origin, origin_from_plain
from keltis_ladder.store.matches.matches import EntrantRow, GameRow, MatchRow, match_row
from keltis_ladder.store.matches.records import TWELFTHS
from keltis_ladder.store.schema.tables import JobState


class MatchState(StrEnum):
    """How far a match has come."""

    WAITING = "waiting"
    PLAYING = "playing"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


STATES: Final = {
    JobState.WAITING: MatchState.WAITING,
    JobState.HELD: MatchState.WAITING,
    JobState.LEASED: MatchState.PLAYING,
    JobState.DONE: MatchState.FINISHED,
    JobState.FAILED: MatchState.FAILED,
    JobState.CANCELLED: MatchState.CANCELLED,
}


class ControlOut(BaseModel):
    """The time that each bot has in a game."""

    bank_ms: int
    increment_ms: int
    start_ms: int


class EntrantOut(BaseModel):
    """Who plays in a match, and how they did."""

    position: int
    bot: str
    version: int
    author: str
    rank: int | None
    wins: float | None = Field(description="Games won; a shared win is a part of one.")
    points: int | None
    faults: int | None
    mu: float | None = Field(
        description="The overall rating before the match; null also if it is not kept."
    )
    sigma: float | None


class GameFaultOut(BaseModel):
    """Why a bot lost a game other than by points."""

    seat: int
    decision: int
    kind: str
    code: str


class GameOut(BaseModel):
    """A game that is over."""

    rotation: int
    seats: list[int] = Field(description="The position of the entrant on each seat.")
    ending: str
    scores: list[int] = Field(description="By seat, as the ranks.")
    ranks: list[int]
    digest: str = Field(description="Of its replay.")
    faults: list[GameFaultOut]


class OriginOut(BaseModel):
    """What a seed is made of. docs/readers/seeds.md says how."""

    part: int = Field(description="The number of the server's part.")
    after: int = Field(description="So many results were stored when it was committed to.")
    part_commitment: str = Field(description="The hash that binds the server to its part.")
    secret: str | None = Field(description="The part itself, told when the match is over.")
    previous: int = Field(description="The number of the result that is mixed in; 0: none.")
    previous_digest: str = Field(description="The result_digest of that match.")
    programs: list[str] = Field(description="What plays, by position.")


class MatchOut(BaseModel):
    """A match: one deal, played once for each rotation of the seats."""

    id: str
    number: int | None = Field(description="Its place in the order of all results.")
    state: MatchState
    purpose: str
    rated: bool
    variant: str
    players: int
    options: dict[str, int]
    clock: ControlOut
    reason: str = Field(description="Why this match.")
    tournament: str | None
    leg: str | None = Field(description="Its round, table and number there, of a tournament.")
    commitment: str | None = Field(
        description="The hash that binds the match to its seed; there from its beginning."
    )
    seed: str | None = Field(description="Told when the match is over.")
    origin: OriginOut | None = Field(
        description="What the seed is made of; none if it was given, or before the match begins."
    )
    result_digest: str | None = Field(description="Of this result and all that came before it.")
    entrants: list[EntrantOut]
    decisions: int | None
    created: datetime
    finished: datetime | None
    games: list[GameOut] = Field(description="Empty until the whole match is over.")
    replay_removed: bool = Field(
        description="Whether the moves are gone, older than this ladder keeps them."
    )


def origin_out(origin: Origin, secret: str | None = None) -> OriginOut:
    """Return what a seed is made of, as everybody may see it."""
    return OriginOut(**origin.to_plain(), secret=secret)


def match_out(row: MatchRow) -> MatchOut:
    """Return a match as everybody may see it."""
    job = row.job
    over = row.number is not None
    return MatchOut(
        id=job.id,
        number=row.number,
        state=MatchState.FINISHED if over else STATES[JobState(job.state)],
        purpose=job.purpose,
        rated=job.rated,
        variant=job.variant,
        players=job.players,
        options=job.options,
        clock=ControlOut(bank_ms=job.bank_ms, increment_ms=job.increment_ms, start_ms=job.start_ms),
        reason=job.reason,
        tournament=row.tournament,
        leg=job.leg,
        commitment=commitment_of(job.id, job.seed),
        seed=job.seed if over else None,
        origin=None
        if job.origin is None
        else origin_out(origin_from_plain(job.origin), row.secret if over else None),
        result_digest=row.result_digest,
        entrants=[_entrant(entrant) for entrant in row.entrants],
        decisions=row.decisions,
        created=job.created,
        finished=row.finished,
        games=[_game(row, game) for game in row.games],
        replay_removed=not all(game.has_moves for game in row.games),
    )


def load_match(session: Session, job_id: str) -> MatchOut | None:
    """Return the match of a job; none if there is no such job."""
    row = match_row(session, job_id)
    return None if row is None else match_out(row)


def _entrant(row: EntrantRow) -> EntrantOut:
    return EntrantOut(
        position=row.position,
        bot=row.bot,
        version=row.number,
        author=row.author,
        rank=row.rank,
        wins=None if row.twelfths is None else row.twelfths / TWELFTHS,
        points=row.points,
        faults=row.faults,
        mu=row.mu,
        sigma=row.sigma,
    )


def _game(row: MatchRow, game: GameRow) -> GameOut:
    return GameOut(
        rotation=game.rotation,
        seats=entrants_by_seat(game.rotation, row.job.players),
        ending=game.ending,
        scores=game.scores,
        ranks=game.ranks,
        digest=game.digest,
        faults=[
            GameFaultOut(seat=fault.seat, decision=fault.decision, kind=fault.kind, code=fault.code)
            for fault in row.faults
            if fault.rotation == game.rotation
        ],
    )
