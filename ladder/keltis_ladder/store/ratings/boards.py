"""Leaderboards with both ratings, in the order of the official one.

The live rating moves with every match, the joint one is published a little later: a board says up
to which match the joint figures go. Before the first publication the live rating orders it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import and_, case, func, select
from sqlmodel import Session

from keltis_ladder.ratings.joint.ranges import APART
from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.store.ratings.joint.reading import Figures, JointLine, Publication, standings
from keltis_ladder.store.ratings.leaderboards import leaderboard
from keltis_ladder.store.ratings.lines import Joint, Line
from keltis_ladder.store.schema.relations import JOINT_RATING


@dataclass(frozen=True)
class PublishedBoard:
    """A leaderboard, and what its joint ratings rest on."""

    lines: list[Line]
    publication: Publication | None  # none: there are no joint ratings yet


def joint_of(line: JointLine) -> Joint:
    """Return what is shown of a published line."""
    figures = line.figures
    return Joint(
        *figures[:5], line.best, line.worst, *figures[5:8], provisional=figures.provisional
    )


def joint_ratings(
    session: Session, versions: Collection[int], scope: Scope | None = None
) -> dict[tuple[int, Scope], Joint]:
    """Return the joint ratings of a few versions, in all scopes or in one, with their places.

    The database counts who is better and who is worse: a whole board for one bot would be much.
    """
    mine, its = JOINT_RATING.alias("mine"), JOINT_RATING.alias("its")
    own = (
        mine.c.version_id, mine.c.variant, mine.c.players,
        mine.c.rating, mine.c.sigma, mine.c.share, mine.c.low, mine.c.high,
        mine.c.own, mine.c.others, mine.c.before,
    )  # fmt: skip
    lead = its.c.rating - mine.c.rating
    apart = lead * lead > APART * APART * (mine.c.sigma * mine.c.sigma + its.c.sigma * its.c.sigma)
    better = func.sum(case((and_(apart, lead > 0), 1), else_=0))
    worse = func.sum(case((and_(apart, lead < 0), 1), else_=0))
    same_scope = and_(its.c.variant == mine.c.variant, its.c.players == mine.c.players)
    query = (
        select(*own, better, worse, func.count())
        .join(its, same_scope)
        .where(mine.c.version_id.in_(versions))
        .group_by(*own)
    )
    if scope is not None:
        query = query.where(mine.c.variant == scope.variant, mine.c.players == scope.players)
    return {
        (version, Scope(variant, players)): joint_of(
            JointLine(version, Figures(*figures), int(better) + 1, int(count) - int(worse))
        )
        for version, variant, players, *figures, better, worse, count in session.execute(query)
    }


def board(
    session: Session,
    scope: Scope = OVERALL,
    everybody: bool = False,
    official: Official = Official.JOINT,
) -> PublishedBoard:
    """Return a leaderboard, the best by the official rating first.

    By the joint rating, the rank is the best place that a version may have. Who came after the
    last publication has no place yet, and follows; those of the past are at the end.
    """
    lines = leaderboard(session, scope, everybody)
    published = standings(session, scope)
    if published is None:
        return PublishedBoard(lines, None)
    joint = {line.version: joint_of(line) for line in published.lines}
    lines = [line._replace(joint=joint.get(line.version)) for line in lines]
    if official is Official.JOINT:
        lines = _by_joint(lines)
    return PublishedBoard(lines, published.publication)


def _by_joint(lines: list[Line]) -> list[Line]:
    ranks = Counter(joint_rank(line.joint) for line in lines if line.joint is not None)
    return sorted((_ranked(line, ranks) for line in lines), key=_order)


def joint_rank(joint: Joint) -> int | None:
    """Return the rank by the joint rating: the best place; none: too little is known."""
    return None if joint.provisional else joint.best


def _ranked(line: Line, ranks: Counter[int | None]) -> Line:
    if line.joint is None:
        return line._replace(rank=None, tied=1, provisional=True) if line.plays else line
    rank = joint_rank(line.joint)
    tied = 1 if rank is None else ranks[rank]
    return line._replace(rank=rank, tied=tied, provisional=line.joint.provisional)


def _order(line: Line) -> tuple[bool, bool, float]:
    joint = line.joint
    return not line.plays, joint is None, 0.0 if joint is None else -joint.rating
