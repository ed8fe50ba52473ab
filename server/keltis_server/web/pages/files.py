"""What is no page, but belongs to them: the icon, robots.txt, and the choice of a language."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from aiohttp import web
from pydantic import Field

from keltis_server.http.auth import Call
from keltis_server.http.endpoints import API, Endpoints, Media, Parameters
from keltis_server.web.render.assets import ASSETS
from keltis_server.web.render.words import COOKIE, LANGUAGES

PAGES: Final = Endpoints("files", "What belongs to pages.")

YEAR: Final = 365 * 24 * 3600
ROBOTS: Final = f"""\
User-agent: *
Disallow: {API}/
Disallow: /language/
Disallow: /embed/
"""


class LanguagePath(Parameters):
    """Which language."""

    language: Annotated[str, Field(pattern=f"^({'|'.join(LANGUAGES)})$")]


class LanguageQuery(Parameters):
    """Where to go on."""

    to: Annotated[str, Field(max_length=500, pattern=r"^/([^/\\\x00-\x20][^\\\x00-\x20]*)?$")] = "/"


@PAGES.get("/language/{language}", returns=Media(("text/html",), "The page before."))
async def choose_language(call: Call, path: LanguagePath, query: LanguageQuery) -> web.Response:
    """Remember a language, and go back."""
    response = web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": query.to})
    response.set_cookie(COOKIE, path.language, max_age=YEAR, samesite="Lax", path="/")
    return response


@PAGES.get("/robots.txt", returns=Media(("text/plain",), "For crawlers."))
async def robots(call: Call) -> web.Response:
    """What crawlers should leave alone."""
    return web.Response(text=ROBOTS, headers={"Cache-Control": "public, max-age=86400"})


@PAGES.get("/favicon.svg", returns=Media(("image/svg+xml",), "The icon."))
async def favicon(call: Call) -> web.Response:
    """Our icon, for those who do not read the page."""
    asset = call.request.app[ASSETS].files["favicon.svg"]
    return web.Response(
        body=asset.plain,
        content_type="image/svg+xml",
        headers={"Cache-Control": "public, max-age=86400", "ETag": asset.etag},
    )
