"""Leaderboards, from what is stored."""

from __future__ import annotations

from sqlmodel import Session

from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.ratings.boards import PublishedBoard, board
from keltis_ladder.store.ratings.lines import Joint
from keltis_ladder.store.ratings.memory import matches_stored
from keltis_server.loaders.filling import filled
from keltis_server.models.leaderboards import JointOut, LeaderboardOut, LineOut


def leaderboard_out(
    scope: Scope, matches: int, found: PublishedBoard, official: Official
) -> LeaderboardOut:
    """Return a leaderboard from its lines."""
    return LeaderboardOut.model_construct(  # the lines were checked one by one
        variant=scope.variant,
        players=scope.players,
        matches=matches,
        official=official.value,
        as_of=None if found.publication is None else found.publication.as_of,
        lines=[
            filled(LineOut, line, version=line.number, joint=joint_out(line.joint))
            for line in found.lines
        ],
    )


def joint_out(joint: Joint | None) -> JointOut | None:
    """Return a joint rating, if there is one."""
    return None if joint is None else filled(JointOut, joint)


def load_leaderboard(
    session: Session, scope: Scope, everybody: bool = False, official: Official = Official.JOINT
) -> LeaderboardOut:
    """Return a leaderboard as it is stored now."""
    found = board(session, scope, everybody, official)
    return leaderboard_out(scope, matches_stored(session), found, official)
