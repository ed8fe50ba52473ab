"""Submissions: versions that come in, wait for their check, and what became of it.

The versions in the state CHECKING are the queue of what is to be checked. Whoever changes the
versions of a bot holds the bot's row meanwhile, so that an upload and the end of a check never
pass each other unseen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func
from sqlmodel import Session, col, select

from keltis_bots.manifest import Manifest
from keltis_ladder.match.entrants import BUILT_IN
from keltis_ladder.store.archives import Kept, note_archive
from keltis_ladder.store.bots.browsing import VersionRow
from keltis_ladder.store.bots.catalogue import (
    Refused,
    activate,
    add_version,
    ensure_bot,
    newest_version,
)
from keltis_ladder.store.bots.moderation import Changed, Unknown
from keltis_ladder.store.bots.names import fold
from keltis_ladder.store.schema.tables import (
    Archive,
    Author,
    Bot,
    CheckReport,
    Version,
    VersionState,
)
from keltis_ladder.store.schema.texts import printable

CANNOT_CHECK: Final = "the server could not check it (our fault, reported to the operator)"
_WANTED: Final = (VersionState.ACTIVE, VersionState.CHECKING)
_UNDECIDED: Final = (VersionState.CHECKING, VersionState.UNCHECKED)


class TooManyBots(Refused):
    """An author who has as many bots as one may have."""


@dataclass
class Submitted:
    """A version as it stands after something was done with it, and whatever else has changed."""

    row: VersionRow
    bot: str
    author_id: int
    fresh: bool  # it is to be checked, which it was not before
    changed: list[Changed] = field(default_factory=list)


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
class Report:
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
    session: Session, author_id: int, manifest: Manifest, kept: Kept, most_bots: int
) -> Submitted:
    """Enter a program as a version that is to be checked.

    The same program again is the same version: one that plays or is being checked stays as it is,
    any other gets another chance. A check of an older version is not worth finishing then.
    """
    author = session.get_one(Author, author_id, with_for_update={"key_share": True})
    _check_name(session, author, manifest.name, most_bots)
    bot = ensure_bot(session, author, manifest.name)
    _check_enabled(bot)
    version = newest_version(session, bot)
    fresh = True
    if version is None or version.archive_digest != kept.digest:
        note_archive(session, kept)
        version = add_version(
            session,
            bot,
            variants=manifest.variants,
            players=manifest.players,
            archive=kept.digest,
            description=printable(manifest.description),
        )
    elif version.state in _WANTED:
        fresh = False
    else:
        _check_again(session, version)
    done = _submitted(session, version, bot, fresh)
    if fresh:
        done.changed = [_changed(version, bot), *_supersede(session, version, bot)]
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
    session: Session, version_id: int, report: Report, failure: str | None
) -> list[Changed]:
    """Keep the report of a check, and let the version play or call it broken.

    A version that is not to be checked any more stays as it is: it was taken back meanwhile.
    """
    held = _hold_checked(session, version_id)
    if held is None:
        return []
    version, bot = held
    _keep_report(session, version_id, report)
    if failure is not None:
        version.state = VersionState.BROKEN
        version.reason = printable(failure)
        session.add(version)
        session.flush()
        return [_changed(version, bot)]
    others = _of_bot(session, bot, (VersionState.ACTIVE,))
    newer = [other for other in others if other.number > version.number]
    if newer:
        _make_superseded(session, version, f"version {newer[0].number} plays")
        return [_changed(version, bot)]
    activate(session, version)
    return [_changed(each, bot) for each in (version, *others)]


def leave_unchecked(session: Session, version_id: int, report: Report) -> list[Changed]:
    """Note that we could not check a version, which is not its fault: it may be checked again."""
    held = _hold_checked(session, version_id)
    if held is None:
        return []
    version, bot = held
    _keep_report(session, version_id, report)
    version.state = VersionState.UNCHECKED
    version.reason = CANNOT_CHECK
    session.add(version)
    session.flush()
    return [_changed(version, bot)]


def recheck(session: Session, name: str) -> Submitted:
    """Have the newest version of a bot checked again that we could not check."""
    bot = _bot(session, name)
    _check_enabled(bot)
    version = newest_version(session, bot)
    if version is None or version.state != VersionState.UNCHECKED:
        raise Refused(_why_no_recheck(name, version))
    _check_again(session, version)
    done = _submitted(session, version, bot, fresh=True)
    done.changed = [_changed(version, bot)]
    return done


def recheck_all(session: Session) -> list[Changed]:
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
    changed: list[Changed] = []
    for bot in session.exec(query).all():
        for version in _of_bot(session, bot, (VersionState.UNCHECKED,)):
            _check_again(session, version)
            changed.append(_changed(version, bot))
    return changed


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
    bot = _bot(session, name)
    versions = _of_bot(session, bot, (*_WANTED, VersionState.UNCHECKED))
    if not versions:
        raise Refused(f"{name} does not play, and is not being checked")
    for version in versions:
        version.state = VersionState.RETIRED
        version.reason = printable(reason)
        session.add(version)
    session.flush()
    done = _submitted(session, versions[0], bot, fresh=False)
    done.changed = [_changed(version, bot) for version in versions]
    return done


def restore(session: Session, name: str) -> Submitted:
    """Have the newest version of a bot checked again that was taken back."""
    bot = _bot(session, name)
    _check_enabled(bot)
    if wanted := _of_bot(session, bot, _WANTED):
        doing = "plays" if wanted[0].state == VersionState.ACTIVE else "is being checked"
        raise Refused(f"version {wanted[0].number} of {name} {doing}: there is nothing to restore")
    retired = _of_bot(session, bot, (VersionState.RETIRED,))
    if not retired:
        raise Refused(f"no version of {name} was retired: upload one")
    version = retired[0]
    fresh = version.built_in is None
    if fresh:
        _check_again(session, version)
    else:  # one of ours: there is nothing to check
        activate(session, version)
    done = _submitted(session, version, bot, fresh)
    done.changed = [_changed(version, bot)]
    return done


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
        raise Refused(f"{bot.name} was disabled by whoever runs this ladder: {bot.disabled}")


def _hold_checked(session: Session, version_id: int) -> tuple[Version, Bot] | None:
    """Return a version whose check is over, and its bot, held; none if it was called off."""
    version = session.get(Version, version_id)
    if version is None:
        return None
    bot = session.get_one(Bot, version.bot_id, with_for_update={"key_share": True})
    session.refresh(version, with_for_update={"key_share": True})
    return (version, bot) if version.state == VersionState.CHECKING else None


def _keep_report(session: Session, version_id: int, report: Report) -> None:
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
            return f"{called} was checked, and failed: mend it, and upload it again"
        case VersionState.RETIRED:
            return f"{called} was retired: restore it, and it is checked again"
    return f"{called} is {version.state}: upload it again"


def _check_again(session: Session, version: Version) -> None:
    if version.archive_digest is None:
        raise Refused(f"version {version.number} has no program any more: upload it again")
    version.state = VersionState.CHECKING
    version.reason = ""
    session.add(version)
    session.flush()


def _supersede(session: Session, newest: Version, bot: Bot) -> list[Changed]:
    """Call off the checks of older versions."""
    older = [v for v in _of_bot(session, bot, _UNDECIDED) if v.id != newest.id]
    for version in older:
        _make_superseded(session, version, f"version {newest.number} was uploaded")
    return [_changed(version, bot) for version in older]


def _make_superseded(session: Session, version: Version, reason: str) -> None:
    version.state = VersionState.SUPERSEDED
    version.reason = reason
    session.add(version)
    session.flush()


def _of_bot(session: Session, bot: Bot, states: Iterable[VersionState]) -> list[Version]:
    """Return the versions of a bot in these states, the newest first."""
    query = (
        select(Version)
        .where(Version.bot_id == bot.id, col(Version.state).in_(list(states)))
        .order_by(col(Version.number).desc())
        .with_for_update(key_share=True)
    )
    return list(session.exec(query))


def _bot(session: Session, name: str) -> Bot:
    query = select(Bot).where(Bot.name == name).with_for_update(key_share=True)
    bot = session.exec(query).first()
    if bot is None:
        raise Unknown(f"there is no bot {name!r} on this ladder")
    return bot


def _submitted(session: Session, version: Version, bot: Bot, fresh: bool) -> Submitted:
    size = None
    if version.archive_digest is not None:
        size = session.get_one(Archive, version.archive_digest).size
    return Submitted(VersionRow(version, size), bot.name, bot.author_id, fresh)


def _changed(version: Version, bot: Bot) -> Changed:
    assert version.id is not None
    return Changed(
        version.id, bot.name, version.number, bot.author_id, str(version.state), version.reason
    )
