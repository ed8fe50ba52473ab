"""Tournaments: make, start and follow them."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final

from pydantic import AwareDatetime, Field
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.scopes import ALL, OVERALL, Scope
from keltis_ladder.run.course import Entry
from keltis_ladder.run.tournaments import TooManyTournaments
from keltis_ladder.store.bots.accounts import TokenScope
from keltis_ladder.store.bots.browsing import active_versions, best_rated
from keltis_ladder.store.matches.tournaments import OVER, TournamentRow, tournament_rows
from keltis_ladder.store.ratings.boards import board
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import TournamentState, Version
from keltis_ladder.tournaments.plan import FORMATS, GAUNTLET, Plan
from keltis_server.events import TournamentChanged
from keltis_server.http.auth import Call, allows
from keltis_server.http.endpoints import API, MISSING, MISSING_OR_REFUSED, Endpoints, Parameters
from keltis_server.http.lookups import number_after, require_owner, the_bot, the_tournament
from keltis_server.http.parameters import Name, Page, PageQuery, VariantId
from keltis_server.http.problems import conflict, forbidden, too_many
from keltis_server.http.wire import Reply
from keltis_server.loaders.tournaments import summary_out, tournament_out
from keltis_server.models.tournaments import TournamentOut, TournamentSummary
from keltis_server.play.games import GAMES

ENDPOINTS: Final = Endpoints("tournaments", "Tournaments.")
CHANGE: Final = partial(
    ENDPOINTS.post, returns=TournamentOut, needs=TokenScope.PLAY, fails=MISSING_OR_REFUSED, cost=2
)

AT_A_TIME: Final = 3  # tournaments of one author that are not over
MOST_ENTRANTS: Final = 64
MOST_MATCHES: Final = 5_000  # of a tournament that no administrator makes
RETRY_AFTER_SECONDS: Final = 60.0  # after which a tournament may be over
LOTS_BITS: Final = 53
PAIRS_A_TOKEN: Final = (
    340  # of a tournament: what everybody has of everybody is worked out and told
)
FAR: Final = timedelta(days=366)
LATE: Final = timedelta(minutes=1)  # that a request may take


class TournamentPath(Parameters):
    """Which tournament."""

    name: Annotated[Name, Field(description="Of the tournament.")]


class TournamentsQuery(PageQuery):
    """Which tournaments."""

    state: Annotated[
        str,
        Field(pattern=f"^({'|'.join(TournamentState)})?$", description="Only in this state."),
    ] = ""


class TournamentIn(Parameters):
    """What shall be played, and who takes part."""

    name: Annotated[Name, Field(description="Of the tournament.")]
    format: Annotated[str, Field(pattern=f"^({'|'.join(FORMATS)})$")]
    bots: Annotated[
        list[Name],
        Field(max_length=MOST_ENTRANTS, description="In a gauntlet the challengers first."),
    ] = Field(default_factory=list)
    top: Annotated[
        int | None,
        Field(
            ge=1,
            le=MOST_ENTRANTS,
            description="Number of further entrants, taken from the top of the leaderboard.",
        ),
    ] = None
    players: Annotated[int, Field(ge=2, le=4, description="At a table.")] = 2
    variants: Annotated[list[VariantId], Field(min_length=1, max_length=len(VARIANTS))]
    matches: Annotated[
        int,
        Field(ge=1, le=1000, description="Matches of each pairing; in eliminations best of N."),
    ] = 1
    rounds: Annotated[int | None, Field(ge=1, le=1000)] = None
    challengers: Annotated[int, Field(ge=1, le=MOST_ENTRANTS, description="Of a gauntlet.")] = 1
    starts: Annotated[
        AwareDatetime | None, Field(description="It starts by itself then; null: when told.")
    ] = None
    rated: Annotated[bool, Field(description="Only by administrators.")] = False


@ENDPOINTS.get("/tournaments", returns=Page[TournamentSummary], fails=MISSING, cost=8)
async def list_tournaments(call: Call, query: TournamentsQuery) -> Page[TournamentSummary]:
    """All tournaments, the newest first."""
    before = number_after(query.after)
    rows = await call.site.read(tournament_rows, query.state or None, before, query.limit + 1)
    shown = rows[: query.limit]
    return Page[TournamentSummary](
        items=await call.site.work(_summaries, call, shown),
        next=str(shown[-1].record.id) if len(rows) > len(shown) else None,
    )


def _summaries(call: Call, rows: list[TournamentRow]) -> list[TournamentSummary]:
    return [summary_out(row, _total(call, row)) for row in rows]


def _total(call: Call, row: TournamentRow) -> int:
    """Return how many matches there will be: of what is over, as many as there were."""
    if row.record.state in OVER or row.record.id is None:
        return row.played
    return call.site.director.consult(
        row.record.id, lambda _, course: course.tournament.progress[1]
    )


@ENDPOINTS.get("/tournaments/{name}", returns=TournamentOut, fails=MISSING)
async def get_tournament(call: Call, path: TournamentPath) -> TournamentOut:
    """A tournament as it stands: its bots, rounds, and standings."""
    record = await call.site.read(the_tournament, path.name)
    assert record.id is not None
    _pay_for(call, record.plan["entrants"])
    return await _shown(call, record.id)


def _pay_for(call: Call, entrants: int) -> None:
    """Take what it costs to show a tournament of a number of bots, before anything is done."""
    call.pay_more(entrants**2 // PAIRS_A_TOKEN)


async def _shown(call: Call, id: int) -> TournamentOut:
    return await call.site.work(call.site.director.consult, id, tournament_out)


@ENDPOINTS.post(
    "/tournaments",
    returns=TournamentOut,
    needs=TokenScope.PLAY,
    status=HTTPStatus.CREATED,
    fails=MISSING_OR_REFUSED,
    cost=5,
)
async def create_tournament(call: Call, body: TournamentIn) -> Reply:
    """Make a tournament. Its bots are the versions that play now, seeded by their ratings."""
    admin = allows(call.author, TokenScope.ADMIN)
    if body.rated and not admin:
        raise forbidden("only administrators make rated tournaments: leave rated out")
    if body.starts is not None and not now() - LATE <= body.starts <= now() + FAR:
        raise conflict(f"it cannot start in the past, or in more than {FAR.days} days")
    entries = await call.site.read(_entries, body, call.site.settings.official)
    plan = Plan(
        format=body.format,
        entrants=len(entries),
        players=body.players,
        variants=tuple(body.variants),
        matches=body.matches,
        rounds=body.rounds,
        challengers=body.challengers,
        seed=secrets.randbits(LOTS_BITS),
    )
    plan.check()
    if plan.size() > MOST_MATCHES and not admin:
        raise conflict(
            f"this would be up to {plan.size():,} matches, and {MOST_MATCHES:,} is the limit: "
            "take fewer bots, rounds or matches of each pairing"
        )
    _pay_for(call, len(entries))
    limiter, who = call.site.limiters.tournaments, str(call.author.author_id)
    if not admin and (wait := limiter.take(who)):
        raise too_many("too many tournaments", wait)
    try:
        id = await call.site.work(_create, call, body, plan, entries, admin)
    except BaseException:
        if not admin:
            limiter.give_back(who)
        raise
    _tell(call, id)
    headers = {"Location": f"{API}/tournaments/{body.name}"}
    return Reply(await _shown(call, id), status=HTTPStatus.CREATED, headers=headers)


def _create(call: Call, body: TournamentIn, plan: Plan, entries: list[Entry], admin: bool) -> int:
    try:
        return call.site.director.create(
            body.name,
            plan,
            entries,
            call.site.settings.control,
            rated=body.rated,
            starts=body.starts,
            author_id=call.author.author_id,
            most=None if admin else AT_A_TIME,
        )
    except TooManyTournaments as many:
        raise too_many(str(many), RETRY_AFTER_SECONDS) from None


def _entries(session: Session, body: TournamentIn, official: Official) -> list[Entry]:
    """Return who takes part, in the order of their seeding."""
    if len(set(body.bots)) < len(body.bots):
        raise conflict("a bot takes part once: name each once")
    scope = Scope(body.variants[0] if len(body.variants) == 1 else ALL, body.players)
    named = active_versions(session, body.bots)
    for name in body.bots:
        if name not in named:
            the_bot(session, name)
            raise conflict(f"{name} does not play now: none of its versions is on the ladder")
        if (why := _unfit(named[name], body)) is not None:
            raise conflict(f"{name} {why}")
    versions = {name: named[name] for name in body.bots}
    if body.top is not None:
        ordered = board(session, scope, official=official).lines
        versions |= _best(session, body, [line.bot for line in ordered], scope)
    if len(versions) > MOST_ENTRANTS:
        raise conflict(f"{len(versions)} bots are too many: {MOST_ENTRANTS} at most")
    return _seeded(session, body, versions, scope)


def _unfit(version: Version, body: TournamentIn) -> str | None:
    """Say why a version cannot take part."""
    missing = [variant for variant in body.variants if variant not in version.variants]
    if missing:
        return f"does not play {', '.join(missing)}"
    if body.players not in version.players:
        return f"does not play with {body.players} players"
    return None


def _best(
    session: Session, body: TournamentIn, ordered: list[str], scope: Scope
) -> dict[str, Version]:
    """Return the best others that can take part."""
    names = [name for name in ordered if name not in body.bots]
    active = active_versions(session, names)
    fit = [name for name in names if name in active and _unfit(active[name], body) is None]
    count = body.top or 0
    if len(fit) < count:
        raise conflict(
            f"only {len(fit)} bots that are not named have a rating in {_scope_words(scope)} and"
            f" can take part: take a smaller top than {count}, or name bots"
        )
    return {name: active[name] for name in fit[:count]}


def _scope_words(scope: Scope) -> str:
    variant, players = scope
    games = "all games" if variant == ALL else variant
    return f"{games} with {players} players" if players else games


def _seeded(
    session: Session, body: TournamentIn, versions: dict[str, Version], scope: Scope
) -> list[Entry]:
    ids = {name: version.id for name, version in versions.items() if version.id is not None}
    ratings = best_rated(session, (scope, OVERALL), ids.values())
    entries = [Entry(id, name, *ratings.get(id, (None, None))) for name, id in ids.items()]
    first = body.challengers if body.format == GAUNTLET else 0
    rest = sorted(entries[first:], key=_merit, reverse=True)
    return [*entries[:first], *rest]


def _merit(entry: Entry) -> float:
    return float("-inf") if entry.mu is None else entry.mu


@CHANGE("/tournaments/{name}/start")
async def start_tournament(call: Call, path: TournamentPath) -> TournamentOut:
    """Start a tournament of yours, or go on with one that is paused."""
    return await _change(call, path.name, call.site.director.start)


@CHANGE("/tournaments/{name}/pause")
async def pause_tournament(call: Call, path: TournamentPath) -> TournamentOut:
    """Begin no more matches of a tournament; those that are being played will count."""
    return await _change(call, path.name, call.site.director.pause)


@CHANGE("/tournaments/{name}/cancel")
async def cancel_tournament(call: Call, path: TournamentPath) -> TournamentOut:
    """End a tournament without a result."""
    return await _change(call, path.name, call.site.director.cancel)


async def _change(call: Call, name: str, change: Callable[[int], None]) -> TournamentOut:
    record = await call.site.read(the_tournament, name)
    assert record.id is not None
    require_owner(call, record.author_id or 0, f"the tournament {name!r}")
    _pay_for(call, record.plan["entrants"])
    await call.site.work(change, record.id)
    _tell(call, record.id)
    return await _shown(call, record.id)


def _tell(call: Call, id: int) -> None:
    """Let everybody who follows it look, and the scheduler, too."""
    call.site.tell(TournamentChanged(id))
    call.request.app[GAMES].look()
