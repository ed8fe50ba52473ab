"""Accounts are opened once, tokens are kept as digests, an invitation opens one account."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlmodel import select

from keltis_ladder.store.bots import accounts
from keltis_ladder.store.bots.accounts import (
    AUTHOR_SCOPES,
    MOST_TOKENS,
    BadInvitation,
    Taken,
    TokenScope,
    add_token,
    bearer_of,
    bots_of,
    invite,
    new_invitation,
    new_token,
    open_account,
    register,
    revoke_token,
    tokens_of,
)
from keltis_ladder.store.bots.catalogue import HOUSE, Refused
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.tables import Author, Token
from tests.ladder.store.support.crowd import together
from tests.ladder.store.support.ladders import NOON, dump, enter, later


def test_whoever_registers_is_known_by_the_token_and_only_its_digest_is_kept(
    database: Database,
) -> None:
    text = new_token()
    with database.writing() as session:
        register(session, "ada", text, NOON, label="laptop")
    with database.reading() as session:
        bearer = bearer_of(session, text, later(1))
        assert bearer is not None
        assert (bearer.name, bearer.house) == ("ada", False)
        assert bearer.scopes == frozenset(AUTHOR_SCOPES)
        assert bearer_of(session, text + "x", later(1)) is None
        assert [token.label for token in tokens_of(session, bearer.author_id, NOON)] == ["laptop"]
    assert text.startswith(accounts.TOKEN_PREFIX)
    assert text not in repr(dump(database))


def test_registering_again_because_the_answer_was_lost_finds_it_done(database: Database) -> None:
    with database.writing() as session:
        _, invitation = invite(session, NOON)
    text = new_token()
    for _ in range(2):  # as after a commit that was cut off
        with database.writing() as session:
            register(session, "ada", text, NOON, invitation)
    with database.reading() as session:
        assert len(session.exec(select(Author)).all()) == 1
        assert len(session.exec(select(Token)).all()) == 1
    with database.writing() as session, pytest.raises(Taken):
        register(session, "ada", new_token(), NOON)


@pytest.mark.parametrize("name", ["", "Ada", "-ada", "a b", "a" * 41, "ada\n", "ada\0", "äda"])
def test_a_name_that_would_not_do_for_a_bot_will_not_do(database: Database, name: str) -> None:
    with database.writing() as session, pytest.raises(Refused, match="invalid name"):
        open_account(session, name, NOON)


@pytest.mark.parametrize("name", [HOUSE, "admin", "removed-7", "ada"])
def test_names_that_mean_something_or_somebody_are_taken(database: Database, name: str) -> None:
    with database.writing() as session:
        open_account(session, "ada", NOON)
    with database.writing() as session, pytest.raises(Taken):
        open_account(session, name, NOON)


def test_of_many_who_want_one_name_at_once_one_gets_it(url: str) -> None:
    def attempt(database: Database, number: int) -> bool:
        try:
            database.write(lambda session: register(session, "ada", f"klt_{number}", NOON))
        except Taken:
            return False
        return True

    assert sorted(together(url, 6, attempt)) == [False] * 5 + [True]


def test_a_token_ends_when_it_is_revoked_or_too_old_or_its_author_is_shut_out(
    database: Database,
) -> None:
    with database.writing() as session:
        ada, bob = (open_account(session, name, NOON) for name in ("ada", "bob"))
        first, first_text = add_token(session, ada, AUTHOR_SCOPES, NOON)
        _, short = add_token(session, ada, [TokenScope.READ], NOON, expires=later(10))
        assert ada.id is not None
        assert bob.id is not None
        assert first.id is not None
        assert bearer_of(session, short, later(9)) is not None
        assert bearer_of(session, short, later(10)) is None
        assert len(tokens_of(session, ada.id, later(9))) == 2
        assert len(tokens_of(session, ada.id, later(10))) == 1
        assert not revoke_token(session, bob.id, first.id, NOON)  # it is not his
        assert bearer_of(session, first_text, NOON) is not None
        assert revoke_token(session, ada.id, first.id, NOON)
        assert not revoke_token(session, ada.id, first.id, NOON)
        assert bearer_of(session, first_text, NOON) is None
        _, third = add_token(session, ada, [TokenScope.READ], NOON)
        ada.disabled = True
        session.add(ada)
        session.flush()
        assert bearer_of(session, third, NOON) is None


def test_nobody_has_more_tokens_than_can_be_looked_through(database: Database) -> None:
    with database.writing() as session:
        ada = open_account(session, "ada", NOON)
        token, _ = add_token(session, ada, [TokenScope.READ], NOON)
        for _ in range(MOST_TOKENS - 1):
            add_token(session, ada, [TokenScope.READ], NOON)
        with pytest.raises(Refused, match="revoke one"):
            add_token(session, ada, [TokenScope.READ], NOON)
        assert ada.id is not None
        assert token.id is not None
        revoke_token(session, ada.id, token.id, NOON)
        add_token(session, ada, [TokenScope.READ], NOON)


def test_an_invitation_opens_one_account_and_none_if_it_is_too_old(database: Database) -> None:
    with database.writing() as session:
        _, good = invite(session, NOON, "for Ada")
        _, old = invite(session, NOON, expires=later(60))
        same = new_invitation()
        assert invite(session, NOON, text=same)[0].id == invite(session, NOON, text=same)[0].id
    with database.writing() as session:
        register(session, "ada", new_token(), NOON, good)
    for text, why in [(good, "used before"), (old, "too old"), ("kli_made-up", "no such")]:
        with pytest.raises(BadInvitation, match=why), database.writing() as session:
            register(session, "bob", new_token(), NOON + timedelta(minutes=1), text)
    with database.reading() as session:  # who was refused has left nothing
        assert [author.name for author in session.exec(select(Author))] == ["ada"]
    assert good not in repr(dump(database))


def test_one_invitation_used_by_many_at_once_opens_one_account(
    url: str, database: Database
) -> None:
    with database.writing() as session:
        _, text = invite(session, NOON)

    def attempt(database: Database, number: int) -> bool:
        try:
            database.write(
                lambda session: register(session, f"a{number}", f"klt_{number}", NOON, text)
            )
        except BadInvitation:
            return False
        return True

    assert sorted(together(url, 5, attempt)) == [False] * 4 + [True]


def test_an_author_has_the_bots_that_are_theirs(database: Database) -> None:
    with database.writing() as session:
        enter(session, "b", "a", author="ada")
        enter(session, "c", author="bob")
        ada = session.exec(select(Author).where(Author.name == "ada")).one()
        assert ada.id is not None
        assert bots_of(session, ada.id) == ["a", "b"]
