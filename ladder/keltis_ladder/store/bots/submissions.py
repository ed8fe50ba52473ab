"""Submissions: versions that come in, wait for their check, and what became of it.

The versions in the state CHECKING are the queue of what is to be checked. Code that changes the
versions of a bot holds the bot's row meanwhile, so that an upload and the end of a check never
pass each other unseen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func
from sqlmodel import Session, col, select

from keltis_bots.manifest import Manifest
from keltis_bots.texts import printable
from keltis_ladder.match.entrants import BUILT_IN
from keltis_ladder.store.archives import Kept, note_archive
from keltis_ladder.store.bots.browsing import VersionRow
from keltis_ladder.store.bots.catalogue import (
    Refused,
    activate,
    add_version,
    ensure_bot,
    newest_version,
    versions_in,
)
from keltis_ladder.store.bots.moderation import find_bot
from keltis_ladder.store.bots.names import fold
from keltis_ladder.store.bots.room import make_room
from keltis_ladder.store.schema.tables import (
    Archive,
    Author,
    Bot,
    CheckReport,
    Version,
)
from keltis_ladder.store.schema.version_states import (
    VersionCause,
    VersionChanged,
    VersionState,
    change_state,
    states_before,
)

_WANTED: Final = (VersionState.ACTIVE, VersionState.CHECKING)


class TooManyBots(Refused):
    """An author who has as many bots as one may have."""


@dataclass
class Submitted:
    """A version as it stands after something was done with it, and whatever else has changed."""

    row: VersionRow
    bot: str
    author_id: int
    changed: list[VersionChanged]  # itself first, if it has; then others
    gone: list[str] = field(default_factory=list)  # archives that were let go of to make room

    @property
    def fresh(self) -> bool:
        """Whether it is to be checked, which it was not before."""
        return any(
            each.version_id == self.row.version.id and each.state is VersionState.CHECKING
            for each in self.changed
        )


@dataclass(frozen=True)
class Waiting:
    """A version that waits for its check."""

    version_id: int
    author_id: int
    last_took: float | None  # seconds of the last check of its bot, if there was one


@dataclass(frozen=True)
class Subject:
    """A version that is to be checked."""

    version_id: int
    bot: str
    number: int
    author_id: int
    digest: str


@dataclass(frozen=True)
class CheckFindings:
    """What a check has found."""

    findings: list[dict[str, Any]]
    output: str
    started: datetime
    finished: datetime


@dataclass(frozen=True)
class Reported:
    """A version, whose it is, and the report of its check if there is one."""

    row: VersionRow
    author_id: int
    report: CheckReport | None


def submit(
    session: Session,
    author_id: int,
    manifest: Manifest,
    kept: Kept,
    most_bots: int,
    most_kept: int,
) -> Submitted:
    """Enter a program as a version that is to be checked.

    The same program again is the same version: one that plays or is being checked stays as it is,
    any other gets another chance. A check of an older version is not worth finishing then. Old
    programs of the author make room for the new one.
    """
    author = session.get_one(Author, author_id, with_for_update={"key_share": True})
    _check_name(session, author, manifest.name, most_bots)
    bot = ensure_bot(session, author, manifest.name)
    _check_enabled(bot)
    version = newest_version(session, bot)
    if version is None or version.archive_digest != kept.digest:
        note_archive(session, kept)
        version, changes = add_version(
            session,
            bot,
            variants=manifest.variants,
            players=manifest.players,
            archive=kept.digest,
            description=printable(manifest.description),
        )
    elif version.state in _WANTED:
        return _submitted(session, version, bot, [])
    else:
        changes = [_check_again(session, bot, version, VersionCause.UPLOADED)]
    older = [
        each
        for each in versions_in(session, bot, states_before(VersionCause.NEWER_UPLOADED))
        if each.id != version.id
    ]
    superseded = [
        change_state(session, bot, each, VersionCause.NEWER_UPLOADED, version=version.number)
        for each in older
    ]
    done = _submitted(session, version, bot, [*changes, *superseded])
    done.gone = make_room(session, author_id, most_kept)
    return done


def waiting(session: Session) -> list[Waiting]:
    """Return the versions that are to be checked, the oldest first."""
    query = (
        select(col(Version.id), Version.bot_id, Bot.author_id)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .where(
            col(Version.state) == VersionState.CHECKING, col(Version.archive_digest).is_not(None)
        )
        .order_by(col(Version.created), col(Version.id))
    )
    found = session.exec(query).all()
    took = _last_checks(session, {bot for _, bot, _ in found}) if found else {}
    return [Waiting(id, author, took.get(bot)) for id, bot, author in found if id is not None]


def _last_checks(session: Session, bots: set[int]) -> dict[int, float]:
    """Return how many seconds the last check of each of these bots took that is over."""
    query = (
        select(Version.bot_id, CheckReport.started, CheckReport.finished)
        .join(CheckReport, col(CheckReport.version_id) == Version.id)
        .where(col(Version.bot_id).in_(bots))
        .order_by(col(CheckReport.finished))
    )
    return {
        bot: (finished - started).total_seconds() for bot, started, finished in session.exec(query)
    }


def subject(session: Session, version_id: int) -> Subject | None:
    """Return what to know for the check of a version; none if it is not to be checked."""
    query = (
        select(Version, Bot)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .where(col(Version.id) == version_id, col(Version.state) == VersionState.CHECKING)
    )
    found = session.exec(query).first()
    if found is None or found[0].archive_digest is None:
        return None
    version, bot = found
    return Subject(version_id, bot.name, version.number, bot.author_id, found[0].archive_digest)


def conclude(
    session: Session, version_id: int, report: CheckFindings, failure: str | None
) -> list[VersionChanged]:
    """Keep the report of a check, and let the version play or call it broken.

    A version that is not to be checked any more stays as it is: it was taken back meanwhile.
    """
    held = _hold_checked(session, version_id)
    if held is None:
        return []
    version, bot = held
    _keep_report(session, version_id, report)
    if failure is not None:
        return [change_state(session, bot, version, VersionCause.FAILED, text=failure)]
    playing = versions_in(session, bot, {VersionState.ACTIVE})
    if playing and playing[0].number > version.number:
        newer = playing[0].number
        return [change_state(session, bot, version, VersionCause.NEWER_PLAYS, version=newer)]
    return activate(session, version, VersionCause.PASSED)


def leave_unchecked(
    session: Session, version_id: int, report: CheckFindings
) -> list[VersionChanged]:
    """Note that we could not check a version, which is not its fault: it may be checked again."""
    held = _hold_checked(session, version_id)
    if held is None:
        return []
    version, bot = held
    _keep_report(session, version_id, report)
    return [change_state(session, bot, version, VersionCause.NOT_CHECKED)]


def recheck(session: Session, name: str) -> Submitted:
    """Have the newest version of a bot checked again that we could not check."""
    bot = find_bot(session, name)
    _check_enabled(bot)
    version = newest_version(session, bot)
    if version is None or version.state != VersionState.UNCHECKED:
        raise Refused(_why_no_recheck(name, version))
    change = _check_again(session, bot, version, VersionCause.RECHECKED)
    return _submitted(session, version, bot, [change])


def recheck_all(session: Session) -> list[VersionChanged]:
    """Have all versions checked again that we could not check."""
    query = (
        select(Bot)
        .where(
            col(Bot.disabled).is_(None),
            col(Bot.id).in_(
                select(Version.bot_id).where(
                    Version.state == VersionState.UNCHECKED,
                    col(Version.archive_digest).is_not(None),
                )
            ),
        )
        .order_by(col(Bot.id))
        .with_for_update(key_share=True)
    )
    return [
        _check_again(session, bot, version, VersionCause.RECHECKED)
        for bot in session.exec(query).all()
        for version in versions_in(session, bot, {VersionState.UNCHECKED})
        if version.archive_digest is not None
    ]


def report_of(session: Session, name: str, number: int) -> Reported | None:
    """Return a version of a bot with the report of its check; none if there is no such version."""
    query = (
        select(Version, Bot, col(Archive.size), CheckReport)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .outerjoin(Archive, col(Archive.digest) == Version.archive_digest)
        .outerjoin(CheckReport, col(CheckReport.version_id) == Version.id)
        .where(col(Bot.name) == name, col(Version.number) == number)
    )
    found = session.execute(query).first()
    if found is None:
        return None
    version, bot, size, report = found
    return Reported(VersionRow(version, size), bot.author_id, report)


def owner_of(session: Session, name: str) -> int | None:
    """Return the author of a bot; none if there is no such bot."""
    return session.exec(select(Bot.author_id).where(Bot.name == name)).first()


def take_back(session: Session, name: str, reason: str) -> Submitted:
    """Take a bot off the ladder for its author: what plays of it, and what is being checked."""
    bot = find_bot(session, name)
    versions = versions_in(session, bot, states_before(VersionCause.TAKEN_BACK))
    if not versions:
        raise Refused(f"{name} does not play, and is not being checked")
    changed = [
        change_state(session, bot, version, VersionCause.TAKEN_BACK, text=reason)
        for version in versions
    ]
    return _submitted(session, versions[0], bot, changed)


def restore(session: Session, name: str) -> Submitted:
    """Have the newest version of a bot checked again that was taken back."""
    bot = find_bot(session, name)
    _check_enabled(bot)
    if wanted := versions_in(session, bot, _WANTED):
        doing = "plays" if wanted[0].state == VersionState.ACTIVE else "is being checked"
        raise Refused(f"version {wanted[0].number} of {name} {doing}: there is nothing to restore")
    retired = versions_in(session, bot, {VersionState.RETIRED})
    if not retired:
        raise Refused(f"no version of {name} was retired: upload one")
    version = retired[0]
    if version.built_in is not None:  # one of ours: there is nothing to check
        changed = activate(session, version)
    else:
        changed = [_check_again(session, bot, version, VersionCause.RESTORED)]
    return _submitted(session, version, bot, changed)


def _check_name(session: Session, author: Author, name: str, most_bots: int) -> None:
    """Refuse names of our own bots, and a bot more than an author may have."""
    ours = next((bot for bot in BUILT_IN if fold(bot) == fold(name)), None)
    if ours is not None and not author.house:
        known = f"is the name of a bot of ours, {ours}" if name == ours else f"looks like {ours}"
        raise Refused(f"{name!r} {known}: choose another in bot.toml")
    if session.exec(select(Bot.id).where(Bot.name == name)).first() is not None:
        return
    count = session.exec(select(func.count()).where(Bot.author_id == author.id)).one()
    if count >= most_bots:
        raise TooManyBots(
            f"you have {count} bots, and there may be {most_bots}: upload this one as a new"
            " version of another, under its name"
        )


def _check_enabled(bot: Bot) -> None:
    if bot.disabled is not None:
        raise Refused(f"{bot.name} was disabled by the operator: {bot.disabled}")


def _hold_checked(session: Session, version_id: int) -> tuple[Version, Bot] | None:
    """Return a version whose check is over, and its bot, held; none if it was called off."""
    version = session.get(Version, version_id)
    if version is None:
        return None
    bot = session.get_one(Bot, version.bot_id, with_for_update={"key_share": True})
    session.refresh(version, with_for_update={"key_share": True})
    return (version, bot) if version.state == VersionState.CHECKING else None


def _keep_report(session: Session, version_id: int, report: CheckFindings) -> None:
    session.merge(
        CheckReport(
            version_id=version_id,
            findings=report.findings,
            output=printable(report.output),
            started=report.started,
            finished=report.finished,
        )
    )


def _why_no_recheck(name: str, version: Version | None) -> str:
    if version is None:
        return f"{name} has no version: upload one"
    called = f"version {version.number} of {name}"
    match version.state:
        case VersionState.CHECKING:
            return f"{called} is being checked already"
        case VersionState.ACTIVE:
            return f"{called} was checked, and plays"
        case VersionState.BROKEN:
            return f"{called} was checked, and failed: fix it, and upload it again"
        case VersionState.RETIRED:
            return f"{called} was retired: restore it, and it is checked again"
    return f"{called} is {version.state}: upload it again"


def _check_again(
    session: Session, bot: Bot, version: Version, cause: VersionCause
) -> VersionChanged:
    if version.archive_digest is None:
        raise Refused(f"version {version.number} has no program any more: upload it again")
    return change_state(session, bot, version, cause)


def _submitted(
    session: Session, version: Version, bot: Bot, changed: list[VersionChanged]
) -> Submitted:
    size = None
    if version.archive_digest is not None:
        size = session.get_one(Archive, version.archive_digest).size
    return Submitted(VersionRow(version, size), bot.name, bot.author_id, changed)
