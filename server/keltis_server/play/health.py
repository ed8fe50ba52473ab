"""Whether the server lives, and whether it can be sent work."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy.exc import DBAPIError

from keltis_ladder.store.bots.accounts import TokenScope
from keltis_ladder.store.ratings.memory import matches_stored
from keltis_server.http.auth import CHALLENGE, Call
from keltis_server.http.edge.hosts import is_near
from keltis_server.http.metrics import Exposition
from keltis_server.http.problems import Problem
from keltis_server.play.games import GAMES
from keltis_server.site.encoding import dump_json
from keltis_server.site.site import SITE


def add_routes(app: web.Application) -> None:
    """Let an application tell how it is."""
    exposition = Exposition()

    async def metrics(request: web.Request) -> web.Response:
        """Tell what was counted and measured, in the form that Prometheus reads."""
        await for_operators(request)
        text = await exposition.text()
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)


async def healthz(request: web.Request) -> web.Response:
    """Answer: an answer proves that the event loop turns."""
    return web.Response(text="ok\n")


async def readyz(request: web.Request) -> web.Response:
    """Return whether everything that the server needs is there."""
    await for_operators(request)
    site, games = request.app[SITE], request.app[GAMES]
    state: dict[str, Any] = {
        "playing": len(games.live),
        "referees": len(games.dispatcher.pids),
        "draining": site.draining,
        "tempo": games.pace.tempo,
    }
    try:
        state["matches"] = await site.read(matches_stored)
        state["database"] = True
    except DBAPIError:
        state["database"] = False
    ready = state["database"] and bool(state["referees"]) and not games.ended.is_set()
    return web.Response(
        status=HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE,
        body=dump_json({"ready": ready, **state}),
        content_type="application/json",
    )


async def for_operators(request: web.Request) -> None:
    """Raise unless somebody on this machine asks, or an administrator."""
    if is_near(request.app[SITE].settings, request):
        return
    call = await Call.of(request, None)
    if call.caller is None:
        raise Problem(
            HTTPStatus.UNAUTHORIZED,
            "this is for clients on the server's machine, not through a proxy, and for tokens with"
            " the scope 'admin'",
            headers=CHALLENGE,
        )
    call.require(TokenScope.ADMIN)
