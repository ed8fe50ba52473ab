"""The application: the parts of the server put together, started and stopped in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Final

from aiohttp import web

from keltis_ladder.files.sizes import KIB
from keltis_server.api import PARTS
from keltis_server.http import metrics
from keltis_server.http.edge.bodies import (
    close_after_refusal,
    refuse_odd_types,
    refuse_packed,
)
from keltis_server.http.edge.hosts import known_hosts_only
from keltis_server.http.endpoints import API, add_routes
from keltis_server.http.problems import tell_problems
from keltis_server.http.rate_limits import limit_requests
from keltis_server.live.hub import LIVE, Live
from keltis_server.play import health
from keltis_server.play.games import GAMES, Games
from keltis_server.site.site import SITE, Site
from keltis_server.uploads.auditing import AUDITOR, Auditor
from keltis_server.uploads.intake import INTAKE, Intake
from keltis_server.uploads.submitting import SUBMITTING, Submitting
from keltis_server.web import add_pages

LARGEST_BODY: Final = 64 * KIB  # of what is not an upload


def make_app(site: Site) -> web.Application:
    """Return the application for a site; what runs in the background starts with it."""
    app = web.Application(
        middlewares=[
            close_after_refusal,
            metrics.measure_requests,
            tell_problems,
            limit_requests,  # before what may refuse a request: that is paid, too
            known_hosts_only(site.settings),
            refuse_packed,
            refuse_odd_types,
        ],
        client_max_size=LARGEST_BODY,
    )
    app[SITE] = site
    games = app[GAMES] = Games(site)
    app[INTAKE] = Intake(site)
    app[SUBMITTING] = Submitting(site)
    live = app[LIVE] = Live(site, games)
    app[AUDITOR] = Auditor(site, app)
    add_routes(app, (endpoint for part in PARTS for endpoint in part.all))
    app.router.add_get(f"{API}/live", live.socket)
    health.add_routes(app)
    add_pages(app)
    app.cleanup_ctx.append(run_parts)
    app.on_shutdown.append(say_goodbye)
    return app


async def run_parts(app: web.Application) -> AsyncIterator[None]:
    """Start what runs in the background; at the end stop it in the opposite order."""
    live, games, intake, submitting = app[LIVE], app[GAMES], app[INTAKE], app[SUBMITTING]
    app[SITE].listen(metrics.count)
    metrics.PLAYING.set_function(lambda: len(games.live))
    metrics.UNPREPARED.set_function(lambda: len(games.scheduler.workshop.failing))
    metrics.watch_pace(games.pace)
    async with AsyncExitStack() as stack:
        watcher = asyncio.create_task(metrics.watch_loop())
        stack.callback(watcher.cancel)
        # Live first, so that it misses nothing.
        for part in (live, games, intake, submitting, app[AUDITOR]):
            stack.push_async_callback(part.stop)
            await part.start()
        yield


async def say_goodbye(app: web.Application) -> None:
    """Close the websockets: they would keep the server from ending."""
    await app[LIVE].stop()
