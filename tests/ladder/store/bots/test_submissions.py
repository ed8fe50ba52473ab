"""Versions come in, wait for their check, and end it as what they are by then."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlmodel import Session, col, select

from keltis_bots.manifest import Manifest
from keltis_ladder.store.archives import Kept
from keltis_ladder.store.bots.catalogue import (
    Refused,
    ensure_author,
    ensure_house_bots,
)
from keltis_ladder.store.bots.moderation import Unknown
from keltis_ladder.store.bots.submissions import (
    CheckFindings,
    Submitted,
    TooManyBots,
    conclude,
    owner_of,
    report_of,
    restore,
    subject,
    submit,
    take_back,
    waiting,
)
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Author, Bot, CheckReport, Version
from keltis_ladder.store.schema.version_states import VersionCause, change_state
from tests.ladder.store.support.crowd import together

MANIFEST = Manifest("one", ("python3", "bot.py"), variants=("keltis",), players=(2,))
NO_REPORT = CheckFindings([], "", now(), now())
MOST = 3
LOTS = 10**9  # bytes that may be kept


def come_in(session: Session, program: str, name: str = "one", author: str = "ada") -> Submitted:
    """Submit a program; its digest is its name."""
    owner = ensure_author(session, author)
    session.flush()
    assert owner.id is not None
    return submit(session, owner.id, replace(MANIFEST, name=name), Kept(program, 7), MOST, LOTS)


def id_of(submitted: Submitted) -> int:
    found = submitted.row.version.id
    assert found is not None
    return found


def waits(session: Session) -> list[int]:
    return [each.version_id for each in waiting(session)]


def states(session: Session, name: str = "one") -> list[str]:
    query = select(Version.state).join(Bot, col(Bot.id) == Version.bot_id)
    return list(session.exec(query.where(Bot.name == name).order_by(col(Version.number))))


def test_who_waits_is_told_with_its_author_and_how_long_the_last_check_took(
    database: Database,
) -> None:
    with database.writing() as session:
        first = id_of(come_in(session, "a"))
        (found,) = waiting(session)
        assert found.last_took is None
        begin = now()
        conclude(session, first, CheckFindings([], "", begin, begin + timedelta(seconds=90)), None)
        second, other = id_of(come_in(session, "b")), id_of(come_in(session, "c", name="two"))
        assert [(each.version_id, each.last_took) for each in waiting(session)] == [
            (second, 90.0),
            (other, None),
        ]
        assert {each.author_id for each in waiting(session)} == {owner_of(session, "one")}


def test_a_version_that_passes_plays_and_the_one_before_makes_room(database: Database) -> None:
    with database.writing() as session:
        first = come_in(session, "a")
        assert (first.fresh, first.row.size, waits(session)) == (True, 7, [id_of(first)])
        found = subject(session, id_of(first))
        assert found is not None
        assert (found.bot, found.number, found.digest) == ("one", 1, "a")
        assert [change.state for change in conclude(session, id_of(first), NO_REPORT, None)] == [
            "active"
        ]
        assert subject(session, id_of(first)) is None
        second = come_in(session, "b")
        assert states(session) == ["active", "checking"]
        changes = conclude(session, id_of(second), NO_REPORT, None)
        assert [(each.number, each.state) for each in changes] == [(2, "active"), (1, "superseded")]
        assert waiting(session) == []


def test_a_report_is_kept_whatever_it_says_and_replaced_by_the_next(database: Database) -> None:
    finding = {"check": "build", "mark": "failed", "text": "no", "advice": "", "log": ""}
    with database.writing() as session:
        id = id_of(come_in(session, "a"))
        report = CheckFindings([finding], "it said \0 and \ud800", now(), now())
        (change,) = conclude(session, id, report, "build: no\0")
        assert (change.state, change.details) == ("broken", {"text": r"build: no\x00"})
    with database.reading() as session:
        found = report_of(session, "one", 1)
        assert found is not None
        assert found.report is not None
        assert found.report.findings == [finding]
        assert found.report.output == r"it said \x00 and \ud800"
        assert found.author_id == owner_of(session, "one")
        assert report_of(session, "one", 2) is None
        assert owner_of(session, "two") is None
    with database.writing() as session:
        again = come_in(session, "a")
        assert (again.fresh, id_of(again), waits(session)) == (True, id, [id])
        conclude(session, id, NO_REPORT, None)
        assert session.get_one(CheckReport, id).findings == []
        assert states(session) == ["active"]


def test_the_same_program_again_changes_nothing_while_it_is_wanted(database: Database) -> None:
    with database.writing() as session:
        first = come_in(session, "a")
        again = come_in(session, "a")
        assert (again.fresh, again.changed, id_of(again)) == (False, [], id_of(first))
        conclude(session, id_of(first), NO_REPORT, None)
        assert come_in(session, "a").fresh is False
        take_back(session, "one", "enough")
        assert come_in(session, "a").fresh is True
        assert states(session) == ["checking"]


def test_a_newer_upload_ends_the_wait_of_an_older_one(database: Database) -> None:
    with database.writing() as session:
        first, second = come_in(session, "a"), come_in(session, "b")
        assert [(each.number, each.state) for each in second.changed] == [
            (2, "checking"),
            (1, "superseded"),
        ]
        assert conclude(session, id_of(first), NO_REPORT, None) == []  # its check was under way
        assert states(session) == ["superseded", "checking"]


def test_what_was_taken_back_meanwhile_stays_so(database: Database) -> None:
    with database.writing() as session:
        first = come_in(session, "a")
        conclude(session, id_of(first), NO_REPORT, None)
        second = come_in(session, "b")
        done = take_back(session, "one", "for now")
        assert [(each.number, each.state) for each in done.changed] == [
            (2, "retired"),
            (1, "retired"),
        ]
        assert conclude(session, id_of(second), NO_REPORT, None) == []
        assert conclude(session, 99, NO_REPORT, None) == []
        assert session.get(CheckReport, id_of(second)) is None
        with pytest.raises(Refused, match="does not play"):
            take_back(session, "one", "again")
        restored = restore(session, "one")
        assert (id_of(restored), restored.fresh) == (id_of(second), True)
        with pytest.raises(Refused, match="version 2 of one is being checked"):
            restore(session, "one")
        with pytest.raises(Unknown):
            restore(session, "two")


def test_an_older_version_never_replaces_a_newer_one(database: Database) -> None:
    with database.writing() as session:
        first, second = come_in(session, "a"), come_in(session, "b")
        conclude(session, id_of(second), NO_REPORT, None)
        bot, old = session.exec(select(Bot)).one(), first.row.version
        change_state(session, bot, old, VersionCause.UPLOADED)
        (change,) = conclude(session, id_of(first), NO_REPORT, None)
        assert (change.state, change.cause) == ("superseded", "newer-plays")
        assert change.details == {"version": 2}


def test_an_author_has_so_many_bots_and_no_name_of_others(database: Database) -> None:
    with database.writing() as session:
        for number in range(MOST):
            come_in(session, "a", f"bot-{number}")
        with pytest.raises(TooManyBots, match="you have 3 bots, and there may be 3"):
            come_in(session, "a", "one-more")
        assert come_in(session, "b", "bot-0").row.version.number == 2
        with pytest.raises(Refused, match="another author"):
            come_in(session, "c", "bot-0", author="eve")
        with pytest.raises(Refused, match="a bot of ours"):
            come_in(session, "c", "greedy", author="eve")


def test_uploads_at_the_same_time_do_not_pass_the_number_of_bots(url: str) -> None:
    def one(database: Database, number: int) -> bool:
        try:
            database.write(lambda session: come_in(session, "a", f"bot-{number}"))
        except TooManyBots:
            return False
        return True

    assert sum(together(url, 8, one)) == MOST


def test_what_an_administrator_disabled_cannot_be_brought_back(database: Database) -> None:
    with database.writing() as session:
        come_in(session, "a")
        take_back(session, "one", "")
        bot = session.exec(select(Bot)).one()
        bot.disabled = "it is rude"
        session.add(bot)
        session.flush()
        for program in ("a", "b"):
            with pytest.raises(Refused, match="it is rude"):
                come_in(session, program)
        with pytest.raises(Refused, match="it is rude"):
            restore(session, "one")


def test_one_of_our_own_plays_at_once_when_it_is_restored(database: Database) -> None:
    with database.writing() as session:
        ensure_house_bots(session, ["greedy"])
        take_back(session, "greedy", "for a while")
        assert session.exec(select(Author)).one().house
        restored = restore(session, "greedy")
        assert (restored.fresh, restored.row.version.state) == (False, "active")
        assert waiting(session) == []
