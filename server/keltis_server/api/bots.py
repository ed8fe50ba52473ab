"""Bots, their versions, ratings and faults."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from aiohttp import web
from pydantic import Field
from sqlmodel import Session

from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.store.bots import browsing
from keltis_ladder.store.bots.accounts import TokenScope
from keltis_ladder.store.matches.components import LATEST_MATCHES, compositions_of
from keltis_ladder.store.matches.replays import read_card
from keltis_ladder.store.ratings.joint import reading
from keltis_ladder.store.schema.version_states import VersionState
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import MISSING, Endpoints, Media, Parameters
from keltis_server.http.lookups import no_bot, number_after, require_reader, the_bot, the_version
from keltis_server.http.parameters import (
    Name,
    NamePath,
    Page,
    PageQuery,
    ScopeQuery,
    VersionPath,
)
from keltis_server.http.problems import not_found
from keltis_server.loaders.bots import bot_out, load_places, version_out
from keltis_server.loaders.versus import load_versus
from keltis_server.models.bots import (
    AuthorOut,
    BotOut,
    ComponentsOut,
    CompositionOut,
    FaultOut,
    JointHistoryOut,
    JointStepOut,
    OpponentOut,
    OpponentsOut,
    StepOut,
    TimeOut,
    TimesOut,
    VersionOut,
)
from keltis_server.models.leaderboards import AllVersusOut
from keltis_server.site.encoding import JSON, dump_json

ENDPOINTS: Final = Endpoints("bots", "Bots, their versions, ratings and faults.")

# The operator on their own machine is an author under their name there.
AUTHOR_PATTERN: Final = r"^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,63}$"
VERSIONS_A_TOKEN: Final = 100  # of a bot that are gone through for an answer
VersionNumber = Annotated[int, Field(ge=0, le=2**31 - 1)]


class BotsQuery(PageQuery):
    """Which bots."""

    author: Annotated[
        str, Field(pattern=rf"^({AUTHOR_PATTERN[1:-1]})?$", description="Only of this author.")
    ] = ""
    state: Annotated[
        str,
        Field(pattern=f"^({'|'.join(VersionState)})?$", description="Only in this state."),
    ] = ""
    prefix: Annotated[
        str, Field(pattern=r"^[a-z0-9._-]{0,40}$", description="How the name begins.")
    ] = ""


class AuthorPath(Parameters):
    """Which author."""

    author: Annotated[str, Field(pattern=AUTHOR_PATTERN)]


class FaultPath(Parameters):
    """Which fault of which bot."""

    bot: Name
    fault: Annotated[int, Field(ge=1, le=2**31 - 1)]


class EncountersQuery(ScopeQuery):
    """Of which version, in which matches."""

    version: Annotated[VersionNumber, Field(description="0 is the one that plays.")] = 0


class HistoryQuery(ScopeQuery, PageQuery):
    """Which part of a history."""

    version: Annotated[VersionNumber, Field(description="0 is all of them.")] = 0


class JointHistoryQuery(ScopeQuery):
    """Which history."""

    version: Annotated[VersionNumber, Field(description="0 is all of them.")] = 0


class VersusQuery(ScopeQuery):
    """Against whom."""

    other: Annotated[
        str,
        Field(pattern=r"^[a-z0-9._-]{0,40}$", description="Only this bot; empty: all of them."),
    ] = ""


@ENDPOINTS.get("/bots", returns=Page[BotOut], cost=5)
async def list_bots(call: Call, query: BotsQuery) -> Page[BotOut]:
    """All bots by name, with their overall ratings."""
    return await call.site.read(_list, query, call.site.settings.official)


def _list(session: Session, query: BotsQuery, official: Official) -> Page[BotOut]:
    rows = browsing.bot_rows(
        session,
        query.after,
        query.limit + 1,
        query.author or None,
        query.state or None,
        query.prefix or None,
    )
    shown = rows[: query.limit]
    places = load_places(session, shown, official, OVERALL)
    return Page[BotOut](
        items=[bot_out(row, places) for row in shown],
        next=shown[-1].bot.name if len(rows) > len(shown) else None,
    )


@ENDPOINTS.get("/bots/{bot}", returns=BotOut, fails=MISSING, cost=2)
async def get_bot(call: Call, path: NamePath) -> BotOut:
    """A bot with all its ratings."""
    return await call.site.read(_bot, path.bot, call.site.settings.official)


def _bot(session: Session, name: str, official: Official) -> BotOut:
    row = browsing.bot_row(session, name)
    if row is None:
        raise no_bot(session, name)
    return bot_out(row, load_places(session, [row], official))


@ENDPOINTS.get("/bots/{bot}/versions", returns=Page[VersionOut], fails=MISSING, cost=2)
async def list_versions(call: Call, path: NamePath, query: PageQuery) -> Page[VersionOut]:
    """All versions of a bot, the newest first."""
    return await call.site.read(_versions, call, path.bot, query, number_after(query.after))


def _versions(
    session: Session, call: Call, name: str, query: PageQuery, before: int | None
) -> Page[VersionOut]:
    bot = the_bot(session, name)
    rows = browsing.version_rows(session, bot.id, before, query.limit + 1)
    shown = rows[: query.limit]
    told = call.may_read_of(bot.author_id)
    return Page[VersionOut](
        items=[version_out(row, told) for row in shown],
        next=str(shown[-1].version.number) if len(rows) > len(shown) else None,
    )


@ENDPOINTS.get("/bots/{bot}/versions/{number}", returns=VersionOut, fails=MISSING)
async def get_version(call: Call, path: VersionPath) -> VersionOut:
    """One version of a bot."""
    return await call.site.read(_one_version, call, path)


def _one_version(session: Session, call: Call, path: VersionPath) -> VersionOut:
    bot = the_bot(session, path.bot)
    row = browsing.version_row(session, bot.id, path.number)
    if row is None:
        raise not_found(f"{path.bot} has no version {path.number}")
    return version_out(row, call.may_read_of(bot.author_id))


@ENDPOINTS.get("/bots/{bot}/history", returns=Page[StepOut], fails=MISSING)
async def get_history(call: Call, path: NamePath, query: HistoryQuery) -> Page[StepOut]:
    """How a bot's rating went, match by match, the oldest first."""
    after = number_after(query.after) or 0
    versions = await _paid_versions(call, path.bot, query.version)
    return await call.site.read(_history, versions, query, after)


def _history(
    session: Session, versions: dict[int, int], query: HistoryQuery, after: int
) -> Page[StepOut]:
    steps = browsing.steps_of(session, versions, query.scope, after, query.limit + 1)
    shown = steps[: query.limit]
    return Page[StepOut](
        items=[StepOut(**step._asdict()) for step in shown],
        next=str(shown[-1].match) if len(steps) > len(shown) else None,
    )


@ENDPOINTS.get("/bots/{bot}/joint-history", returns=JointHistoryOut, fails=MISSING, cost=2)
async def get_joint_history(
    call: Call, path: NamePath, query: JointHistoryQuery
) -> JointHistoryOut:
    """How a bot's joint rating was published: over everything, and by variant."""
    versions = await _paid_versions(call, path.bot, query.version)
    return await call.site.read(_joint_history, versions, query)


def _joint_history(
    session: Session, versions: dict[int, int], query: JointHistoryQuery
) -> JointHistoryOut:
    steps = [
        JointStepOut(
            match=point.match,
            version=versions[id],
            at=point.finished,
            rating=point.rating,
            sigma=point.sigma,
        )
        for id, points in reading.histories(session, versions, query.scope).items()
        for point in points
    ]
    return JointHistoryOut(steps=sorted(steps, key=lambda step: (step.match, step.version)))


@ENDPOINTS.get("/bots/{bot}/versus", returns=AllVersusOut, fails=MISSING, cost=5)
async def get_versus(call: Call, path: NamePath, query: VersusQuery) -> AllVersusOut:
    """A bot held against others: its lead, how sure that is, and what became of their matches."""
    return await call.site.read(_versus, path.bot, query.other, query.scope)


def _versus(session: Session, name: str, other: str, scope: Scope) -> AllVersusOut:
    version, number = _version(session, name, 0)
    only = _version(session, other, 0)[0] if other else None
    return load_versus(session, (name, version, number), only, scope)


@ENDPOINTS.get("/bots/{bot}/opponents", returns=OpponentsOut, fails=MISSING, cost=2)
async def get_opponents(call: Call, path: NamePath, query: EncountersQuery) -> OpponentsOut:
    """Whom a version has met in rated matches, and how often it was ahead."""
    return await call.site.read(_opponents, path.bot, query.version, query.scope)


def _opponents(session: Session, name: str, number: int, scope: Scope) -> OpponentsOut:
    version, _ = _version(session, name, number)
    return OpponentsOut(
        opponents=[
            OpponentOut(bot=bot, version=theirs, wins=met.wins, draws=met.draws, losses=met.losses)
            for bot, theirs, met in browsing.opponents_of(session, version, scope)
        ]
    )


@ENDPOINTS.get("/bots/{bot}/components", returns=ComponentsOut, fails=MISSING, cost=2)
async def get_components(call: Call, path: NamePath, query: EncountersQuery) -> ComponentsOut:
    """What the points of a version are made of, compared with all others in the same matches."""
    return await call.site.read(_components, path.bot, query.version, query.scope)


def _components(session: Session, name: str, number: int, scope: Scope) -> ComponentsOut:
    version, number = _version(session, name, number)
    found = compositions_of(session, version, scope)
    return ComponentsOut(
        version=number,
        latest=LATEST_MATCHES,
        variants=[CompositionOut.model_validate(each, from_attributes=True) for each in found],
    )


@ENDPOINTS.get("/bots/{bot}/faults", returns=Page[FaultOut], fails=MISSING)
async def list_faults(call: Call, path: NamePath, query: PageQuery) -> Page[FaultOut]:
    """The games that a bot lost other than by points, the newest first."""
    before = number_after(query.after)
    versions = await _paid_versions(call, path.bot)
    return await call.site.read(_faults, call, path.bot, versions, query, before)


def _faults(
    session: Session,
    call: Call,
    name: str,
    versions: dict[int, int],
    query: PageQuery,
    before: int | None,
) -> Page[FaultOut]:
    bot = the_bot(session, name)
    lines = browsing.faults_of(session, versions, before, query.limit + 1)
    shown = lines[: query.limit]
    told = call.may_read_of(bot.author_id)
    return Page[FaultOut](
        items=[
            FaultOut(**{**line._asdict(), "text": line.text if told else None}) for line in shown
        ],
        next=str(shown[-1].id) if len(lines) > len(shown) else None,
    )


@ENDPOINTS.get(
    "/bots/{bot}/faults/{fault}/card",
    returns=Media((JSON,), "The crash card: all that is needed to make it happen again."),
    needs=TokenScope.READ,
    fails=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.GONE),
)
async def get_crash_card(call: Call, path: FaultPath) -> web.Response:
    """The crash card of a fault, for the bot's author."""
    data = await call.site.read(_card, call, path)
    return web.Response(
        body=data, content_type=JSON, headers={"Cache-Control": "private, max-age=86400"}
    )


def _card(session: Session, call: Call, path: FaultPath) -> bytes:
    bot = the_bot(session, path.bot)
    require_reader(call, bot.author_id)
    data = browsing.card_of(session, bot.id, path.fault)
    if data is None:
        raise not_found(f"{path.bot} has no fault {path.fault}")
    return dump_json(read_card(path.fault, data))


@ENDPOINTS.get("/bots/{bot}/times", returns=TimesOut, needs=TokenScope.READ, fails=MISSING)
async def get_times(call: Call, path: NamePath) -> TimesOut:
    """The time that a bot uses, for its author."""
    return await call.site.read(_times, call, path.bot)


def _times(session: Session, call: Call, name: str) -> TimesOut:
    bot = the_bot(session, name)
    require_reader(call, bot.author_id)
    rows = browsing.times_of(session, browsing.version_ids(session, bot.id))
    return TimesOut(
        profile=[
            TimeOut(**row._asdict(), mean_ms=row.wall_ms / row.asked if row.asked else 0.0)
            for row in rows
        ]
    )


@ENDPOINTS.get("/authors/{author}", returns=AuthorOut, fails=MISSING)
async def get_author(call: Call, path: AuthorPath) -> AuthorOut:
    """An author and their bots."""
    found = await call.site.read(browsing.find_author, path.author)
    if found is None:
        raise not_found(f"there is no author {path.author!r} on this ladder")
    author, bots = found
    return AuthorOut(name=author.name, house=author.house, created=author.created, bots=bots)


async def _paid_versions(call: Call, name: str, number: int = 0) -> dict[int, int]:
    """Return the versions of a bot, or one, and take what it costs to go through them."""
    found = await call.site.read(_version_ids, name, number)
    call.pay_more(len(found) // VERSIONS_A_TOKEN)
    return found


def _version_ids(session: Session, name: str, number: int) -> dict[int, int]:
    """Return the versions of a bot, or the one with a number; raise if there is none."""
    bot = the_bot(session, name)
    found = browsing.version_ids(session, bot.id, number or None)
    if not found:
        raise not_found(f"{name} has no version {number}")
    return found


def _version(session: Session, name: str, number: int) -> tuple[int, int]:
    """Return the id and number of a version of a bot; 0 is the one that plays, or the newest."""
    if number:
        [found] = _version_ids(session, name, number)
        return found, number
    return the_version(session, name)
