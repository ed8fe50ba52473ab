"""Pages about bots: all of them, and one with its history."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.ratings.scopes import ALL, ANY, Scope
from keltis_ladder.store.bots import browsing
from keltis_ladder.store.ratings.joint.reading import DRAWN as JOINT_DRAWN
from keltis_ladder.store.ratings.joint.reading import Point, histories
from keltis_ladder.store.schema.version_states import VersionState
from keltis_server.api.bots import (
    BotsQuery,
    EncountersQuery,
    VersusQuery,
    get_bot,
    get_components,
    get_opponents,
    get_versus,
    list_bots,
    list_faults,
    list_versions,
)
from keltis_server.api.matches import MatchesQuery, list_matches
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Endpoints
from keltis_server.http.lookups import the_bot
from keltis_server.http.parameters import NamePath, PageQuery, ScopeQuery
from keltis_server.models.bots import BotOut, CompositionOut
from keltis_server.web.render.drawing import axis_of, official
from keltis_server.web.render.rendering import HTML, show

PAGES: Final = Endpoints("bots", "Bots.")

LONGEST_HISTORY: Final = 50_000  # steps that are read
DRAWN: Final = 400  # of which about so many are drawn
RESULTS: Final = 12
FAULTS: Final = 12
AT_A_TIME: Final = 50

Plain = dict[str, Any]


@PAGES.get("/bots", returns=HTML, cost=12)
async def bots(call: Call, query: BotsQuery) -> web.Response:
    """All bots, by name."""
    page = await list_bots(call, query)
    order = call.site.settings.official.value
    return show(
        call,
        "bots.html",
        page=page,
        axis=axis_of(official(each, order)[1:] for bot in page.items for each in bot.ratings),
        official=order,
        query=query,
        states=list(VersionState),
    )


@PAGES.get("/bots/{bot}", returns=HTML, cost=6)
async def bot(call: Call, path: NamePath, query: ScopeQuery) -> web.Response:
    """A bot: how its rating went, whom it met, and what went wrong."""
    scope = EncountersQuery(variant=query.variant, players=query.players)
    against = VersusQuery(variant=query.variant, players=query.players)
    (found, versions, steps), (opponents, components), (faults, matches) = await asyncio.gather(
        asyncio.gather(
            get_bot(call, path),
            list_versions(call, path, PageQuery()),
            call.site.read(history_of, path.bot, query.scope),
        ),
        asyncio.gather(get_opponents(call, path, scope), get_components(call, path, scope)),
        asyncio.gather(
            list_faults(call, path, PageQuery(limit=FAULTS)),
            list_matches(call, MatchesQuery(bot=path.bot, limit=RESULTS)),
        ),
    )
    versus = await get_versus(call, path, against)
    return show(
        call,
        "bot.html",
        official=call.site.settings.official.value,
        versus={(each.bot, each.version): each for each in versus.others},
        bot=found,
        versions=versions.items,
        older=versions.next,
        history=steps,
        joint_kept=query.scope in JOINT_DRAWN,
        opponents=opponents.opponents,
        components=components,
        scales=[scale_of(each) for each in components.variants],
        faults=faults,
        matches=matches,
        scope=query.scope,
        rating=rating_in(found, query.scope),
        by_variant=sorted(
            (each for each in found.ratings if each.players == ANY),
            key=lambda each: (ALL, *VARIANTS).index(each.variant),
        ),
    )


@dataclass(frozen=True)
class Scale:
    """From how many points to how many a drawing goes."""

    low: float
    high: float

    def at(self, points: float) -> float:
        """Return where so many points are, in percent of the width."""
        return round(100 * (points - self.low) / (self.high - self.low), 2)


def scale_of(composition: CompositionOut) -> Scale:
    """Return a scale on which all parts of the points have room, and nothing at all, too."""
    values = [0.0, composition.own, composition.field]
    for each in composition.components:
        values += [each.own, each.field]
    low, high = min(values), max(values)
    return Scale(low, max(high, low + 1))


def rating_in(bot: BotOut, scope: Scope) -> Any:
    """Return a bot's rating in a scope; none if it has not played there."""
    fits = (each for each in bot.ratings if (each.variant, each.players) == scope)
    return next(fits, None)


def history_of(session: Session, name: str, scope: Scope) -> list[Plain]:
    """Return how the rating of a bot went over all its versions, thinned out for a drawing."""
    versions = browsing.version_ids(session, the_bot(session, name).id)
    steps = browsing.steps_of(session, versions, scope, 0, LONGEST_HISTORY)
    every = max(1, len(steps) // DRAWN)
    last = len(steps) - 1
    drawn: list[Plain] = [
        {
            "match": step.match,
            "version": step.version,
            "mu": round(step.mu, 3),
            "sigma": round(step.sigma, 3),
            "joint": None,
        }
        for k, step in enumerate(steps)
        if k % every == 0 or k == last or steps[k - 1].version != step.version
    ]
    for id, points in histories(session, versions, scope).items():
        _add_joint(drawn, versions[id], points)
    return drawn


def _add_joint(drawn: list[Plain], version: int, points: list[Point]) -> None:
    """Put each joint rating to the last drawn match of the version that is in it."""
    own = [step for step in drawn if step["version"] == version]
    matches = [step["match"] for step in own]
    for point in points:
        place = bisect_right(matches, point.match) - 1
        if place >= 0:
            own[place]["joint"] = [round(point.rating, 3), round(point.sigma, 3)]
