"""Matches as the API shows them. What is hidden until the end is not in them before."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from keltis_server.models.moments import Moment


class MatchState(StrEnum):
    """How far a match has come."""

    WAITING = "waiting"
    PLAYING = "playing"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


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
    after: int = Field(description="Number of results that were stored when it was committed to.")
    part_commitment: str = Field(description="The hash that binds the server to its part.")
    secret: str | None = Field(description="The part itself, told when the match is over.")
    previous: int = Field(description="The number of the result that is mixed in; 0: none.")
    previous_digest: str = Field(description="The result_digest of that match.")
    programs: list[str] = Field(description="What plays, by position.")


class MatchOut(BaseModel):
    """A match: one deal, played once for each rotation of the seats."""

    id: str
    number: int | None = Field(description="Its place in the order of all results.")
    state: Annotated[str, Field(json_schema_extra={"enum": list(MatchState)})]
    purpose: str
    rated: bool
    variant: str
    players: int
    options: dict[str, int]
    clock: ControlOut
    reason: str = Field(description="Why this match, in English.")
    reason_code: str = Field(
        default="", description="The same as a code; empty if nobody has said."
    )
    reason_details: dict[str, str | int] = Field(
        default_factory=dict, description="What belongs to the code."
    )
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
    created: Moment
    finished: Moment | None
    games: list[GameOut] = Field(description="Empty until the whole match is over.")
    replay_removed: bool = Field(
        description="Whether the moves are gone, older than this ladder keeps them."
    )

    @property
    def over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state not in (MatchState.WAITING, MatchState.PLAYING)
