"""Leaderboards and head-to-head tables, as they are stored at this moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, bindparam, func, select
from sqlmodel import Session

from keltis_ladder.ratings.ranking import Z95, provisional, rank_groups
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope
from keltis_ladder.store.records import TWELFTHS
from keltis_ladder.store.tables import (
    Author,
    Bot,
    Duel,
    Match,
    Rating,
    Version,
    VersionState,
    table_of,
)

_ON_LADDER: Final = VersionState.ACTIVE.value


def _query() -> Select[Any]:
    rating, version, bot = table_of(Rating).c, table_of(Version).c, table_of(Bot).c
    author, match = table_of(Author).c, table_of(Match).c
    return (
        select(
            rating.version_id, bot.name, version.number, author.name, version.state,
            rating.mu, rating.sigma, rating.matches, rating.firsts, rating.shared, rating.games,
            rating.twelfths, rating.faults,
            rating.seat0, rating.seat1, rating.seat2, rating.seat3,
            rating.seat2_games, rating.seat3_games,
            rating.last_match, match.finished,
        )
        .join(table_of(Version), version.id == rating.version_id)
        .join(table_of(Bot), bot.id == version.bot_id)
        .join(table_of(Author), author.id == bot.author_id)
        .join(table_of(Match), match.number == rating.last_match)
        .where(rating.variant == bindparam("variant"), rating.players == bindparam("players"))
        .order_by(rating.mu.desc(), rating.version_id)
    )  # fmt: skip


_EVERYBODY: Final = _query()
# No index helps with a state that is written like this: SQLite begins with the ratings, in order.
_ACTIVE: Final = _query().where(table_of(Version).c.state.concat("") == _ON_LADDER)


class Line(NamedTuple):
    """One line of a leaderboard."""

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

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval."""
        return self.mu - Z95 * self.sigma

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.mu + Z95 * self.sigma


@dataclass(frozen=True)
class Encounter:
    """How often one version was ahead of another."""

    wins: int
    draws: int
    losses: int

    @property
    def matches(self) -> int:
        """How often they met."""
        return self.wins + self.draws + self.losses


def leaderboard(session: Session, scope: Scope = OVERALL, everybody: bool = False) -> list[Line]:
    """Return the versions on the ladder, the best first; with ``everybody`` those of the past too.

    Ranks are given to those that are rated well enough. The others stand where their rating is,
    without a rank; those of the past follow at the end.
    """
    query = _EVERYBODY if everybody else _ACTIVE
    asked = {"variant": scope.variant, "players": scope.players}
    rows = session.connection().execute(query, asked).all()
    active = [row for row in rows if row[4] == _ON_LADDER]
    sure = [row for row in active if not provisional(row[6], row[7])]
    ranks = rank_groups([row[5] for row in sure], [row[6] for row in sure])
    rank_of = {row[0]: rank for row, rank in zip(sure, ranks, strict=True)}
    sizes = Counter(ranks)
    if len(active) < len(rows):
        active += [row for row in rows if row[4] != _ON_LADDER]
    lines = []
    for row in active:
        rank = rank_of.get(row[0])
        lines.append(_line(row, rank, sizes[rank] if rank else 1))
    return lines


def _line(row: Sequence[Any], rank: int | None, tied: int) -> Line:
    (
        version, bot, number, author, state, mu, sigma,
        matches, firsts, shared, games, twelfths, faults,
        seat0, seat1, seat2, seat3, seat2_games, seat3_games, last_match, finished,
    ) = row  # fmt: skip
    games_of_seat = TWELFTHS * matches
    return Line(
        version,
        bot,
        number,
        author,
        state,
        mu,
        sigma,
        matches,
        firsts,
        shared,
        games,
        twelfths / TWELFTHS,
        faults,
        (
            seat0 / games_of_seat,
            seat1 / games_of_seat,
            seat2 / (TWELFTHS * seat2_games) if seat2_games else None,
            seat3 / (TWELFTHS * seat3_games) if seat3_games else None,
        ),
        last_match,
        finished,
        provisional(sigma, matches),
        rank,
        tied,
    )


def head_to_head(
    session: Session, versions: Sequence[int], scope: Scope = OVERALL
) -> dict[tuple[int, int], Encounter]:
    """Return how these versions did against each other; who never met is not in it."""
    duel = table_of(Duel).c
    query = (
        select(
            duel.one_id,
            duel.other_id,
            func.sum(duel.wins),
            func.sum(duel.draws),
            func.sum(duel.losses),
        )
        .where(duel.one_id.in_(versions), duel.other_id.in_(versions))
        .group_by(duel.one_id, duel.other_id)
    )
    if scope.variant != ALL:
        query = query.where(duel.variant == scope.variant)
    if scope.players != ANY:
        query = query.where(duel.players == scope.players)
    found = {}
    for one, other, wins, draws, losses in session.execute(query):
        # PostgreSQL's sums are decimal numbers.
        found[one, other] = Encounter(int(wins), int(draws), int(losses))
        found[other, one] = Encounter(int(losses), int(draws), int(wins))
    return found
