"""Matches are found by what is asked for, page by page, and read as they were."""

from __future__ import annotations

import random

import pytest
from sqlmodel import Session

from keltis_ladder.match.orders import Order, Purpose
from keltis_ladder.store.bots.browsing import version_ids
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.challenges import TooManyChallenges, add_challenge
from keltis_ladder.store.matches.matches import (
    PLAYING,
    WAITING,
    JobMark,
    MatchFilter,
    challenges_under_way,
    finished_jobs,
    job_of_number,
    match_row,
    match_rows,
    unfinished_jobs,
)
from keltis_ladder.store.matches.queue import add_job, hold
from keltis_ladder.store.schema.tables import Author, Bot, Job, JobState, RatingStep
from tests.ladder.store.support.crowd import together
from tests.ladder.store.support.ladders import NOON, ask_for, enter, later, store
from tests.ladder.store.support.results import any_result, faulty


def numbers(session: Session, wanted: MatchFilter, limit: int = 4) -> list[int]:
    """Return the numbers of all that is wanted, page by page."""
    found: list[int] = []
    while True:
        page = finished_jobs(session, wanted, found[-1] if found else None, limit)
        if not page:
            return found
        assert all(job_of_number(session, number) == id for number, id in page)
        found += [number for number, _ in page]


def test_results_are_found_by_what_is_asked_for(database: Database) -> None:
    chance = random.Random(3)
    with database.writing() as session:
        first = enter(session, "one", "two", "three")
        stored = []
        for number in range(1, 41):
            if number == 20:
                enter(session, "one")  # its next version plays from now on
                [second] = [id for id in version_ids(session, 1) if id not in first]
                first[0] = second
            versions = chance.sample(first, chance.choice([2, 3]))
            variant = chance.choice(["keltis", "neue-wege"])
            purpose = chance.choice([Purpose.LADDER, Purpose.CHALLENGE])
            rows = any_result(chance, variant, len(versions))
            store(session, versions, rows, rated=False, purpose=purpose)
            stored.append((number, versions, variant, len(versions), purpose))
    with database.reading() as session:
        one = tuple(version_ids(session, 1))
        assert len(one) == 2
        for wanted in (
            MatchFilter(some, others, game, number, why)
            for some in (None, one, (first[1],), ())
            for others in ((None,) if some is None else (None, (first[2],)))
            for game in (None, "keltis")
            for number in (None, 3)
            for why in (None, Purpose.LADDER, Purpose.CHALLENGE)
        ):
            assert numbers(session, wanted) == [
                number
                for number, who, what, count, why in reversed(stored)
                if (wanted.versions is None or set(who) & set(wanted.versions))
                and (wanted.others is None or set(who) & set(wanted.others))
                and wanted.variant in (None, what)
                and wanted.players in (None, count)
                and wanted.purpose in (None, why)
            ], wanted
        assert numbers(session, MatchFilter(tournament_id=7)) == []


def test_jobs_come_newest_first_and_each_once(database: Database) -> None:
    with database.writing() as session:
        one, two, three = enter(session, "one", "two", "three")
        for number in range(9):
            pair = (one, two) if number % 3 else (two, three)
            job = add_job(session, Order("keltis", pair), later(number // 2))
            if number in (4, 5):
                hold(session, job, "somebody", NOON)
            if number == 6:
                job.state = JobState.HELD
                session.add(job)
    with database.reading() as session:
        found: list[JobMark] = []
        while page := unfinished_jobs(
            session, MatchFilter(), WAITING, found[-1] if found else None, 2
        ):
            found += page
        assert len(found) == len({mark.id for mark in found}) == 7
        assert found == sorted(found, reverse=True)
        assert len(unfinished_jobs(session, MatchFilter(), PLAYING, None, 9)) == 2
        assert len(unfinished_jobs(session, MatchFilter(versions=(three,)), WAITING, None, 9)) == 3
        with_three = MatchFilter(versions=(two,), others=(three,))
        assert len(unfinished_jobs(session, with_three, WAITING, None, 9)) == 3
        assert unfinished_jobs(session, MatchFilter((one,), (three,)), WAITING, None, 9) == []
        assert unfinished_jobs(session, MatchFilter(variant="neue-wege"), WAITING, None, 9) == []
        assert unfinished_jobs(session, MatchFilter(players=3), WAITING, None, 9) == []


def test_a_match_is_read_with_everybody_as_they_were_before_it(database: Database) -> None:
    with database.writing() as session:
        one, two = enter(session, "one", "two")
        for _ in range(3):
            store(session, [two, one], any_result(random.Random(1), "keltis", 2))
        store(session, [one, two], faulty(2, culprit=1), rated=False)
        waiting = ask_for(session, [two, one])
    with database.reading() as session:
        ids = [job_of_number(session, number) or "" for number in (4, 1, 2)]
        unrated, first, second = match_rows(session, ids)
        assert [row.number for row in (unrated, first, second)] == [4, 1, 2]
        assert [(entrant.bot, entrant.mu) for entrant in first.entrants] == [
            ("two", None), ("one", None),
        ]  # fmt: skip

        def after(match: int, position: int) -> float:
            return session.get_one(RatingStep, (match, position)).overall_mu

        assert [entrant.mu for entrant in second.entrants] == [after(1, 0), after(1, 1)]
        # It moved no rating, and those before it are those after the third.
        assert [entrant.mu for entrant in unrated.entrants] == [after(3, 1), after(3, 0)]
        [fault] = unrated.faults
        assert (fault.rotation, fault.seat, fault.kind) == (0, 1, "crash")
        assert [entrant.faults for entrant in unrated.entrants] == [0, 1]
        assert [game.rotation for game in unrated.games] == [0, 1]
        open_one = match_row(session, waiting)
        assert open_one is not None
        assert (open_one.number, open_one.games, open_one.finished) == (None, [], None)
        assert [entrant.mu for entrant in open_one.entrants] == [after(3, 0), after(3, 1)]
        assert [entrant.rank for entrant in open_one.entrants] == [None, None]
        assert match_row(session, "no such job") is None
        assert job_of_number(session, 5) is None


def test_nobody_has_more_challenges_under_way_than_allowed_however_many_ask(url: str) -> None:
    database = Database(url)
    with database.writing() as session:
        versions = tuple(enter(session, "one", "two"))
        author = session.get_one(Bot, 1).author_id
        stranger = Author(name="Bob", folded="bob", created=NOON)
        session.add(stranger)
        session.flush()
        assert stranger.id is not None
        other = stranger.id

    def order(author_id: int) -> Order:
        return Order(
            "keltis", versions, purpose=Purpose.CHALLENGE, rated=False, author_id=author_id
        )

    def ask(own: Database, _: int) -> bool:
        wanted = order(author)
        try:
            own.write(lambda session: add_challenge(session, wanted, 3, NOON))
        except TooManyChallenges:
            return False
        return True

    assert sorted(together(url, 8, ask)) == [False] * 5 + [True] * 3
    with database.writing() as session:
        assert challenges_under_way(session, author) == 3
        known = session.get_one(
            Job, unfinished_jobs(session, MatchFilter(), WAITING, None, 1)[0].id
        )
        again = order(author)
        same = Order(**{**vars(again), "id": known.id})
        assert add_challenge(session, same, 3, NOON) is known  # the same again is no other
        add_challenge(session, order(other), 3, NOON)
        with pytest.raises(TooManyChallenges, match="3 challenges"):
            add_challenge(session, again, 3, NOON)
    database.close()
