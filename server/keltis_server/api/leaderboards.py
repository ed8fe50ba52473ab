"""Leaderboards and head-to-head tables."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field
from sqlmodel import Session

from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.bots.browsing import bot_row
from keltis_ladder.store.ratings.boards import board
from keltis_ladder.store.ratings.joint.pairings import expectations
from keltis_ladder.store.ratings.leaderboards import head_to_head
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import MISSING, Endpoints
from keltis_server.http.lookups import no_bot
from keltis_server.http.parameters import Name, ScopeQuery
from keltis_server.http.wire import Reply
from keltis_server.models.leaderboards import HeadOut, HeadToHeadOut, LeaderboardOut, PairOut

ENDPOINTS: Final = Endpoints("leaderboards", "Leaderboards and head-to-head tables.")

TOP: Final = 12  # of a table for which nobody is named


class LeaderboardQuery(ScopeQuery):
    """Which leaderboard."""

    everybody: Annotated[
        bool, Field(description="Also versions that are no longer on the ladder.")
    ] = False


class HeadToHeadQuery(ScopeQuery):
    """Who against whom."""

    bot: Annotated[
        list[Name],
        Field(
            min_length=2,
            max_length=40,
            default_factory=list,
            description=f"Once for each bot; without any, the top {TOP}.",
        ),
    ]


@ENDPOINTS.get("/leaderboard", returns=LeaderboardOut)
async def get_leaderboard(call: Call, query: LeaderboardQuery) -> Reply:
    """The bots on the ladder, the best by the official rating first, with both ratings."""
    ready = await call.site.boards.get(query.scope, query.everybody)
    return Reply(ready.encoded)


@ENDPOINTS.get("/head-to-head", returns=HeadToHeadOut, fails=MISSING, cost=5)
async def get_head_to_head(call: Call, query: HeadToHeadQuery) -> HeadToHeadOut:
    """Who was ahead of whom in rated matches, by the versions that play now."""
    names = list(dict.fromkeys(query.bot))
    return await call.site.read(_compare, names, query.scope, call.site.settings.official)


def _compare(session: Session, names: list[str], scope: Scope, official: Official) -> HeadToHeadOut:
    versions: list[int] = []
    heads: list[HeadOut] = []
    for name in names:
        row = bot_row(session, name)
        if row is None or row.version.id is None:
            raise no_bot(session, name)
        versions.append(row.version.id)
        heads.append(HeadOut(bot=name, version=row.version.number))
    if not names:
        lines = board(session, scope, official=official).lines[:TOP]
        versions = [line.version for line in lines]
        heads = [HeadOut(bot=line.bot, version=line.number) for line in lines]
    met = head_to_head(session, versions, scope)
    expected = expectations(session, versions, scope)
    return HeadToHeadOut(
        variant=scope.variant,
        players=scope.players,
        bots=heads,
        pairs=[
            PairOut(
                one=one,
                other=other,
                wins=duel.wins,
                draws=duel.draws,
                losses=duel.losses,
                expected=expected.get((versions[one], versions[other])),
            )
            for one in range(len(versions))
            for other in range(one + 1, len(versions))
            if (duel := met.get((versions[one], versions[other]))) is not None
        ],
    )
