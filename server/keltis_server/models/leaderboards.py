"""Leaderboards and head-to-head tables as the API shows them."""

from __future__ import annotations

from pydantic import BaseModel, Field

from keltis_server.models.moments import Moment


class LineOut(BaseModel):
    """One line of a leaderboard."""

    rank: int | None = Field(description="Null: provisional, or no longer on the ladder.")
    tied: int = Field(description="How many share the rank.")
    provisional: bool
    bot: str
    version: int
    author: str
    state: str
    mu: float
    sigma: float
    low: float = Field(description="The lower end of the 95 % interval.")
    high: float
    matches: int
    firsts: int = Field(description="Matches won alone.")
    shared: int = Field(description="Matches in which others were first, too.")
    games: int
    wins: float = Field(description="Games won; a shared win is a part of one.")
    faults: int
    seats: list[float | None] = Field(description="Share of the games won from each seat.")
    last_match: int
    last_played: Moment


class LeaderboardOut(BaseModel):
    """The bots on the ladder, the best first."""

    variant: str
    players: int
    matches: int = Field(description="Stored in all.")
    lines: list[LineOut]


class HeadOut(BaseModel):
    """A bot of a head-to-head table."""

    bot: str
    version: int


class PairOut(BaseModel):
    """How often one bot was ahead of the other."""

    one: int = Field(description="Its place in bots.")
    other: int
    wins: int
    draws: int
    losses: int


class HeadToHeadOut(BaseModel):
    """Who was ahead of whom: each two who have met, once."""

    variant: str
    players: int
    bots: list[HeadOut]
    pairs: list[PairOut]
