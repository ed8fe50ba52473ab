"""Challenges: unrated matches that are played at once."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from pydantic import Field
from sqlmodel import Session

from keltis_ladder.match.orders import AT_ONCE_PRIORITY, Order, Purpose
from keltis_ladder.match.reasons import MatchReason, Reason
from keltis_ladder.store.bots.accounts import TokenScope
from keltis_ladder.store.bots.browsing import active_versions
from keltis_ladder.store.matches.challenges import TooManyChallenges, add_challenge
from keltis_ladder.store.schema.moments import now
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import API, MISSING_OR_REFUSED, Endpoints, Parameters
from keltis_server.http.lookups import require_owner, the_bot
from keltis_server.http.parameters import Name, VariantId
from keltis_server.http.problems import conflict, too_many
from keltis_server.http.wire import Reply
from keltis_server.loaders.matches import load_match
from keltis_server.models.matches import MatchOut
from keltis_server.play.games import GAMES

ENDPOINTS: Final = Endpoints("challenges", "Unrated matches, at once.")

AT_A_TIME: Final = 3  # challenges of one author
SOON: Final = 5.0  # seconds in which one of them may be over


class ChallengeIn(Parameters):
    """Who shall play whom, and what."""

    bot: Annotated[Name, Field(description="Your own.")]
    opponents: Annotated[list[Name], Field(min_length=1, max_length=3)]
    variant: VariantId
    players: Annotated[
        int | None, Field(ge=2, le=4, description="As many as are named; may be left out.")
    ] = None


@ENDPOINTS.post(
    "/challenges",
    returns=MatchOut,
    needs=TokenScope.PLAY,
    status=HTTPStatus.ACCEPTED,
    fails=MISSING_OR_REFUSED,
)
async def challenge(call: Call, body: ChallengeIn) -> Reply:
    """Let your bot play others at once, for nothing: the match is not rated."""
    versions = await call.site.read(_players, call, body)
    author = call.author
    order = Order(
        variant=body.variant,
        versions=versions,
        purpose=Purpose.CHALLENGE,
        rated=False,
        control=call.site.settings.control,
        priority=AT_ONCE_PRIORITY,
        reason=Reason(MatchReason.CHALLENGE, {"author": author.name}),
        author_id=author.author_id,
    )
    limiter, who = call.site.limiters.challenges, str(author.author_id)
    if wait := limiter.take(who):
        raise too_many("too many challenges", wait)
    try:
        match = await call.site.write(_order, order)
    except TooManyChallenges as many:
        limiter.give_back(who)
        raise too_many(str(many), SOON) from None
    except BaseException:
        limiter.give_back(who)
        raise
    call.request.app[GAMES].look()
    headers = {"Location": f"{API}/matches/{match.id}"}
    return Reply(match, status=HTTPStatus.ACCEPTED, headers=headers)


def _players(session: Session, call: Call, body: ChallengeIn) -> tuple[int, ...]:
    """Return the versions that shall play, or raise if they cannot."""
    names = [body.bot, *body.opponents]
    if len(set(names)) < len(names):
        raise conflict("a bot cannot play itself: name others, each once")
    if body.players not in (None, len(names)):
        raise conflict(f"{len(names)} bots are named, not {body.players}: leave players out")
    known = [the_bot(session, name) for name in names]
    require_owner(call, known[0].author_id, body.bot)
    active = active_versions(session, names)
    found = []
    for name in names:
        version = active.get(name)
        if version is None or version.id is None:
            raise conflict(f"{name} does not play now: none of its versions is on the ladder")
        if body.variant not in version.variants:
            raise conflict(f"{name} does not play {body.variant}: {', '.join(version.variants)}")
        if len(names) not in version.players:
            allowed = ", ".join(map(str, version.players))
            raise conflict(f"{name} does not play with {len(names)} players: {allowed}")
        found.append(version.id)
    return tuple(found)


def _order(session: Session, order: Order) -> MatchOut:
    job = add_challenge(session, order, AT_A_TIME, now())
    session.flush()
    match = load_match(session, job.id)
    assert match is not None
    return match
