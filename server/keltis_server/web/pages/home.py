"""The first page: what goes on, who leads, and how to take part."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from aiohttp import web

from keltis_ladder.ratings.scopes import OVERALL
from keltis_ladder.store.schema.tables import TournamentState
from keltis_server.api.matches import MatchesQuery, list_matches
from keltis_server.api.tournaments import TournamentsQuery, list_tournaments
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Endpoints
from keltis_server.models.leaderboards import LineOut
from keltis_server.models.matches import MatchOut, MatchState
from keltis_server.play.games import GAMES
from keltis_server.web.render.drawing import axis_of, official
from keltis_server.web.render.rendering import HTML, show

PAGES: Final = Endpoints("home", "The first page.")

TOP: Final = 8  # lines of the leaderboard
WALL: Final = 6  # matches
RECENT: Final = 6
RUNNING: Final = 50  # matches of which one is chosen for the big table
UNRANKED: Final = 1_000_000


@PAGES.get("/", returns=HTML, cost=3)
async def home(call: Call) -> web.Response:
    """What this is, what is being played, and who leads."""
    board, running, recent, tournaments = await asyncio.gather(
        call.site.boards.get(OVERALL),
        list_matches(call, MatchesQuery(state=MatchState.PLAYING.value, limit=RUNNING)),
        list_matches(call, MatchesQuery(limit=RECENT)),
        list_tournaments(call, TournamentsQuery(state=TournamentState.RUNNING.value, limit=3)),
    )
    lines, order = board.out.lines[:TOP], board.out.official
    featured = most_interesting(running.items, board.out.lines)
    return show(
        call,
        "home.html",
        lines=lines,
        bots=len(board.out.lines),
        matches=board.out.matches,
        axis=axis_of(official(line, order)[1:] for line in lines),
        official=order,
        featured=featured or next(iter(recent.items), None),
        running=[match for match in running.items if match is not featured],
        recent=recent.items,
        tournaments=tournaments.items,
        wall=WALL,
        pace=call.request.app[GAMES].pace,
    )


def most_interesting(running: Sequence[MatchOut], lines: Sequence[LineOut]) -> MatchOut | None:
    """Return the match with the best ranks at its table; of equals the one asked for first.

    The scripts of the page go on by the same rule.
    """
    ranks = {(line.bot, line.version): line.rank or UNRANKED for line in lines}
    return min(running, key=lambda match: (_ranks_at(match, ranks), match.created), default=None)


def _ranks_at(match: MatchOut, ranks: dict[tuple[str, int], int]) -> list[int]:
    return sorted(ranks.get((each.bot, each.version), UNRANKED) for each in match.entrants)
