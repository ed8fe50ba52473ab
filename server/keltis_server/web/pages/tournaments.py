"""Pages about tournaments."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from keltis_ladder.store.schema.tables import TournamentState
from keltis_ladder.tournaments.plan import SINGLE
from keltis_ladder.tournaments.views import TableState
from keltis_server.api.matches import MatchesQuery, list_matches
from keltis_server.api.tournaments import (
    TournamentPath,
    TournamentsQuery,
    get_tournament,
    list_tournaments,
)
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Endpoints
from keltis_server.models.matches import MatchOut
from keltis_server.models.tournaments import RoundOut, TableOut, TournamentOut
from keltis_server.web.render.rendering import HTML, show

PAGES: Final = Endpoints("tournaments", "Tournaments.")

CELLS_A_TOKEN: Final = 60  # of the table that a page draws
NEXT: Final = 8  # tables that are shown as the next
OVER: Final = (TournamentState.FINISHED, TournamentState.CANCELLED)


@PAGES.get("/tournaments", returns=HTML, cost=8)
async def tournaments(call: Call, query: TournamentsQuery) -> web.Response:
    """All tournaments, the newest first."""
    return show(
        call,
        "tournaments.html",
        page=await list_tournaments(call, query),
        query=query,
        states=list(TournamentState),
    )


@PAGES.get("/tournaments/{name}", returns=HTML)
async def tournament(call: Call, path: TournamentPath) -> web.Response:
    """A tournament as it stands."""
    found = await get_tournament(call, path)
    call.pay_more(found.entrants**2 // CELLS_A_TOKEN)
    recent = await list_matches(call, MatchesQuery(tournament=path.name, limit=10))
    # In a thread: with 64 bots it has 4,000 cells and a megabyte.
    return await call.site.work(_shown, call, found, recent.items)


def _shown(call: Call, tournament: TournamentOut, recent: list[MatchOut]) -> web.Response:
    return show(
        call,
        "tournament.html",
        tournament=tournament,
        over=tournament.state in OVER,
        cells=cells_of(tournament),
        brackets=brackets_of(tournament),
        open_tables=open_tables(tournament),
        recent=recent,
    )


def cells_of(tournament: TournamentOut) -> dict[tuple[int, int], tuple[float, int]]:
    """Return what each has of each other: points and matches."""
    if tournament.crosstable is None:
        return {}
    return {
        (cell.one, cell.other): (cell.points, cell.matches) for cell in tournament.crosstable.cells
    }


def brackets_of(tournament: TournamentOut) -> dict[str, list[RoundOut]]:
    """Return the rounds of an elimination, by the bracket that they belong to."""
    if tournament.format == SINGLE:  # winners and finals are one tree
        return {"": tournament.bracket or []}
    found: dict[str, list[RoundOut]] = {}
    for each in tournament.bracket or []:
        found.setdefault(each.bracket, []).append(each)
    return found


def open_tables(tournament: TournamentOut) -> list[TableOut]:
    """Return the tables that play now or next."""
    every = (table for each in tournament.rounds for table in each.tables)
    return [table for table in every if table.state == TableState.OPEN][:NEXT]
