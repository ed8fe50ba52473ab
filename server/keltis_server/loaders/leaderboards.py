"""Leaderboards, from what is stored."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Session

from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.ratings.leaderboards import leaderboard
from keltis_ladder.store.ratings.lines import Line
from keltis_ladder.store.ratings.memory import matches_stored
from keltis_server.loaders.filling import filled
from keltis_server.models.leaderboards import LeaderboardOut, LineOut


def leaderboard_out(scope: Scope, matches: int, lines: Sequence[Line]) -> LeaderboardOut:
    """Return a leaderboard from its lines."""
    return LeaderboardOut.model_construct(  # the lines were checked one by one
        variant=scope.variant,
        players=scope.players,
        matches=matches,
        lines=[filled(LineOut, line, version=line.number) for line in lines],
    )


def load_leaderboard(session: Session, scope: Scope, everybody: bool = False) -> LeaderboardOut:
    """Return a leaderboard as it is stored now."""
    lines = leaderboard(session, scope, everybody)
    return leaderboard_out(scope, matches_stored(session), lines)
