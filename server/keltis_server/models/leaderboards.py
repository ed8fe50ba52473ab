"""Leaderboards and head-to-head tables as the API shows them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, Field
from sqlmodel import Session

from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.ratings.leaderboards import leaderboard
from keltis_ladder.store.ratings.lines import Line
from keltis_ladder.store.ratings.memory import matches_stored


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
    last_played: datetime


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


def line_out(line: Line) -> LineOut:
    """Return a line of a leaderboard."""
    return LineOut(
        rank=line.rank,
        tied=line.tied,
        provisional=line.provisional,
        bot=line.bot,
        version=line.number,
        author=line.author,
        state=line.state,
        mu=line.mu,
        sigma=line.sigma,
        low=line.low,
        high=line.high,
        matches=line.matches,
        firsts=line.firsts,
        shared=line.shared,
        games=line.games,
        wins=line.wins,
        faults=line.faults,
        seats=list(line.seats),
        last_match=line.last_match,
        last_played=line.last_played,
    )


def leaderboard_out(scope: Scope, matches: int, lines: Sequence[Line]) -> LeaderboardOut:
    """Return a leaderboard from its lines."""
    return LeaderboardOut.model_construct(  # the lines were checked one by one
        variant=scope.variant,
        players=scope.players,
        matches=matches,
        lines=[line_out(line) for line in lines],
    )


def load_leaderboard(session: Session, scope: Scope, everybody: bool = False) -> LeaderboardOut:
    """Return a leaderboard as it is stored now."""
    lines = leaderboard(session, scope, everybody)
    return leaderboard_out(scope, matches_stored(session), lines)
