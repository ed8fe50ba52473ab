"""Frames: games decision by decision, of matches that are being played and that were."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from pydantic import Field
from sqlmodel import Session

from keltis_engine import VARIANTS, find_variant
from keltis_ladder.spectate.frames import Plain, game_plain, so_far
from keltis_ladder.spectate.live_match import LiveMatch, Viewer
from keltis_ladder.spectate.sight import PUBLIC
from keltis_ladder.store.matches.matches import MatchRow, job_of_number, match_row
from keltis_ladder.store.matches.watching import stored_match
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Endpoints, Parameters
from keltis_server.http.parameters import LARGEST_NUMBER
from keltis_server.http.problems import not_found
from keltis_server.http.wire import Reply
from keltis_server.live.hub import LIVE
from keltis_server.models.frames import FramesOut
from keltis_server.play.games import GAMES
from keltis_server.play.watching import viewer_of
from keltis_server.site.encoding import Encoded, dump_json, dump_msgpack, tag_of
from keltis_server.site.site import Site

ENDPOINTS: Final = Endpoints("frames", "Games, decision by decision.")

MATCH_PATTERN: Final = (
    r"^([1-9][0-9]{0,15}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$"
)
VIEWER_PATTERN: Final = r"^[a-z0-9][a-z0-9._-]{0,39}$"  # as the names of bots
MOST_PLAYERS: Final = max(max(find_variant(id).players) for id in VARIANTS)


class GamePath(Parameters):
    """Which game."""

    match: Annotated[
        str, Field(pattern=MATCH_PATTERN, description="The number of the match, or its id.")
    ]
    rotation: Annotated[
        int, Field(ge=0, lt=MOST_PLAYERS, description="Which game of the match; 0 is the first.")
    ]


class FramesQuery(Parameters):
    """As whom."""

    viewer: Annotated[
        str,
        Field(
            pattern=VIEWER_PATTERN,
            description="public, all, a seat from 0 on, or a bot of the match. A client that may "
            "not see that gets what is public.",
        ),
    ] = PUBLIC


@ENDPOINTS.get(
    "/matches/{match}/games/{rotation}/frames",
    cost=10,
    returns=FramesOut,
    fails=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.GONE),
)
async def frames(call: Call, path: GamePath, query: FramesQuery) -> Reply:
    """A game, decision by decision, also while the match goes on.

    Everybody sees what is public; when the whole match is over, all cards. Times are not kept:
    in a game of a match that is over ms is null, and the clocks stand as at the beginning.
    """
    site = call.site
    row = await _row(call, path.match)
    if path.rotation >= row.job.players:
        raise not_found(f"the match has {row.job.players} games: 0 to {row.job.players - 1}")
    viewer = viewer_of(query.viewer, path.rotation, row, call.caller, _first_play(call, row))
    if row.number is not None:
        return Reply(await site.work(_of_stored, site, row, path.rotation, viewer))
    live = _live_match(call, row.job.id)
    if live is None:
        raise not_found("the match has not begun yet")
    return Reply(await site.work(_encoded, so_far(live), path.rotation, viewer, True))


async def _row(call: Call, text: str) -> MatchRow:
    """Return a match. One that has just ended is not live any more: wait until it is stored."""
    row = await call.site.read(_row_of, text)
    if row is not None and row.number is None and _live_match(call, row.job.id) is None:
        await call.request.app[GAMES].until_stored(row.job.id)
        row = await call.site.read(_row_of, text)
    if row is None:
        raise not_found(f"there is no match {text}")
    return row


def _row_of(session: Session, text: str) -> MatchRow | None:
    if not text.isdecimal():
        return match_row(session, text)
    job_id = job_of_number(session, min(int(text), LARGEST_NUMBER))
    return None if job_id is None else match_row(session, job_id)


def _first_play(call: Call, row: MatchRow) -> bool:
    return call.request.app[LIVE].beginnings.first_play(row.job.id, row.job.created)


def _live_match(call: Call, job_id: str) -> LiveMatch | None:
    return call.request.app[GAMES].live.get(job_id)


def _of_stored(site: Site, row: MatchRow, rotation: int, viewer: Viewer) -> Encoded:
    with site.database.reading() as session:
        match = stored_match(session, row)
    return _encoded(match, rotation, viewer, False)


def _encoded(match: LiveMatch, rotation: int, viewer: Viewer, timed: bool) -> Encoded:
    plain: Plain = game_plain(match, rotation, viewer, timed)
    text = dump_json(plain)
    return Encoded(text, dump_msgpack(plain), tag_of(text))
