"""Administration: what only the operator may do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final

from pydantic import Field
from sqlmodel import Session

from keltis_ladder.store.bots.accounts import TokenScope, invite, new_invitation
from keltis_ladder.store.bots.forgetting import archives_of, remove_author
from keltis_ladder.store.bots.moderation import (
    Moderated,
    Unknown,
    disable_author,
    disable_bot,
    enable_author,
    enable_bot,
    find_author,
    rerate,
    take_stock,
)
from keltis_ladder.store.bots.submissions import recheck, recheck_all
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.recomputing import Comparison
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Author
from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_server.events import AccessEnded
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import MISSING, MISSING_OR_REFUSED, Endpoints, Parameters
from keltis_server.http.parameters import LINE, LINE_SCHEMA, Days, Label, Name, NamePath
from keltis_server.http.problems import not_found
from keltis_server.http.wire import Reply
from keltis_server.models.administration import (
    DraggingOut,
    InvitationOut,
    ModeratedOut,
    ModeratedVersion,
    PrunedOut,
    RecheckedOut,
    RerateOut,
    StatusOut,
    TroubleOut,
)
from keltis_server.play.games import GAMES
from keltis_server.uploads.intake import INTAKE
from keltis_server.uploads.moderation import follow_up

ENDPOINTS: Final = Endpoints("administration", "For the operator.")


log = logging.getLogger(__name__)


class AuthorPath(Parameters):
    """Which author."""

    author: Name


class ReasonIn(Parameters):
    """Why; the author is told."""

    reason: Annotated[str, Field(min_length=1, max_length=500, json_schema_extra=LINE_SCHEMA), LINE]


class InvitationIn(Parameters):
    """What an invitation is for."""

    label: Label = ""
    days: Days = None


class PruneIn(Parameters):
    """What may go."""

    played: bool = Field(
        default=False,
        description="Also archives that matches were played with, and never will be again.",
    )
    dry_run: bool = Field(default=False, description="Only say what would be removed.")


class RecheckIn(Parameters):
    """What is to be checked again."""

    bot: Name | None = Field(default=None, description="Only this bot; all of them without it.")


MODERATE: Final = partial(
    ENDPOINTS.post, returns=ModeratedOut, needs=TokenScope.ADMIN, fails=MISSING_OR_REFUSED
)


@ENDPOINTS.get("/admin/status", returns=StatusOut, needs=TokenScope.ADMIN)
async def admin_status(call: Call) -> StatusOut:
    """How the ladder is: what is being played, and what waits."""
    return await _status(call)


@ENDPOINTS.post("/admin/drain", returns=StatusOut, needs=TokenScope.ADMIN)
async def drain(call: Call) -> StatusOut:
    """Begin no more matches; those under way are finished."""
    call.request.app[GAMES].drain(True)
    _note(call, "drain")
    return await _status(call)


@ENDPOINTS.post("/admin/resume", returns=StatusOut, needs=TokenScope.ADMIN)
async def resume(call: Call) -> StatusOut:
    """Begin matches again."""
    call.request.app[GAMES].drain(False)
    _note(call, "resume")
    return await _status(call)


@MODERATE("/admin/bots/{bot}/disable", fails=MISSING)
async def admin_disable_bot(call: Call, path: NamePath, body: ReasonIn) -> ModeratedOut:
    """Take a bot off the ladder. Its author cannot bring it back; it leaves its tournaments."""
    done = await _moderated(call, lambda session: disable_bot(session, path.bot, body.reason))
    return await _concluded(call, done, "disable bot", path.bot, True, body.reason)


@MODERATE("/admin/bots/{bot}/enable")
async def admin_enable_bot(call: Call, path: NamePath) -> ModeratedOut:
    """Let a bot play again, once the version that was taken off has passed its check again."""
    done = await _moderated(call, lambda session: enable_bot(session, path.bot))
    return await _concluded(call, done, "enable bot", path.bot, False)


@MODERATE("/admin/authors/{author}/disable")
async def admin_disable_author(call: Call, path: AuthorPath, body: ReasonIn) -> ModeratedOut:
    """Shut an author out, and take their bots off the ladder."""
    by = call.author.author_id
    done = await _moderated(
        call, lambda session: disable_author(session, path.author, body.reason, by)
    )
    call.site.tell(AccessEnded(done.author_id))
    return await _concluded(call, done, "disable author", path.author, True, body.reason)


@MODERATE("/admin/authors/{author}/enable")
async def admin_enable_author(call: Call, path: AuthorPath) -> ModeratedOut:
    """Let an author in again; their bots play again once they have passed their checks."""
    done = await _moderated(call, lambda session: enable_author(session, path.author))
    return await _concluded(call, done, "enable author", path.author, False)


@MODERATE("/admin/authors/{author}/remove")
async def admin_remove_author(call: Call, path: AuthorPath) -> ModeratedOut:
    """Forget an author: names, words, tokens and programs. What was played stays, without a name.

    Matches that wait are called off; those under way are played to their end, and then their
    programs go, too. The names of the author and of the bots are free again. This cannot be undone.
    """
    site, pruner = call.site, call.request.app[INTAKE].pruner
    author = await _find(call, path.author)
    assert author.id is not None
    archives = await site.read(archives_of, author.id)
    done = await site.write(remove_author, author.id, call.author.author_id, now())
    site.tell(AccessEnded(author.id))
    _note(call, "remove author", path.author)
    await follow_up(call.site, call.request.app, done)
    await pruner.forget(archives)
    return _told(done.author, True, done.changed)


@ENDPOINTS.post(
    "/admin/prune", returns=PrunedOut, needs=TokenScope.ADMIN, fails=(HTTPStatus.CONFLICT,)
)
async def admin_prune(call: Call, body: PruneIn) -> PrunedOut:
    """Remove what is too old to be kept, and programs that no version needs: as once a day."""
    pruner = call.request.app[INTAKE].pruner
    swept = await pruner.sweep(body.dry_run)
    found = await pruner.prune(body.played, body.dry_run)
    if not body.dry_run:
        _note(call, "prune", f"{found.builds} builds, {found.archives} archives, {swept}")
    return PrunedOut(
        builds=found.builds,
        archives=found.archives,
        **{**vars(swept), "size": found.size + swept.size},
    )


@ENDPOINTS.post(
    "/admin/recheck", returns=RecheckedOut, needs=TokenScope.ADMIN, fails=MISSING_OR_REFUSED
)
async def admin_recheck(call: Call, body: RecheckIn) -> RecheckedOut:
    """Check the versions again that could not be checked through a fault of ours."""
    changed: list[VersionChanged]
    if body.bot is None:
        changed = await call.site.write(recheck_all)
    else:
        try:
            changed = (await call.site.write(recheck, body.bot)).changed
        except Unknown as unknown:
            raise not_found(str(unknown)) from None
    call.site.tell(*changed)
    _note(call, "recheck", body.bot or "all")
    return RecheckedOut(versions=_versions(changed))


@ENDPOINTS.post("/admin/rerate", returns=RerateOut, needs=TokenScope.ADMIN)
async def admin_rerate(call: Call) -> RerateOut:
    """Work all ratings out again from the results; results that come meanwhile wait."""
    found = await call.site.work(_rerate, call.site.database)
    call.site.boards.forget()
    _note(call, "rerate", f"{found.matches} matches", f"{found.differences} differed")
    return RerateOut(matches=found.matches, changed=found.differences)


@ENDPOINTS.post(
    "/admin/invitations",
    returns=InvitationOut,
    needs=TokenScope.ADMIN,
    status=HTTPStatus.CREATED,
)
async def admin_invite(call: Call, body: InvitationIn) -> Reply:
    """Make an invitation, which opens one account. It is shown this once."""
    text, moment = new_invitation(), now()
    expires = moment + timedelta(days=body.days) if body.days is not None else None
    await call.site.write(invite, moment, body.label, expires, text)
    _note(call, "invite", body.label)
    return Reply(InvitationOut(invitation=text), HTTPStatus.CREATED)


async def _status(call: Call) -> StatusOut:
    games = call.request.app[GAMES]
    stock = await call.site.read(take_stock)
    return StatusOut(
        draining=call.site.draining,
        tempo=games.pace.tempo,
        matches_per_minute=games.pace.per_minute,
        expected_gain=games.pace.gain,
        referees=len(games.dispatcher.pids),
        playing=sorted(games.live),
        troubles=[TroubleOut(at=each.at, text=each.text) for each in call.site.troubles.latest],
        dragging=[
            DraggingOut(bot=bot, matches=times)
            for bot, times in sorted(games.dispatcher.suspects.items())
        ],
        **vars(stock),
    )


async def _moderated(call: Call, work: Callable[[Session], Moderated]) -> Moderated:
    """Change something in the store; who does not exist there is not found."""
    try:
        return await call.site.write(work)
    except Unknown as unknown:
        raise not_found(str(unknown)) from None


async def _concluded(
    call: Call, done: Moderated, act: str, whom: str, disabled: bool, why: str = ""
) -> ModeratedOut:
    """Write down what was done, have everybody told, and answer."""
    _note(call, act, whom, why)
    await follow_up(call.site, call.request.app, done)
    return _told(whom, disabled, done.changed)


async def _find(call: Call, name: str) -> Author:
    try:
        return await call.site.read(find_author, name)
    except Unknown as unknown:
        raise not_found(str(unknown)) from None


def _told(name: str, disabled: bool, changed: Sequence[VersionChanged]) -> ModeratedOut:
    return ModeratedOut(name=name, disabled=disabled, versions=_versions(changed))


def _versions(changed: Sequence[VersionChanged]) -> list[ModeratedVersion]:
    return [
        ModeratedVersion(bot=each.bot, number=each.number, state=each.state) for each in changed
    ]


def _note(call: Call, act: str, whom: str = "", why: str = "") -> None:
    """Write down who did what to whom."""
    log.info(
        "%s: %s %s",
        call.author.name,
        act,
        whom,
        extra={"act": act, "by": call.author.name, "whom": whom, "why": why},
    )


def _rerate(database: Database) -> Comparison:
    return database.write(rerate)
