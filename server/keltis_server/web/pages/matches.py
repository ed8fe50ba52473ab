"""Pages about matches: all of them, and the frame that one is watched in."""

from __future__ import annotations

from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from keltis_ladder.match.orders import Purpose
from keltis_server.api.matches import MatchesQuery, MatchPath, get_match, list_matches
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Endpoints, Parameters
from keltis_server.models.matches import MatchOut, MatchState
from keltis_server.web.render.rendering import ANYBODY, HTML, show

PAGES: Final = Endpoints("matches", "Matches.")

LISTED: Final = (MatchState.FINISHED, MatchState.PLAYING, MatchState.WAITING)
# What the viewer reads of a match: Viewing.Match in server/types/viewing.d.ts.
VIEWED: Final[dict[str, Any]] = {
    **dict.fromkeys(("id", "number", "state", "variant", "players", "replay_removed"), True),
    "entrants": {"__all__": {"bot"}},
    "games": {"__all__": {"rotation", "seats", "scores", "ranks", "faults"}},
}


@PAGES.get("/matches", returns=HTML, cost=15)
async def matches(call: Call, query: MatchesQuery) -> web.Response:
    """Matches, the newest first."""
    return show(
        call,
        "matches.html",
        page=await list_matches(call, query),
        query=query,
        states=LISTED,
        purposes=list(Purpose),
    )


class PlaceQuery(Parameters):
    """A position that a link leads to; the viewer reads it."""

    game: Annotated[int | None, Field(ge=1, le=4)] = None
    ply: Annotated[int | None, Field(ge=0, le=999_999)] = None
    seat: Annotated[str | None, Field(pattern=r"^(all|public|[0-3])$")] = None


@PAGES.get("/matches/{match}", returns=HTML, cost=2)
async def match(call: Call, path: MatchPath, query: PlaceQuery) -> web.Response:
    """One match: who, what, the result; the rest is the viewer's."""
    kept = call.site.settings.retention.replays
    found = await _match(call, path)
    return show(
        call,
        "match.html",
        match=found,
        viewed=viewed(found),
        kept_days=kept.days if kept is not None else 0,
    )


@PAGES.get("/embed/matches/{match}", returns=HTML)
async def embedded_match(call: Call, path: MatchPath, query: PlaceQuery) -> web.Response:
    """One match, for a frame on a page of somebody else."""
    found = await _match(call, path)
    return show(call, "embed.html", frames=ANYBODY, match=found, viewed=viewed(found))


def viewed(match: MatchOut) -> dict[str, Any]:
    """Return as much of a match as the viewer reads: the rest is on the page already."""
    return match.model_dump(mode="json", include=VIEWED)


async def _match(call: Call, path: MatchPath) -> MatchOut:
    reply = await get_match(call, path)
    assert isinstance(reply.body, MatchOut)
    return reply.body
