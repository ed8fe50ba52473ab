"""Matches, running and finished, their games and replays."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Final

from aiohttp import web
from pydantic import Field
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.match.orders import Purpose
from keltis_ladder.store.bots.browsing import version_ids
from keltis_ladder.store.matches.matches import (
    PLAYING,
    WAITING,
    JobMark,
    MatchFilter,
    finished_jobs,
    job_of_number,
    match_row,
    match_rows,
    unfinished_jobs,
)
from keltis_ladder.store.matches.replays import replays_of
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import MISSING, Endpoints, Media, Parameters
from keltis_server.http.lookups import no_page, number_after, the_bot, the_tournament
from keltis_server.http.parameters import BOT_PATTERN, Page, PageQuery
from keltis_server.http.problems import conflict, not_found
from keltis_server.http.wire import Reply
from keltis_server.loaders.matches import match_out
from keltis_server.models.matches import MatchOut, MatchState
from keltis_server.play.games import GAMES
from keltis_server.site.encoding import dump_json
from keltis_server.site.site import Site

ENDPOINTS: Final = Endpoints("matches", "Matches, their games and replays.")

NDJSON: Final = "application/x-ndjson"
UUID_PATTERN: Final = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
KEEP: Final = "public, max-age=3600"  # it is over; only a new model of ratings changes it
KEEP_FOR_EVER: Final = "public, max-age=31536000, immutable"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
LATEST_MICROSECOND: Final = 2**53

MatchName = Annotated[
    str,
    Field(pattern=f"^([1-9][0-9]{{0,14}}|{UUID_PATTERN})$", description="Its id, or its number."),
]


class MatchPath(Parameters):
    """Which match."""

    match: MatchName


class MatchesQuery(PageQuery):
    """Which matches."""

    bot: Annotated[
        str, Field(pattern=f"^({BOT_PATTERN[1:-1]})?$", description="Only with this bot.")
    ] = ""
    other: Annotated[
        str, Field(pattern=f"^({BOT_PATTERN[1:-1]})?$", description="And only with this one, too.")
    ] = ""
    variant: Annotated[
        str, Field(pattern=f"^({'|'.join(VARIANTS)})?$", description="Only of this game.")
    ] = ""
    players: Annotated[int, Field(ge=0, le=4, description="2 to 4; 0 is any number.")] = 0
    purpose: Annotated[
        str, Field(pattern=f"^({'|'.join(Purpose)})?$", description="Only played for this.")
    ] = ""
    tournament: Annotated[
        str, Field(pattern=f"^({BOT_PATTERN[1:-1]})?$", description="Only of this tournament.")
    ] = ""
    state: Annotated[
        str, Field(pattern="^(finished|playing|waiting)$", description="How far they are.")
    ] = MatchState.FINISHED.value


@ENDPOINTS.get("/matches", returns=Page[MatchOut], fails=MISSING, cost=10)
async def list_matches(call: Call, query: MatchesQuery) -> Page[MatchOut]:
    """Matches, the newest first: finished ones by their number, others by when they were asked for.

    Pages stay what they are while results come in: new ones stand before the first page.
    """
    if query.state == MatchState.FINISHED:
        return await call.site.read(_finished, query, number_after(query.after))
    unbegun = call.request.app[GAMES].unbegun
    return await call.site.read(_unfinished, query, unbegun, _mark_of(query.after))


def _wanted(session: Session, query: MatchesQuery) -> MatchFilter:
    named = [
        tuple(version_ids(session, the_bot(session, name).id))
        for name in (query.bot, query.other)
        if name
    ]
    return MatchFilter(
        versions=named[0] if named else None,
        others=named[1] if len(named) > 1 else None,
        variant=query.variant or None,
        players=query.players or None,
        purpose=query.purpose or None,
        tournament_id=the_tournament(session, query.tournament).id if query.tournament else None,
    )


def _finished(session: Session, query: MatchesQuery, before: int | None) -> Page[MatchOut]:
    found = finished_jobs(session, _wanted(session, query), before, query.limit + 1)
    shown = found[: query.limit]
    return Page[MatchOut](
        items=[match_out(row) for row in match_rows(session, [id for _, id in shown])],
        next=str(shown[-1][0]) if len(found) > len(shown) else None,
    )


def _unfinished(
    session: Session, query: MatchesQuery, unbegun: frozenset[str], after: JobMark | None
) -> Page[MatchOut]:
    wanted = _wanted(session, query)
    states = PLAYING if query.state == MatchState.PLAYING else WAITING
    found = unfinished_jobs(session, wanted, states, after, query.limit + 1, unbegun)
    shown = found[: query.limit]
    rows = match_rows(session, [mark.id for mark in shown])
    return Page[MatchOut](
        items=[match_out(row, unbegun) for row in rows],
        next=_text_of(shown[-1]) if len(found) > len(shown) else None,
    )


def _text_of(mark: JobMark) -> str:
    return f"{(mark.created - EPOCH) // MICROSECOND}.{mark.id}"


def _mark_of(text: str) -> JobMark | None:
    if not text:
        return None
    number, _, id = text.partition(".")
    if not number.isdecimal() or int(number) > LATEST_MICROSECOND or not id:
        raise no_page(text)
    return JobMark(EPOCH + int(number) * MICROSECOND, id)


@ENDPOINTS.get("/matches/{match}", returns=MatchOut, fails=MISSING, cost=2)
async def get_match(call: Call, path: MatchPath) -> Reply:
    """A match; its seed and its games once it is over."""
    found = await call.site.read(_match, path.match, call.request.app[GAMES].unbegun)
    over = found.state == MatchState.FINISHED
    return Reply(found, headers={"Cache-Control": KEEP} if over else {})


def _match(session: Session, name: str, unbegun: frozenset[str]) -> MatchOut:
    row = match_row(session, _job_id(session, name))
    if row is None:
        raise _no_match(name)
    return match_out(row, unbegun)


def _job_id(session: Session, name: str) -> str:
    id = job_of_number(session, int(name)) if name.isdecimal() else name
    if id is None:
        raise _no_match(name)
    return id


def _no_match(name: str) -> Exception:
    return not_found(f"there is no match {name}: /api/v1/matches lists them")


@ENDPOINTS.get(
    "/matches/{match}/replay",
    cost=5,
    returns=Media((NDJSON,), "The replay of each game, one JSON object in a line."),
    fails=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.GONE),
)
async def get_replay(call: Call, path: MatchPath) -> web.Response:
    """The replays of a match that is over, as ``keltis-ladder replay`` reads them."""
    number, body = await call.site.work(_replay, call.site, path.match)
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": KEEP_FOR_EVER}
    known = call.request.headers.get("If-None-Match", "")
    if etag in (each.strip().removeprefix("W/") for each in known.split(",")):
        return web.Response(status=HTTPStatus.NOT_MODIFIED, headers=headers)
    headers["Content-Disposition"] = f'attachment; filename="match-{number}.jsonl"'
    return web.Response(body=body, content_type=NDJSON, headers=headers)


def _replay(site: Site, name: str) -> tuple[int, bytes]:
    with site.database.reading() as session:
        row = match_row(session, _job_id(session, name))
        if row is None:
            raise _no_match(name)
        if row.number is None:
            raise conflict("this match is not over: nobody may see its hidden cards before")
        replays = replays_of(session, row.number)
    lines = []
    for replay in replays:
        # What a bot said when it failed is for its author only.
        faults = [{**fault} for fault in replay["faults"]]
        for fault in faults:
            del fault["text"]
        lines.append(dump_json({**replay, "faults": faults}) + b"\n")
    return row.number, b"".join(lines)
