"""Read the joint rating as it was last published.

Each scope is published for itself, in one transaction: what is read of a scope in one session is of
one moment, the one that its mark names. Figures are of active versions; what is left of a version
of the past is its history.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlmodel import Session

from keltis_ladder.ratings.joint.kinds import KINDS, VARIANTS, kind_number, scope_weights
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.ranges import rank_ranges
from keltis_ladder.ratings.joint.scores import TWELFTHS
from keltis_ladder.ratings.normal import cdf
from keltis_ladder.ratings.ranking import Z95
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope
from keltis_ladder.store.schema.relations import (
    DUEL,
    JOINT_HISTORY,
    JOINT_MARK,
    JOINT_RATING,
    MATCH,
)

WIDE: Final = 0.25  # width of an interval of win shares above which a rating is provisional

_MARK: Final = select(
    JOINT_MARK.c.as_of, JOINT_MARK.c.joint_model, JOINT_MARK.c.serial, JOINT_MARK.c.published
)
_FIGURES: Final = (
    JOINT_RATING.c.rating, JOINT_RATING.c.sigma,
    JOINT_RATING.c.share, JOINT_RATING.c.low, JOINT_RATING.c.high,
    JOINT_RATING.c.own, JOINT_RATING.c.others, JOINT_RATING.c.before,
)  # fmt: skip


class Publication(NamedTuple):
    """When the figures of a scope were worked out, and from what."""

    as_of: int  # all results up to this match are in them
    model: int
    serial: int  # one more with each publication of the scope
    published: datetime


class Figures(NamedTuple):
    """What is published of a version in a scope."""

    rating: float
    sigma: float
    share: float  # expected, of wins against the field
    low: float  # its 95 % interval
    high: float
    own: float  # shares of what is known: from matches of the scope,
    others: float  # from other matches,
    before: float  # and from what is believed of a bot that nobody has seen

    @property
    def rating_low(self) -> float:
        """The lower end of the 95 % interval of the rating."""
        return self.rating - Z95 * self.sigma

    @property
    def rating_high(self) -> float:
        """Its upper end."""
        return self.rating + Z95 * self.sigma

    @property
    def provisional(self) -> bool:
        """Whether too little is known: the interval of its share of wins is wide."""
        return self.high - self.low > WIDE


class JointLine(NamedTuple):
    """A line of the joint leaderboard."""

    version: int
    figures: Figures
    best: int  # the places that it may have
    worst: int


@dataclass(frozen=True)
class Standings:
    """A scope as it was published, the highest rating first."""

    scope: Scope
    publication: Publication
    lines: tuple[JointLine, ...]

    def by_version(self) -> dict[int, JointLine]:
        """Return the lines by version."""
        return {line.version: line for line in self.lines}


class Point(NamedTuple):
    """A point of a version's history."""

    match: int  # the last one that is in it
    finished: datetime  # when that match ended
    rating: float
    sigma: float


@dataclass(frozen=True)
class Meetings:
    """What two versions did when they met, as the first sees it."""

    wins: int  # matches in which it was ahead
    draws: int
    losses: int
    lead: float  # mean, on the scale of the rating: so it can be held against the rating's lead

    @property
    def matches(self) -> int:
        """How often they met."""
        return self.wins + self.draws + self.losses


def publication(session: Session, scope: Scope = OVERALL) -> Publication | None:
    """Return when a scope was last published; none: never."""
    row = session.execute(_of(_MARK, JOINT_MARK, scope)).first()
    return None if row is None else Publication(*row)


def standings(session: Session, scope: Scope = OVERALL) -> Standings | None:
    """Return a scope as it was last published, with rank ranges; none: it never was."""
    found = publication(session, scope)
    if found is None:
        return None
    query = _of(select(JOINT_RATING.c.version_id, *_FIGURES), JOINT_RATING, scope)
    rows = session.execute(
        query.order_by(JOINT_RATING.c.rating.desc(), JOINT_RATING.c.version_id)
    ).all()
    figures = [Figures(*row[1:]) for row in rows]
    ranges = rank_ranges([each.rating for each in figures], [each.sigma for each in figures])
    lines = [
        JointLine(row[0], each, best, worst)
        for row, each, (best, worst) in zip(rows, figures, ranges, strict=True)
    ]
    return Standings(scope, found, tuple(lines))


def figures_in(session: Session, versions: Collection[int], scope: Scope) -> dict[int, Figures]:
    """Return what is published of versions in a scope; who has no figures there is not in it."""
    query = _of(select(JOINT_RATING.c.version_id, *_FIGURES), JOINT_RATING, scope)
    rows = session.execute(query.where(JOINT_RATING.c.version_id.in_(versions)))
    return {row[0]: Figures(*row[1:]) for row in rows}


def figures_of(session: Session, version: int) -> dict[Scope, Figures]:
    """Return what is published of a version, by scope."""
    query = select(JOINT_RATING.c.variant, JOINT_RATING.c.players, *_FIGURES)
    rows = session.execute(query.where(JOINT_RATING.c.version_id == version))
    return {Scope(*row[:2]): Figures(*row[2:]) for row in rows}


def history(session: Session, version: int, scope: Scope = OVERALL) -> list[Point]:
    """Return how a version's rating was published, the oldest first."""
    return histories(session, [version], scope).get(version, [])


def histories(
    session: Session, versions: Collection[int], scope: Scope = OVERALL
) -> dict[int, list[Point]]:
    """Return how the ratings of versions were published, the oldest first.

    There are histories of everything and of each variant: see ``DRAWN``.
    """
    query = (
        select(
            *(JOINT_HISTORY.c.version_id, JOINT_HISTORY.c.match_number, MATCH.c.finished),
            *(JOINT_HISTORY.c.rating, JOINT_HISTORY.c.sigma),
        )
        .join(MATCH, MATCH.c.number == JOINT_HISTORY.c.match_number)
        .where(JOINT_HISTORY.c.version_id.in_(versions))
        .order_by(JOINT_HISTORY.c.match_number)
    )
    found: defaultdict[int, list[Point]] = defaultdict(list)
    for version, *point in session.execute(_of(query, JOINT_HISTORY, scope)):
        found[version].append(Point(*point))
    return found


def latest_ratings(session: Session, version: int, scope: Scope, count: int) -> list[float]:
    """Return so many of the ratings of a version that were published last, the oldest first."""
    query = _of(select(JOINT_HISTORY.c.rating), JOINT_HISTORY, scope)
    newest = JOINT_HISTORY.c.match_number.desc()
    found = session.execute(
        query.where(JOINT_HISTORY.c.version_id == version).order_by(newest).limit(count)
    )
    return list(found.scalars())[::-1]


DRAWN: Final = (OVERALL, *(Scope(variant, ANY) for variant in VARIANTS))  # scopes with a history


def expected_ahead(scope: Scope, lead: float, sigma: float = 0.0) -> float:
    """Return in which share of matches a lead on the rating's scale puts its owner ahead.

    A match is decided by the performances of two entrants, whose luck is one beta each; what is
    not known of the lead makes the outcome more open.
    """
    return math.fsum(
        weight * cdf(lead / math.sqrt(2 * NUMBERS.beta[variant] ** 2 + sigma * sigma))
        for variant, weight in _variant_weights(scope).items()
    )


def _variant_weights(scope: Scope) -> Mapping[int, float]:
    found: dict[int, float] = {}
    for kind, weight in scope_weights(scope).items():
        variant = VARIANTS.index(KINDS[kind].variant)
        found[variant] = found.get(variant, 0.0) + weight
    return found


def meetings(
    session: Session, versions: Collection[int], scope: Scope = OVERALL
) -> dict[tuple[int, int], Meetings]:
    """Return what these versions did against each other, both ways; who never met is not in it."""
    return _meetings(session, scope, DUEL.c.one_id.in_(versions), DUEL.c.other_id.in_(versions))


def meetings_of(session: Session, version: int, scope: Scope = OVERALL) -> dict[int, Meetings]:
    """Return what a version did against all others, by version; whom it never met is not in it."""
    found = _meetings(session, scope, or_(DUEL.c.one_id == version, DUEL.c.other_id == version))
    return {other: met for (one, other), met in found.items() if one == version}


def _meetings(
    session: Session, scope: Scope, *whose: ColumnElement[bool]
) -> dict[tuple[int, int], Meetings]:
    query = select(
        DUEL.c.one_id, DUEL.c.other_id, DUEL.c.variant, DUEL.c.players,
        DUEL.c.wins, DUEL.c.draws, DUEL.c.losses, DUEL.c.margin,
    ).where(*whose)  # fmt: skip
    if scope.variant != ALL:
        query = query.where(DUEL.c.variant == scope.variant)
    if scope.players != ANY:
        query = query.where(DUEL.c.players == scope.players)
    query = query.order_by(*DUEL.primary_key.columns)
    totals: dict[tuple[int, int], list[Any]] = {}
    for one, other, variant, players, wins, draws, losses, margin in session.execute(query):
        lead = margin * _scale(variant, players)
        total = totals.setdefault((one, other), [0, 0, 0, 0.0])
        for place, more in enumerate((wins, draws, losses, lead)):
            total[place] += more
    found = {}
    for (one, other), (wins, draws, losses, lead) in totals.items():
        mean = lead / (wins + draws + losses)
        found[one, other] = Meetings(wins, draws, losses, mean)
        found[other, one] = Meetings(losses, draws, wins, -mean)
    return found


def _scale(variant: str, players: int) -> float:
    """Return what a unit of a margin is on the rating's scale."""
    luck = NUMBERS.luck[kind_number(variant, players)]
    return NUMBERS.beta[VARIANTS.index(variant)] / (TWELFTHS * players * luck)


def publications(session: Session) -> int:
    """Return a number that grows with every publication of whatever scope."""
    return int(session.execute(select(func.sum(JOINT_MARK.c.serial))).scalar() or 0)


def _of(query: Select[Any], table: Any, scope: Scope) -> Select[Any]:
    return query.where(table.c.variant == scope.variant, table.c.players == scope.players)
