"""What requests name: found, or a problem that says what there is instead."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final, NamedTuple

from sqlmodel import Session

from keltis_ladder.store.bots.accounts import TokenScope
from keltis_ladder.store.bots.browsing import bot_row, find_bot, names_beside
from keltis_ladder.store.matches.tournaments import find_tournament
from keltis_ladder.store.schema.tables import TournamentRecord
from keltis_server.http.auth import Call
from keltis_server.http.problems import Problem, forbidden, not_found

COMPARED: Final = 25  # names before and after one that does not exist


class KnownBot(NamedTuple):
    """A bot, and whose it is."""

    id: int
    name: str
    author_id: int


def the_bot(session: Session, name: str) -> KnownBot:
    """Return a bot and whose it is; raise if there is none, with names that are close."""
    found = find_bot(session, name)
    if found is None or found.id is None:
        raise no_bot(session, name)
    return KnownBot(found.id, found.name, found.author_id)


def no_bot(session: Session, name: str) -> Problem:
    """Return the problem that there is no such bot."""
    # To compare two names takes a while: on a large ladder those that begin alike have to do.
    close = get_close_matches(name, names_beside(session, name, COMPARED))
    hint = f": do you mean {' or '.join(close)}?" if close else ""
    return not_found(f"there is no bot {name!r} on this ladder{hint}")


def the_version(session: Session, name: str) -> tuple[int, int]:
    """Return the id and number of the version of a bot that plays, or of its newest one."""
    row = bot_row(session, name)
    if row is None or row.version.id is None:
        raise no_bot(session, name)
    return row.version.id, row.version.number


def the_tournament(session: Session, name: str) -> TournamentRecord:
    """Return a tournament; raise if there is none."""
    record = find_tournament(session, name)
    if record is None:
        raise not_found(f"there is no tournament {name!r}: /api/v1/tournaments lists them")
    return record


def number_after(text: str) -> int | None:
    """Return the number after which a list goes on; none if it begins."""
    if not text:
        return None
    if not text.isdecimal() or len(text) > 16:
        raise no_page(text)
    return int(text)


def no_page(after: str) -> Problem:
    """Return the problem that no page of this list ends like this."""
    return not_found(f"there is no page after {after!r}: take the next of a page before")


def require_owner(call: Call, author_id: int, what: str) -> None:
    """Raise unless the caller is this author, or an administrator."""
    caller = call.author
    if caller.author_id != author_id and TokenScope.ADMIN not in caller.scopes:
        raise forbidden(f"{what} is somebody else's")


def require_reader(call: Call, author_id: int) -> None:
    """Raise unless the caller may see what only this author may."""
    if not call.may_read_of(author_id):
        raise forbidden("only the author of the bot may see this")
