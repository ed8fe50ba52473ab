"""Submissions: upload a bot, and read what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final

from aiohttp import web
from pydantic import Field

from keltis_ladder.store.bots.accounts import TokenScope
from keltis_ladder.store.bots.submissions import (
    Reported,
    Submitted,
    owner_of,
    recheck,
    report_of,
    restore,
    take_back,
)
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import (
    API,
    MISSING,
    MISSING_OR_REFUSED,
    Endpoints,
    Media,
    Parameters,
)
from keltis_server.http.parameters import LINE, LINE_SCHEMA, NamePath, VersionPath
from keltis_server.http.problems import forbidden, not_found
from keltis_server.http.wire import Reply
from keltis_server.loaders.bots import version_out, version_reason
from keltis_server.models.bots import VersionOut
from keltis_server.models.reports import FindingOut, ReportOut
from keltis_server.uploads.receiving import FORM
from keltis_server.uploads.submitting import SUBMITTING

ENDPOINTS: Final = Endpoints("submissions", "Uploads of bots, and what became of them.")
CHANGE: Final = partial(
    ENDPOINTS.post, returns=VersionOut, needs=TokenScope.SUBMIT, fails=MISSING_OR_REFUSED
)

GZIP: Final = "application/gzip"
ARCHIVE: Final = Media(
    ("application/zip", GZIP, "application/x-tar", "application/octet-stream", FORM),
    "A zip or a tar of the bot's directory, which its bytes tell; or a form with it as one file.",
)
PRIVATE: Final = "private, max-age=31536000, immutable"  # a version never changes
LONGEST_REASON: Final = 500


class RetireIn(Parameters):
    """Why a bot is taken back."""

    reason: Annotated[
        str,
        Field(
            max_length=LONGEST_REASON,
            description="For yourself; nobody else sees it.",
            json_schema_extra=LINE_SCHEMA,
        ),
        LINE,
    ] = ""


@ENDPOINTS.post(
    "/bots",
    cost=10,
    returns=VersionOut,
    needs=TokenScope.SUBMIT,
    fails=(
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.CONFLICT,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ),
    status=HTTPStatus.ACCEPTED,
    also=(HTTPStatus.OK,),
    upload=ARCHIVE,
)
async def upload_bot(call: Call) -> Reply:
    """Upload a bot, or a new version of one; it is checked, and then plays.

    Its name is the one in its bot.toml. If the same program is the newest version already, and
    plays or is being checked, the answer is 200 and nothing changes.
    """
    submitted = await call.request.app[SUBMITTING].submit(call.author, call.request)
    status = HTTPStatus.ACCEPTED if submitted.fresh else HTTPStatus.OK
    return _reply(submitted, status)


@ENDPOINTS.get(
    "/bots/{bot}/versions/{number}/report",
    returns=ReportOut,
    needs=TokenScope.READ,
    fails=MISSING,
)
async def version_report(call: Call, path: VersionPath) -> ReportOut:
    """What the check of a version found, and what its build printed: for its author."""
    found = await _own(call, path)
    version, report = found.row.version, found.report
    return ReportOut(
        state=version.state,
        **version_reason(version.cause, version.details, for_author=True),
        findings=[FindingOut.model_validate(each) for each in report.findings] if report else [],
        output=report.output if report else "",
        started=report.started if report else None,
        finished=report.finished if report else None,
    )


@ENDPOINTS.get(
    "/bots/{bot}/versions/{number}/archive",
    cost=10,
    returns=Media((GZIP,), "The files of the version, as a tar."),
    needs=TokenScope.READ,
    fails=MISSING,
)
async def version_archive(call: Call, path: VersionPath) -> web.StreamResponse:
    """The files that a version came in, packed by us: for its author."""
    found = await _own(call, path)
    digest = found.row.version.archive_digest
    file = call.site.home.archives.path(digest) if digest else None
    if file is None or not await asyncio.to_thread(file.is_file):
        raise not_found(f"version {path.number} of {path.bot} has no archive here")
    name = f"{path.bot}-{path.number}.tar.gz"
    return web.FileResponse(
        file,
        headers={
            "Content-Type": GZIP,
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": PRIVATE,
        },
    )


@CHANGE("/bots/{bot}/retire")
async def retire_bot(call: Call, path: NamePath, body: RetireIn) -> Reply:
    """Take a bot off the ladder: what plays of it, and what is being checked. Results stay."""
    reason = body.reason or f"retired by {call.author.name}"
    return await _change(call, path.bot, take_back, reason)


@CHANGE("/bots/{bot}/restore")
async def restore_bot(call: Call, path: NamePath) -> Reply:
    """Have the newest version checked again that was retired; if it passes, it plays."""
    return await _change(call, path.bot, restore)


@CHANGE("/bots/{bot}/recheck")
async def recheck_bot(call: Call, path: NamePath) -> Reply:
    """Have the newest version checked again if the server could not check it (`unchecked`)."""
    return await _change(call, path.bot, recheck)


async def _change(call: Call, bot: str, change: Callable[..., Submitted], *how: str) -> Reply:
    """Change a bot of the caller's, have everybody told, and answer with the version."""
    await _require_owner(call, bot)
    done = await call.site.write(change, bot, *how)
    call.site.tell(*done.changed)
    return _reply(done, HTTPStatus.OK)


def _reply(submitted: Submitted, status: HTTPStatus) -> Reply:
    number = submitted.row.version.number
    location = f"{API}/bots/{submitted.bot}/versions/{number}"
    return Reply(version_out(submitted.row, for_author=True), status, {"Location": location})


async def _own(call: Call, path: VersionPath) -> Reported:
    """Return a version with its report; raise unless the caller may read of it."""
    found = await call.site.read(report_of, path.bot, path.number)
    if found is None:
        raise not_found(f"there is no version {path.number} of a bot {path.bot!r} on this ladder")
    if not call.may_read_of(found.author_id):
        raise forbidden(f"{path.bot} is not yours: only its author may see this")
    return found


async def _require_owner(call: Call, bot: str) -> None:
    owner = await call.site.read(owner_of, bot)
    if owner is None:
        raise not_found(f"there is no bot {bot!r} on this ladder")
    if owner != call.author.author_id and TokenScope.ADMIN not in call.author.scopes:
        raise forbidden(f"{bot} is not yours: only its author may do this")
