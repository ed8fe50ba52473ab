"""Forgetting: an author is removed, with names, words and programs. What was played stays."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import sqlalchemy as sql
from sqlalchemy import delete, update
from sqlmodel import Session, col, select

from keltis_ladder.store.archives import Archives
from keltis_ladder.store.bots.accounts import REMOVED
from keltis_ladder.store.bots.moderation import (
    Moderated,
    Unknown,
    bots_of,
    check_may,
    id_of,
    take_off,
)
from keltis_ladder.store.bots.names import free_fold
from keltis_ladder.store.matches.records import NO_CARD, without_names
from keltis_ladder.store.schema.tables import (
    Archive,
    Author,
    Bot,
    CheckReport,
    FaultRecord,
    Invitation,
    Job,
    JobEntrant,
    JobState,
    Place,
    Token,
    TournamentEntrant,
    Version,
    table_of,
)
from keltis_ladder.store.schema.version_states import VersionCause

GONE: Final = "removed with its author"  # why such a bot is disabled, for people


def remove_author(session: Session, author_id: int, by: int, now: datetime) -> Moderated:
    """Forget who an author was. Their names are free again; what they played stays.

    By id, since the name is another one afterwards: to do it twice is the same as once. Their
    programs are forgotten by ``forget_programs``: those of matches under way are still needed.
    """
    author = session.get(Author, author_id, with_for_update={"key_share": True})
    if author is None:
        raise Unknown(f"there is no author with the id {author_id}")
    check_may(author, by)
    author.disabled = author.removed = True
    author.name = _free_name(session, Author, author_id)
    author.folded = free_fold(session, Author, author.name, author_id)
    author.local_user = None
    session.add(author)
    session.execute(
        update(Token)
        .where(col(Token.author_id) == author_id, col(Token.revoked).is_(None))
        .values(revoked=now)
    )
    for table in (Token, Invitation):
        session.execute(update(table).where(col(table.author_id) == author_id).values(label=""))
    session.execute(update(Job).where(col(Job.author_id) == author_id).values(reason_details=None))
    done = Moderated(author_id, author.name)
    bots = bots_of(session, author)
    for bot in bots:
        bot.name = _free_name(session, Bot, id_of(bot))
        bot.folded = free_fold(session, Bot, bot.name, id_of(bot))
        bot.disabled = GONE
        bot.removed = True
        session.add(bot)
    _forget_words(session, bots)
    take_off(session, bots, done, VersionCause.AUTHOR_REMOVED)
    _forget_faults(session, bots)
    return done


def archives_of(session: Session, author_id: int) -> list[str]:
    """Return the digests of the archives that an author's bots came in."""
    query = (
        select(Version.archive_digest)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .where(Bot.author_id == author_id, col(Version.archive_digest).is_not(None))
    )
    return sorted({digest for digest in session.exec(query) if digest is not None})


def forget_programs(session: Session) -> list[str]:
    """Let go of the archives of removed bots that play in no match under way.

    Those come back that no other bot came in: their files are to be deleted when this is kept.
    """
    under_way = (
        select(JobEntrant.version_id)
        .join(Job, col(Job.id) == JobEntrant.job_id)
        .where(Job.state == JobState.LEASED)
    )
    query = (
        select(Version)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .where(
            col(Bot.removed),
            col(Version.archive_digest).is_not(None),
            col(Version.id).not_in(under_way),
        )
        .with_for_update(key_share=True, of=Version)
    )
    return let_go(session, list(session.exec(query)))


def let_go(session: Session, versions: Iterable[Version]) -> list[str]:
    """Take their archives from versions; return those that no other version came in."""
    digests = set()
    for version in versions:
        digests.add(version.archive_digest)
        version.archive_digest = None
        session.add(version)
    session.flush()
    others = select(Version.archive_digest).where(col(Version.archive_digest).in_(digests))
    alone = sorted({digest for digest in digests - set(session.exec(others)) if digest})
    session.execute(delete(Archive).where(col(Archive.digest).in_(alone)))
    return alone


def forget_files(session: Session, archives: Archives, digests: Iterable[str]) -> None:
    """Delete the files of archives, but not if somebody has come with the same one meanwhile."""
    wanted = set(digests)
    needed = set(session.exec(select(Archive.digest).where(col(Archive.digest).in_(wanted))))
    for digest in wanted - needed:
        archives.path(digest).unlink(missing_ok=True)


def _forget_words(session: Session, bots: list[Bot]) -> None:
    """Empty what the author wrote, or what was written for the author only."""
    names = {id_of(bot): bot.name for bot in bots}
    versions = select(Version.id).where(col(Version.bot_id).in_(names))
    session.execute(
        delete(CheckReport)
        .where(col(CheckReport.version_id).in_(versions))
        .execution_options(synchronize_session=False)
    )
    for version in session.exec(select(Version).where(col(Version.bot_id).in_(names))):
        version.description = ""
        version.details = {}  # the cause is a code, and stays
        session.add(version)
        session.execute(
            update(TournamentEntrant)
            .where(col(TournamentEntrant.version_id) == version.id)
            .values(name=names[version.bot_id])
        )
    theirs = select(JobEntrant.job_id).where(col(JobEntrant.version_id).in_(versions))
    session.execute(  # what went wrong may be told with names; what it was is a code, and stays
        update(Job)
        .where(col(Job.id).in_(theirs), col(Job.trouble) != "")
        .values(trouble_details=None)
        .execution_options(synchronize_session=False)
    )
    session.flush()


def _forget_faults(session: Session, bots: list[Bot]) -> None:
    """Empty what was kept of the bots' faults, and take their names from the cards of others.

    That there were faults, and of which kind, stays: places and ratings follow from it.
    """
    versions = select(Version.id).where(col(Version.bot_id).in_([id_of(bot) for bot in bots]))
    session.execute(
        update(FaultRecord)
        .where(col(FaultRecord.version_id).in_(versions))
        .values(text="", card=NO_CARD)
        .execution_options(synchronize_session=False)
    )
    met = select(Place.match_number).where(col(Place.version_id).in_(versions))
    others = select(FaultRecord).where(
        col(FaultRecord.match_number).in_(met), col(FaultRecord.version_id).not_in(versions)
    )
    for fault in session.exec(others):
        fault.card = without_names(fault.card)
        session.add(fault)
    session.flush()


def _free_name(session: Session, table: type[Author] | type[Bot], id: int) -> str:
    """Return a name that tells nothing; somebody may have called a bot like that."""
    name = f"{REMOVED}{id}"
    while (found := _named(session, table, name)) is not None and found != id:
        name += "-"
    return name


def _named(session: Session, table: type[Author] | type[Bot], name: str) -> int | None:
    column = table_of(table).c
    return session.execute(sql.select(column.id).where(column.name == name)).scalar()
