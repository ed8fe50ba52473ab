"""Pages to read: the rules of the games, the protocol of bots, and what ratings say."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from importlib import resources
from math import sqrt
from pathlib import Path
from typing import Annotated, Final

from aiohttp import web
from pydantic import Field

import keltis_server
from keltis_engine import VARIANTS, find_variant
from keltis_ladder.ratings.model import noise_of
from keltis_ladder.ratings.normal import cdf
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Endpoints, Parameters
from keltis_server.http.problems import not_found
from keltis_server.web.render.examples import position
from keltis_server.web.render.markdown import Text, read_markdown
from keltis_server.web.render.rendering import HTML, show

PAGES: Final = Endpoints("reading", "Rules, protocol, and what ratings say.")

PROTOCOL: Final = "protocol.md"
GAPS: Final = (1, 2, 3, 5)  # points of rating


class VariantPath(Parameters):
    """Which game."""

    variant: Annotated[str, Field(pattern=r"^[a-z-]{1,40}$")]


@PAGES.get("/rules", returns=HTML)
async def rules(call: Call) -> web.Response:
    """The four games."""
    return show(call, "rules.html", rulesets=[find_variant(id) for id in VARIANTS])


@PAGES.get("/rules/{variant}", returns=HTML)
async def rules_of(call: Call, path: VariantPath) -> web.Response:
    """The rules of one game, as the engine has them."""
    if path.variant not in VARIANTS:
        raise not_found(f"there is no game {path.variant!r}: there are {', '.join(VARIANTS)}")
    text = await call.site.work(rules_text, path.variant)
    example = await call.site.work(position, path.variant)
    return show(call, "rules_of.html", variant=path.variant, text=text, example=asdict(example))


@PAGES.get("/protocol", returns=HTML)
async def protocol(call: Call) -> web.Response:
    """How a bot and the ladder talk."""
    return show(call, "protocol.html", text=await call.site.work(protocol_text))


@PAGES.get("/about", returns=HTML)
async def about(call: Call) -> web.Response:
    """How to read the ratings, and how to check them."""
    return show(call, "about.html", chances=chances())


@cache
def chances() -> dict[str, dict[int, float]]:
    """Return how often a bot is ahead that is better by some points: by variant and points."""
    return {
        id: {gap: cdf(gap / (sqrt(2.0) * noise_of(id, 2).beta)) for gap in GAPS} for id in VARIANTS
    }


@cache
def rules_text(variant: str) -> Text:
    """Return the rules of a game."""
    page = resources.files("keltis_engine.games") / f"{variant}.md"
    return read_markdown(page.read_text("utf-8"))


@cache
def protocol_text() -> Text:
    """Return the protocol."""
    return read_markdown(_document(PROTOCOL).read_text("utf-8"))


def _document(name: str) -> Path:
    """Return where a document is: with the package of the bots, or among the sources."""
    sources = Path(keltis_server.__file__).parents[2] / "docs" / "authors"
    for place in (Path(str(resources.files("keltis_bots"))), sources):
        if (place / name).is_file():
            return place / name
    raise not_found(f"{name} was not installed with this server")
