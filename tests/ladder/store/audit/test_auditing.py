"""The audit follows from the results: a few at a time or all at once, it is the same."""

from __future__ import annotations

import random

import pytest
from sqlalchemy import delete, update

from keltis_ladder.audit.evidence import UNIT, Contrast
from keltis_ladder.match.orders import Purpose
from keltis_ladder.store.audit import book as auditing
from keltis_ladder.store.audit.book import (
    Advanced,
    add_foresight,
    advance,
    compare,
    played,
    replace,
)
from keltis_ladder.store.audit.reports import audit_of_bot, suspects
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.tables import AuditBot, AuditMark, table_of
from tests.ladder.store.support.ladders import Dump, dump, enter, entered, stored
from tests.ladder.store.support.results import any_result, made_up, won_by

AUDIT = ("audit_mark", "audit_bot", "audit_author", "audit_pair", "audit_strength")


def audit_of(database: Database) -> Dump:
    everything = dump(database)
    return {name: everything[name] for name in AUDIT}


def bot_of(database: Database, version: int) -> int:
    return int({row[0]: row[1] for row in dump(database)["version"]}[version])


def advanced(database: Database, limit: int) -> Advanced:
    with database.writing() as session:
        return advance(session, limit)


def live(database: Database, matches: int, seed: int) -> None:
    """Let six bots play, at tables of all sizes; now and then somebody brings a new version."""
    chance = random.Random(seed)
    with database.writing() as session:
        versions = [enter(session, name, author=f"of {name}")[0] for name in "abcdef"]
    for _ in range(matches):
        players = chance.randint(2, 4)
        if chance.random() < 0.1:
            at = chance.randrange(6)
            with database.writing() as session:
                versions[at] = enter(session, name := "abcdef"[at], author=f"of {name}")[0]
        rows = any_result(chance, "keltis", players)
        stored(database, chance.sample(versions, players), rows)


def test_it_is_the_same_a_few_at_a_time_or_all_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keltis_ladder.audit.pairs.SETTLED", 2)
    live(database, matches=60, seed=1)
    steps = [7, 1, 13, 60, 60]
    assert [advanced(database, n).done for n in steps] == [7, 8, 21, 60, 60]
    before = audit_of(database)
    assert before["audit_pair"]
    assert before["audit_author"]
    with database.reading() as session:
        found = compare(session)
    assert found.differences == []
    assert found.compared == sum(len(before[name]) for name in AUDIT[1:] if "author" not in name)
    assert database.write(replace) == found.matches
    assert audit_of(database) == before


def test_a_number_that_was_changed_is_noticed_and_put_right(database: Database) -> None:
    versions = entered(database, "a", "b")
    for _ in range(3):
        stored(database, versions, won_by("keltis", 2, 0))
    database.write(advance)
    before = audit_of(database)
    with database.writing() as session:
        session.execute(update(table_of(AuditBot)).values(total=AuditBot.total + 1))
    with database.reading() as session:
        found = compare(session)
    assert len(found.differences) == 2
    assert "evidence about bot" in found.differences[0]
    database.write(replace)
    assert audit_of(database) == before


def test_only_rated_matches_of_the_ladder_without_a_fault_count(database: Database) -> None:
    versions = entered(database, "a", "b")
    rows = won_by("keltis", 2, 0)
    stored(database, versions, rows)
    stored(database, versions, rows, rated=False)
    stored(database, versions, rows, purpose=Purpose.CHALLENGE)
    stored(database, versions, made_up("keltis", [[1, 2], [1, 2]], [(1, 0)]))
    with database.reading() as session:
        assert [match.number for match in played(session, 0, 4)] == [1]
    assert database.write(advance).done == 4
    assert [row[3] for row in audit_of(database)["audit_bot"]] == [1, 1]


def test_a_bot_that_is_better_in_every_later_game_is_suspected_once(database: Database) -> None:
    with database.writing() as session:
        versions = [*enter(session, "good"), *enter(session, "bad")]
    bot = bot_of(database, versions[0])
    for _ in range(40):  # the first entrant has the second seat in the later game
        stored(database, versions, made_up("keltis", [[10, 10], [0, 28]]))
    found = [advanced(database, 5).suspects for _ in range(8)]
    assert [each for each in found if each] == [(bot,)]
    [alarm] = [row for row in audit_of(database)["audit_bot"] if row[-1] is not None]
    assert alarm[:4] == (bot, "keltis", "later", 40)
    assert (alarm[4], alarm[5]) == (40 * 2 * UNIT, 40 * 4 * UNIT**2)


def test_an_opponent_who_throws_later_games_has_nobody_suspected(database: Database) -> None:
    with database.writing() as session:
        [honest] = enter(session, "honest")
        [liar] = enter(session, "liar", author="Mallory")
    for _ in range(40):
        stored(database, [honest, liar], made_up("keltis", [[10, 10], [0, 28]]))
    assert [advanced(database, 15).suspects for _ in range(3)] == [(), (), ()]
    with database.reading() as session:
        assert compare(session).differences == []
        assert suspects(session) == []
        [line] = audit_of_bot(session, bot_of(database, honest)).tests
    assert (line.matches, line.odds) == (40, 1)


def test_foresight_is_kept_once_and_worked_out_again_from_what_is_kept(database: Database) -> None:
    versions = entered(database, "a", "b")
    for _ in range(30):
        stored(database, versions, won_by("keltis", 2, 0))
    database.write(advance)
    found = []
    for number in [*range(15, 31), *range(1, 15)]:  # the latest first, as somebody may look
        both = [
            (0, versions[0], Contrast(1500, 2_250_000)),
            (1, versions[1], Contrast(-1500, 2_250_000)),
        ]
        for _ in range(2):
            with database.writing() as session:
                found += add_foresight(session, number, "keltis", both)
    assert len(found) == 1
    assert len(dump(database)["foresight"]) == 60
    with database.reading() as session:
        assert compare(session).differences == []
        assert auditing.looked_at(session) == 30
    before = audit_of(database)
    database.write(replace)
    assert audit_of(database) == before


def test_the_audit_of_an_old_ladder_begins_with_its_next_match(database: Database) -> None:
    versions = entered(database, "a", "b")
    stored(database, versions, won_by("keltis", 2, 0))
    with database.writing() as session:
        session.execute(delete(AuditMark))
        session.add(AuditMark(begin=1, done=1))
    stored(database, versions, won_by("keltis", 2, 0))
    assert database.write(advance).done == 2
    with database.reading() as session:
        found = compare(session)
    assert (found.matches, found.differences) == (1, [])
