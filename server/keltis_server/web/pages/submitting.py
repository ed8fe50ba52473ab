"""The page to submit a bot with a browser."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from keltis_ladder.files.sizes import MIB
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Endpoints
from keltis_server.web.render.rendering import HTML, show

PAGES: Final = Endpoints("submitting", "Submit a bot.")


@PAGES.get("/submit", returns=HTML)
async def submit(call: Call) -> web.Response:
    """Upload a bot, see it built and checked, and find its first match."""
    settings = call.site.settings
    return show(
        call,
        "submit.html",
        registration=settings.registration.value,
        largest=settings.quotas.archive_bytes // MIB,
        closed=call.site.sandbox is None and settings.sandboxed,
    )
