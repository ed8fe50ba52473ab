"""The web pages: made on the server from what the API answers, kept up to date by the websocket."""

from __future__ import annotations

from dataclasses import replace

from aiohttp import web

from keltis_server.http.problems import tell_problems
from keltis_server.web.pages.all import PARTS
from keltis_server.web.render.assets import ASSETS, Assets
from keltis_server.web.render.failures import tell_in_pages
from keltis_server.web.render.rendering import PRINTER, Printer

__all__ = ["add_pages"]


def add_pages(app: web.Application) -> None:
    """Let an application that has the API show pages, too. Files are read here, once."""
    assets = app[ASSETS] = Assets.load()
    app[PRINTER] = Printer(assets)
    # Inside of the measuring of requests, around the telling of problems.
    app.middlewares.insert(app.middlewares.index(tell_problems), tell_in_pages)
    for endpoint in (endpoint for part in PARTS for endpoint in part.all):
        page = replace(endpoint, lenient=True)
        app.router.add_get(page.path, page.answer, allow_head=True)
    app.router.add_get("/static/{path:.+}", assets.answer, allow_head=True)
