"""The lines of a leaderboard. To draw them needs no database."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from keltis_ladder.ratings.ranking import Z95

ON_LADDER: Final = "active"  # the state of versions that play


class Joint(NamedTuple):
    """The joint rating of a version, as it was last published."""

    rating: float
    sigma: float
    share: float  # expected, of wins against the field
    share_low: float  # its 95 % interval
    share_high: float
    best: int  # the places that it may have
    worst: int
    own: float  # shares of what is known: from matches of the scope,
    others: float  # from other matches,
    before: float  # and from what is believed of a bot that nobody has seen
    provisional: bool  # the interval of its share is wide

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval of the rating."""
        return self.rating - Z95 * self.sigma

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.rating + Z95 * self.sigma


class Line(NamedTuple):
    """One line of a leaderboard.

    Rank and provisional are by the official rating; mu and sigma always are live TrueSkill.
    """

    version: int
    bot: str
    number: int  # of the version
    author: str
    state: str
    mu: float
    sigma: float
    matches: int
    firsts: int  # matches won alone
    shared: int  # matches in which others were first, too
    games: int
    wins: float  # games won; a shared win is a part of one
    faults: int
    seats: tuple[float | None, ...]  # share of the games won from each seat
    last_match: int
    last_played: datetime
    provisional: bool
    rank: int | None = None  # none: provisional, or no longer on the ladder
    tied: int = 1  # how many share the rank
    joint: Joint | None = None  # none: not published yet, or no longer on the ladder

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval of the live rating."""
        return self.mu - Z95 * self.sigma

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.mu + Z95 * self.sigma

    @property
    def plays(self) -> bool:
        """Whether it is on the ladder, and not of the past."""
        return self.state == ON_LADDER
