"""The leaderboard, and the matrix of who was ahead of whom."""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

from aiohttp import web
from pydantic import Field
from sqlmodel import Session

from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.scopes import ALL, OVERALL, Scope
from keltis_ladder.store.bots import browsing
from keltis_ladder.store.ratings.joint.reading import DRAWN, latest_ratings
from keltis_server.api.leaderboards import HeadToHeadQuery, get_head_to_head
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Endpoints
from keltis_server.http.parameters import ScopeQuery
from keltis_server.models.leaderboards import HeadToHeadOut, LineOut
from keltis_server.web.render.drawing import axis_of, official
from keltis_server.web.render.rendering import HTML, show

PAGES: Final = Endpoints("leaderboards", "Who leads.")

SPARKS: Final = 60  # ratings that a small line shows, or about so many
MOST_SPARKS: Final = 50  # lines that have one from the start
AT_A_TIME: Final = 100  # lines on a page


class Duel(NamedTuple):
    """What became of a pair, as one of them sees it."""

    wins: int
    draws: int
    losses: int
    expected: float | None  # share of matches

    @property
    def met(self) -> int:
        """How often they met."""
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """In which part of them it was ahead; a draw is half of one."""
        return (self.wins + self.draws / 2) / self.met


class LeaderboardPageQuery(ScopeQuery):
    """Which leaderboard, and which page of it."""

    page: Annotated[int, Field(ge=1, le=10_000)] = 1


@PAGES.get("/leaderboard", returns=HTML, cost=12)
async def leaderboard(call: Call, query: LeaderboardPageQuery) -> web.Response:
    """The bots on the ladder, with what is certain about them and what is not."""
    board = await call.site.boards.get(query.scope)
    first = AT_A_TIME * (query.page - 1)
    lines = board.out.lines[first : first + AT_A_TIME]
    # Of scopes with a number of players there is no history of joint ratings.
    joint = board.out.official == Official.JOINT.value and query.scope in DRAWN
    sparks = await call.site.read(last_ratings, lines[:MOST_SPARKS], query.scope, joint)
    return show(
        call,
        "leaderboard.html",
        lines=lines,
        sparks=sparks,
        lately="joint" if joint else "live",
        axis=axis_of(official(line, board.out.official)[1:] for line in lines),
        official=board.out.official,
        as_of=board.out.as_of,
        narrow=query.scope != OVERALL,
        scope=query.scope,
        page=query.page,
        pages=max(1, -(-len(board.out.lines) // AT_A_TIME)),
    )


def last_ratings(
    session: Session, lines: list[LineOut], scope: Scope, joint: bool
) -> dict[tuple[str, int], list[float]]:
    """Return how ratings went lately, the joint or the live ones, by bot and version."""
    found: dict[tuple[str, int], list[float]] = {}
    for line in lines:
        bot = browsing.find_bot(session, line.bot)
        if bot is None or bot.id is None:
            continue
        ids = browsing.version_ids(session, bot.id, line.version)
        if joint:
            values = [each for id in ids for each in latest_ratings(session, id, scope, SPARKS)]
            found[line.bot, line.version] = [round(value, 2) for value in values]
            continue
        # Histories are read from their beginning: guess where the last part begins.
        after = int(line.last_match * (1 - SPARKS / line.matches)) if line.matches > SPARKS else 0
        steps = browsing.steps_of(session, ids, scope, after, 4 * SPARKS)
        found[line.bot, line.version] = [round(step.mu, 2) for step in steps[-SPARKS:]]
    return found


@PAGES.get("/matrix", returns=HTML, cost=5)
async def matrix(call: Call, query: HeadToHeadQuery) -> web.Response:
    """Who was ahead of whom, as a table of numbers with shades."""
    found = await get_head_to_head(call, query)
    return show(
        call,
        "matrix.html",
        table=found,
        duels=duels_of(found),
        scope=query.scope,
        named=query.bot,
        players_matter=query.scope.variant != ALL,
    )


def duels_of(table: HeadToHeadOut) -> dict[tuple[int, int], Duel]:
    """Return each duel from both sides, by the places of the two in the table."""
    found: dict[tuple[int, int], Duel] = {}
    for pair in table.pairs:
        there = pair.expected
        back = None if there is None else 1 - there
        found[pair.one, pair.other] = Duel(pair.wins, pair.draws, pair.losses, there)
        found[pair.other, pair.one] = Duel(pair.losses, pair.draws, pair.wins, back)
    return found
