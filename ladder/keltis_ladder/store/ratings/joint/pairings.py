"""Pairings: a version held against each other one, by the published joint rating.

Leads over the same field hardly depend on each other, so that their variances add up. What two did
when they met stands beside what their ratings expect: where the two disagree is a surprise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from sqlmodel import Session

from keltis_ladder.ratings.joint.ranges import told_apart
from keltis_ladder.ratings.normal import cdf
from keltis_ladder.ratings.ranking import Z95
from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.store.ratings.joint.reading import (
    Figures,
    Meetings,
    Publication,
    expected_ahead,
    figures_in,
    meetings,
    meetings_of,
    publication,
    standings,
)


class Pairing(NamedTuple):
    """One version against another, as the first sees it."""

    other: int  # version
    lead: float  # by which the first is rated above it
    sigma: float
    better: float  # probability that the first is the better one
    certain: bool  # whether the two can be told apart
    ahead: float  # expected share of matches in which the first is ahead, a draw being half of one
    met: Meetings | None  # none: never, in this scope

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval of the lead."""
        return self.lead - Z95 * self.sigma

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.lead + Z95 * self.sigma


class Pairings(NamedTuple):
    """A version against all others, the best rated first."""

    publication: Publication
    lines: tuple[Pairing, ...]


def pairings(session: Session, version: int, scope: Scope = OVERALL) -> Pairings | None:
    """Hold a version against all others; none: it has no joint rating in this scope."""
    published = standings(session, scope)
    mine = None if published is None else published.by_version().get(version)
    if published is None or mine is None:
        return None
    met = meetings_of(session, version, scope)
    lines = [
        _pairing(scope, mine.figures, line.version, line.figures, met.get(line.version))
        for line in published.lines
        if line.version != version
    ]
    return Pairings(published.publication, tuple(lines))


def pairing(session: Session, one: int, other: int, scope: Scope = OVERALL) -> Pairings | None:
    """Hold a version against one other; none: one of them has no joint rating in this scope."""
    found = publication(session, scope)
    figures = figures_in(session, (one, other), scope)
    if found is None or figures.keys() != {one, other}:
        return None
    met = meetings(session, (one, other), scope).get((one, other))
    return Pairings(found, (_pairing(scope, figures[one], other, figures[other], met),))


def _pairing(
    scope: Scope, mine: Figures, other: int, its: Figures, met: Meetings | None
) -> Pairing:
    lead, sigma = mine.rating - its.rating, math.hypot(mine.sigma, its.sigma)
    return Pairing(
        other,
        lead,
        sigma,
        cdf(lead / sigma),
        told_apart(lead, mine.sigma, its.sigma),
        expected_ahead(scope, lead, sigma),
        met,
    )


def expectations(
    session: Session, versions: Sequence[int], scope: Scope = OVERALL
) -> dict[tuple[int, int], float]:
    """Return in which share of their matches each is expected ahead of each other one.

    Who has no joint rating in the scope is not in it.
    """
    published = standings(session, scope)
    if published is None:
        return {}
    figures = {line.version: line.figures for line in published.lines}
    known = [version for version in versions if version in figures]
    return {
        (one, other): expected_ahead(
            scope,
            figures[one].rating - figures[other].rating,
            math.hypot(figures[one].sigma, figures[other].sigma),
        )
        for one in known
        for other in known
        if one != other
    }
