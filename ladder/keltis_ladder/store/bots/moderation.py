"""Moderation: keep a bot or an author off the ladder, or let them back.

Results stay as they are whatever happens here: others played in them, and all ratings follow from
them. What is taken away is the right to play.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import sqlalchemy as sql
from sqlalchemy import ColumnElement, update
from sqlmodel import Session, col, select

from keltis_bots.texts import printable
from keltis_ladder.match.orders import Purpose
from keltis_ladder.store.bots.catalogue import Refused, activate, versions_in
from keltis_ladder.store.database import allow_pauses
from keltis_ladder.store.matches.finishing import lock_ledger
from keltis_ladder.store.matches.queue import called_off
from keltis_ladder.store.ratings.memory import matches_stored
from keltis_ladder.store.ratings.recomputing import Comparison, compare, replace
from keltis_ladder.store.schema.job_troubles import JobTrouble, trouble_values
from keltis_ladder.store.schema.relations import AUTHOR, BOT, JOB, VERSION
from keltis_ladder.store.schema.tables import (
    Author,
    Bot,
    Job,
    JobEntrant,
    JobState,
    TournamentEntrant,
    TournamentRecord,
    TournamentState,
    Version,
)
from keltis_ladder.store.schema.version_states import (
    Detail,
    VersionCause,
    VersionChanged,
    VersionState,
    change_state,
    states_before,
)

_DISABLED: Final = (VersionCause.BOT_DISABLED, VersionCause.AUTHOR_DISABLED)
_MOST_NAMED: Final = 100  # versions that could not be checked
_TO_COME: Final = (TournamentState.SCHEDULED, TournamentState.RUNNING, TournamentState.PAUSED)


class Unknown(Refused):
    """Nobody, and no bot, of this name."""


@dataclass
class Moderated:
    """What moderation has changed, and what is still to be done elsewhere."""

    author_id: int
    author: str
    changed: list[VersionChanged] = field(default_factory=list)
    entered: list[tuple[int, int]] = field(default_factory=list)  # tournaments, and as whom


def disable_bot(session: Session, name: str, reason: str) -> Moderated:
    """Take a bot off the ladder; its author cannot bring it back."""
    bot = find_bot(session, name)
    bot.disabled = printable(reason)
    session.add(bot)
    done = Moderated(bot.author_id, session.get_one(Author, bot.author_id).name)
    take_off(session, [bot], done, VersionCause.BOT_DISABLED, text=reason)
    return done


def enable_bot(session: Session, name: str) -> Moderated:
    """Let a bot play again; the version that was taken off is checked again before it does."""
    bot = find_bot(session, name)
    author = session.get_one(Author, bot.author_id)
    if author.disabled:
        raise Refused(f"{author.name}, the author of {name}, is disabled: enable the author first")
    bot.disabled = None
    session.add(bot)
    done = Moderated(bot.author_id, author.name)
    _bring_back(session, bot, done)
    return done


def disable_author(session: Session, name: str, reason: str, by: int) -> Moderated:
    """Shut an author out, and take their bots off the ladder; tokens are not valid meanwhile."""
    author = _author(session, name)
    check_may(author, by)
    author.disabled = True
    session.add(author)
    done = Moderated(id_of(author), author.name)
    bots = bots_of(session, author)
    take_off(session, bots, done, VersionCause.AUTHOR_DISABLED, text=reason)
    return done


def enable_author(session: Session, name: str) -> Moderated:
    """Let an author in again, with the bots that were taken off; not those disabled themselves."""
    author = _author(session, name)
    if author.removed:
        raise Refused(f"{name} was removed, and nothing is left to enable")
    author.disabled = False
    session.add(author)
    done = Moderated(id_of(author), author.name)
    for bot in bots_of(session, author):
        if bot.disabled is None:
            _bring_back(session, bot, done)
    return done


def find_author(session: Session, name: str) -> Author:
    """Return the author of this name."""
    author = session.exec(select(Author).where(Author.name == name)).first()
    if author is None:
        raise Unknown(f"there is no author {name!r} on this ladder")
    return author


def rerate(session: Session) -> Comparison:
    """Work all ratings out again, and store them if any differed. No result comes meanwhile."""
    lock_ledger(session)
    allow_pauses(session)  # thousands of matches are rated between two statements
    found, _ = compare(session)
    if not found.equal:
        replace(session)
    return found


@dataclass(frozen=True)
class Stock:
    """How much there is of everything."""

    matches: int
    waiting: int
    checking: int
    unchecked: list[str]  # bots with the numbers of their versions; of very many only the first
    authors: int
    bots: int


def take_stock(session: Session) -> Stock:
    """Count what the operator wants to know."""
    job, version = JOB, VERSION
    return Stock(
        matches=matches_stored(session),
        waiting=_count(session, job, job.c.state == JobState.WAITING),
        checking=_count(session, version, version.c.state == VersionState.CHECKING),
        unchecked=_unchecked(session),
        authors=_count(session, AUTHOR),
        bots=_count(session, BOT),
    )


def _unchecked(session: Session) -> list[str]:
    query = (
        select(Bot.name, Version.number)
        .join(Version, col(Version.bot_id) == Bot.id)
        .where(col(Version.state) == VersionState.UNCHECKED)
        .order_by(col(Version.id))
        .limit(_MOST_NAMED)
    )
    return [f"{bot} {number}" for bot, number in session.exec(query)]


def _count(session: Session, table: sql.Table, *where: ColumnElement[bool]) -> int:
    query = sql.select(sql.func.count()).select_from(table).where(*where)
    return int(session.execute(query).scalar_one())


def check_may(author: Author, by: int) -> None:
    """Raise if somebody may not shut this author out."""
    if author.house:
        raise Refused(f"{author.name} is the ladder's own author: disable single bots instead")
    if author.id == by:
        raise Refused("nobody can shut themselves out: let another administrator do it")


def take_off(
    session: Session, bots: list[Bot], done: Moderated, cause: VersionCause, **details: Detail
) -> None:
    """Retire the versions that play or are about to, and call off their matches."""
    for bot in bots:
        for version in reversed(versions_in(session, bot, states_before(cause))):
            done.changed.append(change_state(session, bot, version, cause, **details))
    all_of_them = select(Version.id).where(col(Version.bot_id).in_([id_of(bot) for bot in bots]))
    _call_off(session, col(JobEntrant.version_id).in_(all_of_them))
    entered = (
        select(TournamentEntrant.tournament_id, TournamentEntrant.number)
        .join(TournamentRecord, col(TournamentRecord.id) == TournamentEntrant.tournament_id)
        .where(
            col(TournamentRecord.state).in_(_TO_COME),
            col(TournamentEntrant.version_id).in_(all_of_them),
        )
        .order_by(col(TournamentEntrant.tournament_id), col(TournamentEntrant.number))
    )
    done.entered = list(session.exec(entered))


def _call_off(session: Session, whose: ColumnElement[bool]) -> None:
    """Let nobody play what waits. What is under way is played to its end, and counts."""
    waiting = col(Job.state).in_((JobState.WAITING, JobState.HELD))
    theirs = col(Job.id).in_(select(JobEntrant.job_id).where(whose))
    for purpose in Purpose:
        session.execute(
            update(Job)
            .where(waiting, theirs, col(Job.purpose) == purpose)
            .values(state=called_off(purpose), **trouble_values(JobTrouble.CALLED_OFF))
            .execution_options(synchronize_session=False)
        )


def _bring_back(session: Session, bot: Bot, done: Moderated) -> None:
    """Have the newest version checked that was taken off; our own bots just play."""
    query = (
        select(Version)
        .where(
            Version.bot_id == bot.id,
            Version.state == VersionState.RETIRED,
            col(Version.cause).in_(_DISABLED),
        )
        .order_by(col(Version.number).desc())
        .with_for_update(key_share=True)
    )
    version = session.exec(query).first()
    if version is None:
        return
    if version.built_in is not None:
        done.changed += activate(session, version)
    else:
        done.changed.append(change_state(session, bot, version, VersionCause.ENABLED))


def find_bot(session: Session, name: str) -> Bot:
    """Return the bot of this name, held until the transaction ends."""
    query = select(Bot).where(Bot.name == name).with_for_update(key_share=True)
    bot = session.exec(query).first()
    if bot is None:
        raise Unknown(f"there is no bot {name!r} on this ladder")
    return bot


def _author(session: Session, name: str) -> Author:
    author = find_author(session, name)
    session.refresh(author, with_for_update={"key_share": True})
    return author


def bots_of(session: Session, author: Author) -> list[Bot]:
    """Return the bots of an author, held until the transaction ends."""
    query = select(Bot).where(Bot.author_id == author.id).order_by(col(Bot.id))
    return list(session.exec(query.with_for_update(key_share=True)))


def id_of(row: Author | Bot | Version) -> int:
    """Return the id of a row that is stored."""
    assert row.id is not None
    return row.id
