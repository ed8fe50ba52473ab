"""Authors, bots and their versions."""

from __future__ import annotations

import getpass
import re
from collections.abc import Collection, Iterable
from importlib import metadata
from itertools import count
from typing import Final

from sqlmodel import Session, col, select

from keltis_ladder.errors import LadderError
from keltis_ladder.match.entrants import BUILT_IN, built_in
from keltis_ladder.store.bots.names import fold, free_fold, look_alike
from keltis_ladder.store.database import insert_if_new
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.relations import AUTHOR, BOT
from keltis_ladder.store.schema.tables import Author, Bot, Version
from keltis_ladder.store.schema.version_states import (
    Detail,
    VersionCause,
    VersionChanged,
    VersionState,
    change_state,
    states_before,
)

HOUSE: Final = "keltis-ladder"  # the author of our own bots
NAMELESS: Final = "nobody"  # a user without a name, as containers have them
LONGEST_USER: Final = 30  # characters of a user's name in the name of their account


class Refused(LadderError):
    """Something that the catalogue does not allow; the text says why."""


def too_alike(name: str, other: str) -> str:
    """Say why a name is refused that looks like another."""
    return f"the name {name!r} looks too much like {other!r}, which is taken: choose another"


def ensure_author(session: Session, name: str, house: bool = False) -> Author:
    """Return the author of this name, new if need be. Who has a name is not proved by it."""
    query = select(Author).where(Author.name == name)
    author = session.exec(query).first()
    if author is None:
        folded = free_fold(session, Author, name)
        new = Author(name=name, folded=folded, house=house, created=now())
        insert_if_new(session, AUTHOR, new.model_dump(exclude={"id"}))
        author = session.exec(query).one()
    return author


def local_author(session: Session, user: str | None = None) -> Author:
    """Return the author who is this user of the machine, or the one who runs us, new if need be.

    Known by the user's name in a column of its own: the account of somebody who has registered
    that name is another one. Then theirs is called otherwise.
    """
    user = user or _our_user()
    query = select(Author).where(Author.local_user == user)
    author = session.exec(query).first()
    if author is None:
        name = _free_author_name(session, user)
        new = Author(name=name, folded=fold(name), local_user=user, created=now())
        insert_if_new(session, AUTHOR, new.model_dump(exclude={"id"}))
        author = session.exec(query).one()
    return author


def _our_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return NAMELESS


def _free_author_name(session: Session, user: str) -> str:
    """Return a name for a user of the machine that is nobody's, and looks like nobody's."""
    plain = re.sub(r"[^a-z0-9._-]", "-", user.lower()).lstrip("._-")[:LONGEST_USER] or "user"
    for number in count():
        name = plain if not number else f"{plain}-local{number if number > 1 else ''}"
        if look_alike(session, Author, name) is None:
            return name
    raise AssertionError("one of all numbers is free")


def ensure_bot(session: Session, author: Author, name: str) -> Bot:
    """Return the author's bot of this name, new if need be.

    It is ours until the transaction ends: nobody else adds a version to it meanwhile.
    """
    query = select(Bot).where(Bot.name == name).with_for_update(key_share=True)
    bot = session.exec(query).first()
    if bot is None:
        assert author.id is not None
        # Our own bots have their names whatever else there is.
        alike = None if author.house else look_alike(session, Bot, name)
        if alike not in (None, name):  # the same one may have been entered a moment ago
            raise Refused(too_alike(name, alike or name))
        folded = free_fold(session, Bot, name) if author.house else fold(name)
        new = Bot(author_id=author.id, name=name, folded=folded, created=now())
        if not insert_if_new(session, BOT, new.model_dump(exclude={"id"})):
            bot = session.exec(query).first()  # somebody has just entered it, or one like it
            if bot is None:
                raise Refused(too_alike(name, look_alike(session, Bot, name) or name))
        bot = session.exec(query).one()
    if bot.author_id != author.id:
        raise Refused(f"the name {name!r} belongs to a bot of another author: choose another")
    return bot


def add_version(
    session: Session,
    bot: Bot,
    variants: Iterable[str],
    players: Iterable[int],
    archive: str | None = None,
    program: str | None = None,
    cause: VersionCause = VersionCause.UPLOADED,
    description: str = "",
) -> tuple[Version, list[VersionChanged]]:
    """Add a version of a bot, which is to be checked or plays at once, as its cause says.

    Return it, and what has changed; its predecessor is the one before.
    """
    assert bot.id is not None
    newest = newest_version(session, bot)
    version = Version(
        bot_id=bot.id,
        number=newest.number + 1 if newest else 1,
        predecessor_id=newest.id if newest else None,
        archive_digest=archive,
        built_in=program,
        variants=list(variants),
        players=list(players),
        description=description,
        created=now(),
    )
    if cause is VersionCause.ENTERED:
        return version, activate(session, version, cause)
    return version, [change_state(session, bot, version, cause)]


def newest_version(session: Session, bot: Bot) -> Version | None:
    """Return the latest upload of a bot, whatever its state."""
    query = select(Version).where(Version.bot_id == bot.id).order_by(col(Version.number).desc())
    return session.exec(query).first()


def activate(
    session: Session, version: Version, cause: VersionCause = VersionCause.ENTERED
) -> list[VersionChanged]:
    """Let a version play; the bot's versions that played so far make room for it."""
    bot = session.get_one(Bot, version.bot_id)
    if bot.disabled is not None:
        raise Refused(f"{bot.name} is disabled by the operator: {bot.disabled}")
    playing = versions_in(session, bot, {VersionState.ACTIVE})
    others = [other for other in playing if other.id != version.id]
    for other in others:
        if other.number > version.number:
            raise Refused(f"version {other.number} is newer than version {version.number}")
    superseded = [
        change_state(session, bot, other, VersionCause.NEWER_PLAYS, version=version.number)
        for other in others
    ]
    return [change_state(session, bot, version, cause), *superseded]


def versions_in(session: Session, bot: Bot, states: Collection[VersionState]) -> list[Version]:
    """Return the versions of a bot in these states, the newest first, held."""
    query = (
        select(Version)
        .where(Version.bot_id == bot.id, col(Version.state).in_(states))
        .order_by(col(Version.number).desc())
        .with_for_update(key_share=True)
    )
    return list(session.exec(query))


def set_aside(
    session: Session, version_id: int, cause: VersionCause, **details: Detail
) -> VersionChanged | None:
    """Take a version off the ladder; its results stay. None: it does not play any more anyway."""
    version = session.get(
        Version, version_id, with_for_update={"key_share": True}, populate_existing=True
    )
    if version is None:
        raise Refused(f"there is no version with the id {version_id}")
    bot = session.get_one(Bot, version.bot_id)
    if bot.removed or version.state not in states_before(cause):
        return None
    return change_state(session, bot, version, cause, **details)


def ensure_house_bots(session: Session, names: Iterable[str] = BUILT_IN) -> list[Version]:
    """Return our own bots, which are put on the ladder if need be: again with each release."""
    author = ensure_author(session, HOUSE, house=True)
    versions = []
    for name in names:
        bot = ensure_bot(session, author, name)
        version = newest_version(session, bot)
        program = f"{name} {metadata.version('keltis-ladder')}"
        if version is None or (version.built_in != program and bot.disabled is None):
            entrant = built_in(name)
            version, _ = add_version(
                session,
                bot,
                variants=entrant.variants,
                players=entrant.players,
                program=program,
                cause=VersionCause.ENTERED,
            )
        versions.append(version)
    return versions


def guests_on_ladder(session: Session) -> list[str]:
    """Return the bots on the ladder whose programs are not ours."""
    query = (
        select(Bot.name)
        .join(Version, col(Version.bot_id) == Bot.id)
        .where(Version.state == VersionState.ACTIVE, col(Version.archive_digest).is_not(None))
        .order_by(col(Bot.name))
    )
    return list(session.exec(query))


def predecessors(session: Session) -> dict[int, int | None]:
    """Return what every version descends from."""
    rows = session.exec(select(col(Version.id), col(Version.predecessor_id)))
    return {version: before for version, before in rows if version is not None}


def all_versions(session: Session) -> list[tuple[Version, Bot, Author]]:
    """Return every version with its bot and author: by name, the newest of a bot first."""
    query = (
        select(Version, Bot, Author)
        .join(Bot, col(Bot.id) == Version.bot_id)
        .join(Author, col(Author.id) == Bot.author_id)
        .order_by(col(Bot.name), col(Version.number).desc())
    )
    return [(version, bot, author) for version, bot, author in session.exec(query)]
