"""The page of a pairing: two bots held against each other."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from aiohttp import web
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope
from keltis_server.api.matches import MatchesQuery, list_matches
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import MISSING, Endpoints
from keltis_server.http.lookups import the_version
from keltis_server.http.parameters import Name, NamePath
from keltis_server.http.problems import not_found
from keltis_server.loaders.versus import load_pairing
from keltis_server.models.leaderboards import HeadOut, VersusOut
from keltis_server.web.render.drawing import Axis, even_axis
from keltis_server.web.render.rendering import HTML, show

PAGES: Final = Endpoints("pairings", "Two bots held against each other.")

GAMES: Final = tuple(Scope(variant, ANY) for variant in VARIANTS)
NUMBERS: Final = tuple(Scope(ALL, players) for players in (2, 3, 4))
LAST: Final = 12  # matches


class PairingPath(NamePath):
    """Which two."""

    other: Name


@dataclass(frozen=True)
class Row:
    """The pairing in one scope."""

    scope: Scope
    found: VersusOut

    @property
    def met(self) -> int:
        """How often the two met."""
        return self.found.wins + self.found.draws + self.found.losses

    @property
    def share(self) -> float | None:
        """In which part of them the first was ahead, a draw being half of one; none: never met."""
        return (self.found.wins + self.found.draws / 2) / self.met if self.met else None


@dataclass(frozen=True)
class Held:
    """Two bots, and how they compare: over everything, by game, and by number of players."""

    one: HeadOut
    other: HeadOut
    groups: tuple[list[Row], ...]

    @property
    def overall(self) -> Row | None:
        """Over everything; none: one of them has no joint rating."""
        return self.groups[0][0] if self.groups[0] else None

    @property
    def axis(self) -> Axis:
        """An axis on which all leads have room, with nothing in its middle."""
        rows = [row.found for group in self.groups for row in group]
        return even_axis(max((max(-row.low, row.high) for row in rows), default=0.0))


@PAGES.get("/bots/{bot}/versus/{other}", returns=HTML, fails=MISSING, cost=6)
async def pairing(call: Call, path: PairingPath) -> web.Response:
    """Two bots: which is the better one, what was expected when they met, and what came of it."""
    if path.bot == path.other:
        raise not_found(f"{path.bot} does not meet itself: name another bot")
    held, matches = await asyncio.gather(
        call.site.read(hold, path.bot, path.other),
        list_matches(call, MatchesQuery(bot=path.bot, other=path.other, limit=LAST)),
    )
    return show(call, "pairing.html", held=held, matches=matches)


def hold(session: Session, bot: str, other: str) -> Held:
    """Hold two bots against each other, in all scopes that say something about them."""
    (one, number), (two, its_number) = the_version(session, bot), the_version(session, other)
    found = load_pairing(session, one, two, (OVERALL, *GAMES, *NUMBERS))
    rows = {scope: Row(scope, versus) for scope, versus in found.items()}
    return Held(
        HeadOut(bot=bot, version=number),
        HeadOut(bot=other, version=its_number),
        (
            [rows[OVERALL]] if OVERALL in rows else [],
            [rows[scope] for scope in GAMES if scope in rows],
            [rows[scope] for scope in NUMBERS if scope in rows and rows[scope].met],
        ),
    )
