"""Stored tournaments are listed, and nobody has too many."""

from __future__ import annotations

import pytest

from keltis_ladder.run.course import Entry
from keltis_ladder.run.tournaments import Director, TooManyTournaments
from keltis_ladder.store.bots.catalogue import ensure_author
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches import tournaments
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.matches import WAITING, MatchFilter, finished_jobs, unfinished_jobs
from keltis_ladder.store.schema.tables import TournamentState
from keltis_ladder.tournaments.plan import ROUND_ROBIN, Plan
from tests.ladder.store.support.crowd import together
from tests.ladder.store.support.ladders import NOON, entered
from tests.ladder.store.support.results import won_by

PLAN = Plan(ROUND_ROBIN, 3)


def entries_of(database: Database) -> list[Entry]:
    """Put three bots on the ladder that take part."""
    names = ("one", "two", "three")
    return [
        Entry(version, name) for version, name in zip(entered(database, *names), names, strict=True)
    ]


def test_a_tournament_is_listed_as_far_as_it_has_come(database: Database) -> None:
    entries = entries_of(database)
    director = Director(database)
    with database.writing() as session:
        ada = ensure_author(session, "Ada").id
    first = director.create("first", PLAN, entries, author_id=ada, seed=5)
    second = director.create("second", PLAN, entries[:2] + entries[2:])
    director.start(first)
    with database.reading() as session:
        jobs = unfinished_jobs(session, MatchFilter(tournament_id=first), WAITING, None, 9)
        assert len(jobs) == 3
        assert not tournaments.all_played(session, first)
        assert tournaments.all_played(session, second)
    with database.writing() as session:
        finish(session, jobs[0].id, won_by("keltis", 2, winner=0), NOON)
    with database.reading() as session:
        rows = tournaments.tournament_rows(session, None, None, 9)
        assert [(row.record.name, row.author, row.entrants, row.played) for row in rows] == [
            ("second", None, 3, 0), ("first", "Ada", 3, 1),
        ]  # fmt: skip
        assert tournaments.tournament_rows(session, None, first, 9) == []
        [running] = tournaments.tournament_rows(session, TournamentState.RUNNING, None, 9)
        assert running.record.id == first
        assert len(finished_jobs(session, MatchFilter(tournament_id=first), None, 9)) == 1
        entered_there = tournaments.entered_bots(session, first)
        assert [(bot.name, bot.bot, bot.version) for bot in entered_there] == [
            (entry.name, entry.name, 1) for entry in entries
        ]
        [legs] = tournaments.played_legs(session, first).values()
        assert [leg.match.number for leg in legs] == [1]
        assert [place.rank for place in legs[0].places] == [1, 2]
        found = director.consult(first, lambda _, course: course.tournament.progress)
        assert found == (1, 3)


def test_nobody_has_more_tournaments_than_allowed_however_many_ask(url: str) -> None:
    database = Database(url)
    entries = entries_of(database)
    with database.writing() as session:
        ada, bob = ensure_author(session, "Ada").id, ensure_author(session, "Bob").id

    def create(own: Database, number: int) -> bool:
        try:
            Director(own).create(f"cup{number}", PLAN, entries, author_id=ada, most=2)
        except TooManyTournaments:
            return False
        return True

    assert sorted(together(url, 6, create)) == [False] * 4 + [True] * 2
    director = Director(database)
    director.create("of bob", PLAN, entries, author_id=bob, most=2)
    with pytest.raises(TooManyTournaments, match="2 tournaments"):
        director.create("another", PLAN, entries, author_id=ada, most=2)
    with database.reading() as session:
        mine = tournaments.tournament_rows(session, None, None, 9)
    director.cancel(mine[-1].record.id or 0)
    director.create("another", PLAN, entries, author_id=ada, most=2)
    database.close()
