"""Accounts: who may open one, and the tokens that authors show to be let in.

A token is a random text of which only the digest is kept. It is long enough that a plain digest
will do: nobody can try them all, as one can with passwords.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlmodel import Session, col, select

from keltis_ladder.match.entrants import BUILT_IN
from keltis_ladder.store.bots.catalogue import HOUSE, Refused, too_alike
from keltis_ladder.store.bots.names import fold, look_alike
from keltis_ladder.store.database import insert_if_new
from keltis_ladder.store.schema.relations import AUTHOR
from keltis_ladder.store.schema.tables import Author, Bot, Invitation, Token

TOKEN_PREFIX: Final = "klt_"  # so that people and scanners of leaked secrets know what it is
INVITATION_PREFIX: Final = "kli_"
_RANDOM_BYTES: Final = 32
AUTHOR_PATTERN: Final = r"[a-z0-9][a-z0-9._-]{0,39}"
RESERVED: Final = (
    *(HOUSE, "keltis", "ladder", "house", *BUILT_IN),
    *("admin", "administrator", "moderator", "operator", "root", "system", "support", "official"),
    *("anonymous", "everybody", "nobody", "somebody", "all", "null", "none", "me", "local"),
)
_RESERVED: Final = frozenset(map(fold, RESERVED))
REMOVED: Final = "removed-"  # how the names begin that removed authors and bots are left with
MOST_TOKENS: Final = 50  # of one author that are valid


class TokenScope(StrEnum):
    """What a token lets its bearer do. What everybody may see needs none."""

    READ = "read"  # own logs, crash cards, time profile, hands of own bots
    SUBMIT = "submit"  # upload and retire bots
    PLAY = "play"  # challenges and tournaments
    ACCOUNT = "account"  # make and revoke tokens
    ADMIN = "admin"  # everything, for everybody


AUTHOR_SCOPES: Final = (TokenScope.READ, TokenScope.SUBMIT, TokenScope.PLAY, TokenScope.ACCOUNT)


class Taken(Refused):
    """A name that somebody has already."""


class BadInvitation(Refused):
    """An invitation that does not exist, was used, or is too old."""


@dataclass(frozen=True)
class Bearer:
    """Whose token it was, and what it allows."""

    author_id: int
    name: str
    house: bool
    scopes: frozenset[str]
    token_id: int | None = None  # none: not by a token of the database
    expires: datetime | None = None  # when the token ends


def new_token() -> str:
    """Return the text of a token that nobody has."""
    return TOKEN_PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def new_invitation() -> str:
    """Return the text of an invitation that nobody has."""
    return INVITATION_PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def register(
    session: Session,
    name: str,
    text: str,
    now: datetime,
    invitation: str | None = None,
    label: str = "",
) -> Token:
    """Open an account with this text as its first token, and use up the invitation if there is one.

    A client that does it again because the answer was lost comes with the same text: it is done.
    """
    done = _token(session, text)
    if done is not None:
        return done
    author = open_account(session, name, now)
    if invitation is not None:
        use_invitation(session, invitation, author, now)
    return add_token(session, author, AUTHOR_SCOPES, now, label, text=text)[0]


def open_account(session: Session, name: str, now: datetime) -> Author:
    """Open an account under a name that nobody has."""
    if not re.fullmatch(AUTHOR_PATTERN, name):
        raise Refused(
            f"invalid name {name!r}: use 1 to 40 small letters, digits, dots, dashes and "
            "underscores, the first a letter or digit"
        )
    if fold(name) in _RESERVED or fold(name).startswith(fold(REMOVED)):
        raise Taken(f"the name {name!r} is reserved, or looks like one that is: choose another")
    alike = look_alike(session, Author, name)
    if alike not in (None, name):
        raise Taken(too_alike(name, alike or name))
    new = Author(name=name, folded=fold(name), created=now)
    row = new.model_dump(exclude={"id"})
    if alike is not None or not insert_if_new(session, AUTHOR, row):
        raise Taken(f"the name {name!r} is taken: choose another, or log in with your token")
    return session.exec(select(Author).where(Author.name == name)).one()


def add_token(
    session: Session,
    author: Author,
    scopes: Iterable[TokenScope],
    now: datetime,
    label: str = "",
    expires: datetime | None = None,
    text: str | None = None,
    made_by: int | None = None,
) -> tuple[Token, str]:
    """Make a token; its text is returned this once and never again.

    With a ``text`` of one's own, to do it twice is the same as once. One that is made by another
    token ends with it: else the holder of a token for a day would have one for ever.
    """
    assert author.id is not None
    text = text or new_token()
    done = _token(session, text)
    if done is not None:
        return done, text
    session.get(Author, author.id, with_for_update={"key_share": True})  # one at a time are counted
    if len(tokens_of(session, author.id, now)) >= MOST_TOKENS:
        raise Refused(f"there are {MOST_TOKENS} tokens already: revoke one that is not used")
    if made_by is not None:
        maker = session.get_one(Token, made_by, populate_existing=True)
        if maker.revoked is not None:
            raise Refused("the token that should make another has ended")
        ends = [each for each in (expires, maker.expires) if each is not None]
        expires = min(ends, default=None)
    token = Token(
        author_id=author.id,
        made_by=made_by,
        label=label,
        digest=digest_of(text),
        scopes=sorted(map(str, scopes)),
        created=now,
        expires=expires,
    )
    session.add(token)
    session.flush()
    return token, text


def tokens_of(session: Session, author_id: int, now: datetime) -> list[Token]:
    """Return an author's tokens that are valid, the oldest first."""
    query = select(Token).where(
        Token.author_id == author_id,
        col(Token.revoked).is_(None),
        col(Token.expires).is_(None) | (col(Token.expires) > now),
    )
    return list(session.exec(query.order_by(col(Token.id))))


def revoke_token(session: Session, author_id: int, token_id: int, now: datetime) -> list[int]:
    """End a token of an author and what was made by it; return which ended, none if it had."""
    session.get(Author, author_id, with_for_update={"key_share": True})  # none is made meanwhile
    query = select(Token).where(Token.author_id == author_id, col(Token.revoked).is_(None))
    living = list(session.exec(query.order_by(col(Token.id)).with_for_update()))
    ended: list[int] = []
    for token in living:  # makers come before what they made
        if token.id == token_id or token.made_by in ended:
            assert token.id is not None
            token.revoked = now
            session.add(token)
            ended.append(token.id)
    return ended


def bearer_of(session: Session, text: str, now: datetime) -> Bearer | None:
    """Return whose token this is; nobody's if it is unknown, revoked, too old, or shut out."""
    query = (
        select(Token, Author)
        .join(Author, col(Author.id) == Token.author_id)
        .where(Token.digest == digest_of(text))
    )
    found = session.exec(query).first()
    if found is None:
        return None
    token, author = found
    late = token.expires is not None and token.expires <= now
    if token.revoked is not None or late or author.disabled:
        return None
    assert author.id is not None
    scopes = frozenset(token.scopes)
    return Bearer(author.id, author.name, author.house, scopes, token.id, token.expires)


def invite(
    session: Session,
    now: datetime,
    label: str = "",
    expires: datetime | None = None,
    text: str | None = None,
) -> tuple[Invitation, str]:
    """Make an invitation; its text is returned this once and never again.

    With a ``text`` of one's own, to do it twice is the same as once.
    """
    text = text or new_invitation()
    query = select(Invitation).where(Invitation.digest == digest_of(text))
    invitation = session.exec(query).first()
    if invitation is None:
        invitation = Invitation(digest=digest_of(text), label=label, created=now, expires=expires)
        session.add(invitation)
        session.flush()
    return invitation, text


def use_invitation(session: Session, text: str, author: Author, now: datetime) -> None:
    """Use up an invitation for an account."""
    query = select(Invitation).where(Invitation.digest == digest_of(text)).with_for_update()
    invitation = session.exec(query).first()
    if invitation is None:
        raise BadInvitation("there is no such invitation: ask the operator for one")
    if invitation.used is not None:
        raise BadInvitation("this invitation was used before: each opens one account")
    if invitation.expires is not None and invitation.expires <= now:
        raise BadInvitation("this invitation is too old: ask for a new one")
    invitation.used = now
    invitation.author_id = author.id
    session.add(invitation)


def bots_of(session: Session, author_id: int) -> list[str]:
    """Return the names of an author's bots."""
    query = select(Bot.name).where(Bot.author_id == author_id).order_by(col(Bot.name))
    return list(session.exec(query))


def _token(session: Session, text: str) -> Token | None:
    return session.exec(select(Token).where(Token.digest == digest_of(text))).first()


def digest_of(text: str) -> str:
    """Return what is kept of a token or an invitation."""
    return hashlib.sha256(text.encode()).hexdigest()
