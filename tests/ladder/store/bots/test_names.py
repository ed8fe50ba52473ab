"""Nobody passes for somebody else by a dot, a zero, or by registering a user's name."""

from __future__ import annotations

import pytest

from keltis_bots.manifest import Manifest
from keltis_ladder.match.entrants import BUILT_IN
from keltis_ladder.store.archives import Kept
from keltis_ladder.store.bots.accounts import RESERVED, Taken, bearer_of, new_token, register
from keltis_ladder.store.bots.catalogue import (
    HOUSE,
    NAMELESS,
    Refused,
    ensure_author,
    ensure_bot,
    ensure_house_bots,
    local_author,
)
from keltis_ladder.store.bots.forgetting import remove_author
from keltis_ladder.store.bots.names import fold
from keltis_ladder.store.bots.submissions import submit
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Author


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("greedy.", "greedy"),
        ("search_", "search"),
        ("keltis-ladder.", "keltis-ladder"),
        ("m0rgan", "morgan"),
        ("bi11", "bill"),
        ("b-o.t_1", "botl"),
        ("Gwyn", "gwyn"),
        ("ｇｗｙｎ", "gwyn"),
    ],
)
def test_names_that_look_alike_fold_to_the_same(name: str, other: str) -> None:
    assert fold(name) == fold(other)


def test_names_that_do_not_look_alike_stay_apart() -> None:
    names = ["gwyn", "gwen", "bot-2", "bot-3", "a", "b", *BUILT_IN, HOUSE]
    assert len({fold(name) for name in names}) == len(names)


def test_an_author_cannot_register_a_name_that_looks_like_another(database: Database) -> None:
    with database.writing() as session:
        register(session, "morgan", new_token(), now())
    for name in ("m0rgan", "mor.gan", "morgan-", "mo_rg-an"):
        with pytest.raises(Taken, match="'morgan'"), database.writing() as session:
            register(session, name, new_token(), now())
    with pytest.raises(Taken, match="is taken"), database.writing() as session:
        register(session, "morgan", new_token(), now())


@pytest.mark.parametrize(
    "name", [*RESERVED, "keltis-ladder.", "r00t", "greedy.", "removed-1", "0perat0r"]
)
def test_reserved_names_are_refused_in_every_form(database: Database, name: str) -> None:
    with pytest.raises(Taken, match="reserved"), database.writing() as session:
        register(session, name, new_token(), now())


@pytest.mark.parametrize("name", ["greedy.", "search_", "rand0m", "gr-eedy"])
def test_a_bot_cannot_look_like_one_of_ours(database: Database, name: str) -> None:
    with database.writing() as session:
        author = register(session, "gwyn", new_token(), now()).author_id
    manifest = Manifest(name, ("python3", "bot.py"))
    with pytest.raises(Refused, match="looks like"), database.writing() as session:
        submit(session, author, manifest, Kept("digest", 7), 3, 7)


def test_a_bot_cannot_look_like_another_whoever_owns_it(database: Database) -> None:
    with database.writing() as session:
        ensure_bot(session, ensure_author(session, "gwyn"), "bot-1")
    for owner in ("gwyn", "morgan"):
        with pytest.raises(Refused, match="too much like 'bot-1'"), database.writing() as session:
            ensure_bot(session, ensure_author(session, owner), "bot_l")


def test_our_own_bots_have_their_names_whatever_was_there_before(database: Database) -> None:
    with database.writing() as session:
        stranger = ensure_author(session, "keltis_ladder")
        ensure_bot(session, stranger, "greedy.")
    with database.writing() as session:
        assert len(ensure_house_bots(session)) == len(BUILT_IN)


def test_a_user_of_the_machine_is_not_whoever_registered_their_name(database: Database) -> None:
    text = new_token()
    with database.writing() as session:
        stranger = register(session, "gwyn", text, now()).author_id
        mine = local_author(session, "gwyn")
        assert (mine.id, mine.name) != (stranger, "gwyn")
        assert mine.name == "gwyn-local"
        assert local_author(session, "gwyn").id == mine.id
        bearer = bearer_of(session, text, now())
        assert bearer is not None
        assert bearer.author_id == stranger


def test_a_user_of_the_machine_is_the_same_author_every_time(database: Database) -> None:
    with database.writing() as session:
        first = local_author(session, "Gwyn ap Nudd")
        assert (first.name, first.local_user) == ("gwyn-ap-nudd", "Gwyn ap Nudd")
        assert local_author(session, "root").name == "root"
    with database.writing() as session:
        assert local_author(session, "Gwyn ap Nudd").id == first.id


def test_a_user_without_a_name_is_the_same_author_for_server_and_command(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr("getpass.getuser", unknown)
    with database.writing() as session:
        assert local_author(session).local_user == NAMELESS


def test_the_name_of_a_removed_author_is_free_in_all_its_forms(database: Database) -> None:
    with database.writing() as session:
        gone = register(session, "gwyn", new_token(), now()).author_id
        ensure_bot(session, session.get_one(Author, gone), "owl")
        remove_author(session, gone, by=0, now=now())
    with database.writing() as session:
        again = register(session, "gw-yn", new_token(), now()).author_id
        ensure_bot(session, session.get_one(Author, again), "o-w-l")
        assert session.get_one(Author, gone).folded == f"removed{gone}".translate(
            {48: "o", 49: "l"}
        )
