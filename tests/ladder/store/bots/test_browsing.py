"""What people look up agrees with the leaderboards and with what was stored."""

from __future__ import annotations

import random

from sqlalchemy import event
from sqlmodel import Session

from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope
from keltis_ladder.store.bots import browsing
from keltis_ladder.store.bots.catalogue import activate, set_aside
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.leaderboards import Encounter, head_to_head, leaderboard, signature
from keltis_ladder.store.schema.tables import Author, Bot, Match, Rating, Version
from keltis_ladder.store.schema.version_states import VersionCause
from tests.ladder.store.support.ladders import enter, entered, store, stored
from tests.ladder.store.support.results import any_result, faulty, won_by

SCOPES = (OVERALL, Scope("keltis", ANY), Scope(ALL, 3), Scope("keltis", 3))


def filled(session: Session, matches: int = 120) -> list[int]:
    """Put bots on the ladder, and store matches between them."""
    chance = random.Random(11)
    versions = enter(session, "one", "two", "three", "four")
    versions += enter(session, "five", author="Bob")
    for _ in range(matches):
        players = chance.choice([2, 3])
        variant = chance.choice(["keltis", "keltis", "neue-wege"])
        store(session, chance.sample(versions, players), any_result(chance, variant, players))
    return versions


def test_ranks_are_those_of_the_leaderboards(database: Database) -> None:
    with database.writing() as session:
        versions = filled(session)
        set_aside(session, versions[1], VersionCause.TAKEN_BACK, text="enough")
        bob = session.get_one(Bot, 5).author_id
        session.get_one(Author, bob).disabled = True
    with database.reading() as session:
        ranked = 0
        for name in ("one", "two", "three", "four", "five"):
            row = browsing.bot_row(session, name)
            assert row is not None
            ranks = browsing.ranks_of(session, row.ratings)
            for scope in SCOPES:
                lines = {line.bot: line.rank for line in leaderboard(session, scope)}
                assert ranks.get((row.version.id or 0, scope)) == lines.get(name)
                ranked += lines.get(name) is not None
        assert ranked > 5
        names = {line.bot for line in leaderboard(session, everybody=True)}
        assert names == {"one", "two", "three", "four"}  # of who is shut out, nothing


def test_a_history_ends_where_the_rating_is(database: Database) -> None:
    with database.writing() as session:
        versions = filled(session)
    with database.reading() as session:
        for scope in SCOPES:
            steps: list[browsing.StepRow] = []
            mine = browsing.version_ids(session, 1)
            while page := browsing.steps_of(
                session, mine, scope, steps[-1].match if steps else 0, 7
            ):
                steps += page
            rating = session.get_one(Rating, (versions[0], scope.variant, scope.players))
            assert len(steps) == rating.matches
            assert (steps[-1].mu, steps[-1].sigma) == (rating.mu, rating.sigma)
            assert [step.match for step in steps] == sorted({step.match for step in steps})
            assert steps[-1].at == session.get_one(Match, steps[-1].match).finished


def test_a_page_of_a_history_reads_only_the_versions_that_are_in_it(database: Database) -> None:
    with database.writing() as session:
        [rival] = enter(session, "rival")
        for _ in range(40):
            [version] = enter(session, "one")
            for _ in range(3):
                store(session, [version, rival], won_by("keltis", 2, 0))
    read: list[object] = []
    with database.reading() as session:
        mine = browsing.version_ids(session, 2)
        assert len(mine) == 40
        event.listen(session.connection(), "before_cursor_execute", lambda *_: read.append(1))
        whole = browsing.steps_of(session, mine, OVERALL, 0, 1000)
        assert [step.match for step in whole] == list(range(1, 121))
        assert [step.version for step in whole] == [1 + k // 3 for k in range(120)]
        read.clear()
        assert browsing.steps_of(session, mine, OVERALL, 50, 7) == whole[50:57]
        assert len(read) <= 5


def test_names_beside_one_are_few_on_any_ladder(database: Database) -> None:
    names = sorted(f"bot-{number:03}" for number in range(100))
    with database.writing() as session:
        enter(session, *names)
    with database.reading() as session:
        assert sorted(browsing.names_beside(session, "bot-050x", 3)) == names[48:54]
        assert browsing.names_beside(session, "zzz", 2) == ["bot-099", "bot-098"]


def test_opponents_are_those_of_the_head_to_head_table(database: Database) -> None:
    with database.writing() as session:
        versions = filled(session, 40)
    with database.reading() as session:
        for scope in SCOPES:
            table = head_to_head(session, versions, scope)
            for version in versions:
                met = {
                    name: found for name, _, found in browsing.opponents_of(session, version, scope)
                }
                names = ("one", "two", "three", "four", "five")
                expected: dict[str, Encounter] = {
                    name: table[version, other]
                    for name, other in zip(names, versions, strict=True)
                    if (version, other) in table
                }
                assert met == expected


def test_a_bot_is_shown_by_the_version_that_plays_or_its_newest(database: Database) -> None:
    with database.writing() as session:
        [first] = enter(session, "one")
        [second] = enter(session, "one")
        enter(session, "o_e")
        set_aside(session, second, VersionCause.UNPREPARED, text="no")

    def shown(name: str) -> int:
        with database.reading() as session:
            row = browsing.bot_row(session, name)
            assert row is not None
            return row.version.number

    assert shown("one") == 2
    with database.writing() as session:
        activate(session, session.get_one(Version, first))
    assert shown("one") == 1
    with database.reading() as session:
        assert [row.bot.name for row in browsing.bot_rows(session, "", 9)] == ["o_e", "one"]
        assert [row.bot.name for row in browsing.bot_rows(session, "o_e", 9)] == ["one"]
        [row] = browsing.bot_rows(session, "", 9, prefix="o_")
        assert row.bot.name == "o_e"
        assert browsing.bot_rows(session, "", 9, author="Bob") == []
        assert len(browsing.bot_rows(session, "", 9, author="Ada", state="active")) == 2
        assert list(browsing.active_versions(session, ["one", "none"])) == ["one"]
        assert [row.version.number for row in browsing.version_rows(session, 1, None, 9)] == [2, 1]


def test_faults_and_times_are_those_of_one_bot(database: Database) -> None:
    one, two = entered(database, "one", "two")
    for _ in range(3):
        stored(database, [one, two], faulty(2, culprit=0))
    stored(database, [one, two], faulty(2, culprit=1))
    with database.reading() as session:
        mine = browsing.version_ids(session, 1)
        lines = browsing.faults_of(session, mine, None, 2)
        assert [line.match for line in lines] == [3, 2]
        rest = browsing.faults_of(session, mine, lines[-1].id, 2)
        assert [(line.match, line.version) for line in rest] == [(1, 1)]
        assert browsing.card_of(session, 1, rest[0].id)
        assert browsing.card_of(session, 2, rest[0].id) is None  # another bot's
        [times] = browsing.times_of(session, mine)
        assert (times.matches, times.asked, times.wall_ms) == (4, 240, 50.0)


def test_the_signature_changes_with_everything_that_leaderboards_show(database: Database) -> None:
    def read() -> tuple[int, ...]:
        with database.reading() as session:
            return signature(session)

    seen = [read()]
    versions = entered(database, "one", "two")
    seen.append(read())
    stored(database, versions, won_by("keltis", 2, winner=0))
    seen.append(read())
    with database.writing() as session:
        set_aside(session, versions[0], VersionCause.TAKEN_BACK, text="enough")
    seen.append(read())
    with database.writing() as session:
        session.get_one(Author, 1).disabled = True
    seen.append(read())
    assert len(set(seen)) == len(seen)
    assert read() == seen[-1]
