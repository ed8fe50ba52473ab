"""Authors own bots, bots have versions, and of these at most one plays."""

import pytest
from sqlmodel import Session, select

from keltis_ladder.match.entrants import BUILT_IN
from keltis_ladder.store.bots.catalogue import (
    HOUSE,
    Refused,
    activate,
    add_version,
    ensure_author,
    ensure_bot,
    ensure_house_bots,
    newest_version,
    predecessors,
    set_aside,
)
from keltis_ladder.store.bots.version_words import reason_of
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.tables import Author, Bot, Version
from keltis_ladder.store.schema.version_states import VersionCause, VersionState
from tests.ladder.store.support.crowd import together
from tests.ladder.store.support.ladders import enter


def version_of(session: Session, id: int) -> Version:
    version = session.get(Version, id)
    assert version is not None
    return version


def test_a_new_version_takes_the_place_of_the_one_before(database: Database) -> None:
    with database.writing() as session:
        (first,) = enter(session, "one")
        (second,) = enter(session, "one")
        old, new = version_of(session, first), version_of(session, second)
        assert (old.state, reason_of(old)) == (VersionState.SUPERSEDED, "version 2 plays")
        assert (new.state, new.number, new.predecessor_id) == (VersionState.ACTIVE, 2, first)
        assert predecessors(session) == {first: None, second: first}
        with pytest.raises(Refused, match="version 2 is newer than version 1"):
            activate(session, old)


def test_a_version_under_check_leaves_the_one_before_on_the_ladder(database: Database) -> None:
    with database.writing() as session:
        (first,) = enter(session, "one")
        bot = session.exec(select(Bot)).one()
        checked, _ = add_version(session, bot, ["keltis"], [2])
        assert newest_version(session, bot) is checked
        assert version_of(session, first).state == VersionState.ACTIVE
        assert checked.id is not None
        set_aside(session, checked.id, VersionCause.FAILED, text="it said \x00, not hello")
        assert (checked.state, reason_of(checked)) == ("broken", r"it said \x00, not hello")
        assert version_of(session, first).state == VersionState.ACTIVE
        with pytest.raises(Refused, match="no version with the id 99"):
            set_aside(session, 99, VersionCause.TAKEN_BACK, text="")


def test_a_name_belongs_to_one_author(database: Database) -> None:
    with database.writing() as session:
        enter(session, "one", author="Ada")
        assert ensure_author(session, "Ada").id == ensure_author(session, "Ada").id
        with pytest.raises(Refused, match="'one' belongs to a bot of another author"):
            ensure_bot(session, ensure_author(session, "Grace"), "one")


def test_our_own_bots_are_entered_once_and_anew_with_each_release(database: Database) -> None:
    with database.writing() as session:
        first = [version.id for version in ensure_house_bots(session)]
    with database.writing() as session:
        assert [version.id for version in ensure_house_bots(session)] == first
        assert session.exec(select(Author)).one().name == HOUSE
        for version in session.exec(select(Version)):
            version.built_in = f"{str(version.built_in).split()[0]} 0.0.1"
            session.add(version)
    with database.writing() as session:
        second = ensure_house_bots(session)
        assert [version.predecessor_id for version in second] == first
        assert {version.state for version in second} == {VersionState.ACTIVE}


def test_our_own_bots_entered_by_many_at_the_same_time_are_entered_once(
    url: str, database: Database
) -> None:
    def work(mine: Database, _: int) -> list[int | None]:
        return mine.write(lambda session: [version.id for version in ensure_house_bots(session)])

    found = together(url, 4, work)
    assert all(ids == found[0] for ids in found)
    with database.reading() as session:
        assert len(session.exec(select(Version)).all()) == len(BUILT_IN)


def test_uploads_of_one_bot_at_the_same_time_are_numbered_one_by_one(
    url: str, database: Database
) -> None:
    def work(mine: Database, _: int) -> None:
        for _ in range(3):
            mine.write(lambda session: enter(session, "one"))

    together(url, 4, work)
    with database.reading() as session:
        versions = session.exec(select(Version).order_by("id")).all()
        assert sorted(version.number for version in versions) == list(range(1, 13))
        by_number = {version.number: version for version in versions}
        for version in versions:
            before = by_number.get(version.number - 1)
            assert version.predecessor_id == (before.id if before else None)
        assert [version.number for version in versions if version.state == "active"] == [12]
