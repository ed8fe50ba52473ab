"""A result is stored once, whole or not at all, in one order, and moves the ratings."""

import random
from dataclasses import replace
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, col, select

from keltis_engine import VARIANTS
from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.book import Book, Record, Share
from keltis_ladder.ratings.model import MODEL_VERSION, PRIOR, start_of
from keltis_ladder.ratings.scopes import OVERALL, Scope, scopes_of
from keltis_ladder.ratings.skill import Belief
from keltis_ladder.store.bots.catalogue import predecessors
from keltis_ladder.store.bots.version_words import reason_of
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import RECENT, TOO_MANY, StaleRatings, finish, load_book
from keltis_ladder.store.matches.queue import claim
from keltis_ladder.store.matches.records import MatchRows, rows_of, unpack_json, unpack_moves
from keltis_ladder.store.ratings.recomputing import compare
from keltis_ladder.store.schema.tables import (
    FaultRecord,
    Game,
    Job,
    JobState,
    Ledger,
    Match,
    Place,
    Rating,
    RatingStep,
    Version,
)
from keltis_ladder.store.schema.version_states import VersionState
from tests.ladder.store.support.crowd import together
from tests.ladder.store.support.ladders import (
    NOON,
    ask_for,
    dump,
    enter,
    entered,
    later,
    store,
    stored,
)
from tests.ladder.store.support.results import (
    CRASH,
    any_result,
    faulty,
    made_up,
    played,
    real,
    won_by,
)


def rating_of(session: Session, version: int, scope: Scope) -> Rating:
    rating = session.get(Rating, (version, scope.variant, scope.players))
    assert rating is not None
    return rating


def test_everything_about_a_match_is_stored(database: Database) -> None:
    versions = entered(database, "one", "other", "third")
    _, result = played("weg-der-steine", 3, seed=5, drops={1: (2, 20)})
    rows = real("weg-der-steine", 3, seed=5, drops={1: (2, 20)})
    with database.writing() as session:
        id = ask_for(session, versions, rows.variant)
        claim(session, "me", NOON)
        done = finish(session, id, rows, later(7))
    assert (done.number, done.fresh, done.broken) == (1, True, ())
    with database.reading() as session:
        match = session.exec(select(Match)).one()
        assert (match.number, match.job_id, match.variant) == (1, id, "weg-der-steine")
        assert (match.players, match.rated, match.finished) == (3, True, later(7))
        assert match.decisions == sum(len(game.actions) for game in result.games)
        stored_job = session.get(Job, id)
        assert stored_job is not None
        assert (stored_job.state, stored_job.holder) == (JobState.DONE, None)

        places = session.exec(select(Place).order_by(col(Place.position))).all()
        assert [place.version_id for place in places] == versions
        assert [place.rank for place in places] == result.ranks
        assert [place.points for place in places] == result.points
        assert [place.twelfths for place in places] == [12 * share for share in result.shares]
        for place in places:
            seats = [place.seat0, place.seat1, place.seat2]
            assert sum(twelfths or 0 for twelfths in seats) == place.twelfths
            assert place.seat3 is None
            assert (place.asked, place.wall_ms, place.cpu_ms) == (27, 1500.0, 750.0)
            assert place.slowest_ms == 125.0
        assert sum(place.twelfths for place in places) == 36

        games = session.exec(select(Game).order_by(col(Game.rotation))).all()
        for game, expected in zip(games, result.games, strict=True):
            assert unpack_moves(game.moves) == expected.actions
            assert (game.ending, game.scores, game.ranks) == (
                expected.ending, expected.scores, expected.ranks,
            )  # fmt: skip

        culprit = 0  # in rotation 1 the third seat is the first entrant's
        assert [place.faults for place in places] == [1, 0, 0]
        fault = session.exec(select(FaultRecord)).one()
        assert (fault.match_number, fault.rotation, fault.seat) == (1, 1, 2)
        assert fault.version_id == versions[culprit]
        assert (fault.kind, fault.code, fault.text) == ("crash", "exit", CRASH.text)
        assert fault.decision == result.games[1].losses[0].decision
        assert unpack_json(fault.card) == result.games[1].losses[0].card


def test_seats_that_nobody_has_stay_empty(database: Database) -> None:
    stored(database, entered(database, "a", "b"), won_by("keltis", 2, 0))
    with database.reading() as session:
        for place in session.exec(select(Place)):
            assert (place.seat2, place.seat3) == (None, None)


def test_what_a_bot_says_cannot_keep_its_fault_from_being_stored(database: Database) -> None:
    job, result = played("keltis", 2, seed=1, drops={0: (1, 8)})
    losses = result.games[0].losses
    losses[0] = replace(losses[0], fault=replace(CRASH, text="it wrote \x00 and \udcff"))
    stored(database, entered(database, "a", "b"), rows_of(job, result))
    with database.reading() as session:
        assert session.exec(select(FaultRecord.text)).one() == r"it wrote \x00 and \udcff"


def test_ratings_move_as_the_book_says(database: Database) -> None:
    chance = random.Random(7)
    with database.writing() as session:
        versions = enter(session, "a", "b", "c", "d", "e")
        book = Book(predecessors(session))
    for number in range(1, 25):
        players = 2 + number % 3
        variant = chance.choice(list(VARIANTS))
        table = chance.sample(versions, players)
        rows = any_result(chance, variant, players)
        done = stored(database, table, rows)
        after = book.enter(Record(number, variant, players, _shares(table, rows)))
        assert done.beliefs == {
            (version, scope): belief
            for version, beliefs in zip(table, after, strict=True)
            for scope, belief in zip(scopes_of(variant, players), beliefs, strict=True)
        }
        with database.reading() as session:
            for position, beliefs in enumerate(after):
                step = session.get_one(RatingStep, (number, position))
                assert step.version_id == table[position]
                assert [
                    step.mu, step.sigma, step.variant_mu, step.variant_sigma,
                    step.players_mu, step.players_sigma, step.overall_mu, step.overall_sigma,
                ] == [x for belief in beliefs for x in (belief.mu, belief.sigma)]  # fmt: skip
    with database.reading() as session:
        ratings = session.exec(select(Rating)).all()
        assert len(ratings) == len(book.standings)
        for rating in ratings:
            known = book.standings[rating.version_id, Scope(rating.variant, rating.players)]
            assert (rating.mu, rating.sigma) == (known.belief.mu, known.belief.sigma)
            assert (rating.matches, rating.firsts, rating.shared, rating.games) == (
                known.matches, known.firsts, known.shared, known.games,
            )  # fmt: skip
            assert (rating.twelfths, rating.faults) == (known.twelfths, known.faults)
            assert [rating.seat0, rating.seat1, rating.seat2, rating.seat3] == known.seats
            assert [rating.seat2_games, rating.seat3_games] == known.seat_games[2:]
            assert rating.last_match == known.last_match
            assert sum(known.seats) == known.twelfths
            assert sum(known.seat_games) == known.games


def _shares(versions: list[int], rows: MatchRows) -> tuple[Share, ...]:
    return tuple(
        Share(
            version=version,
            rank=place["rank"],
            twelfths=place["twelfths"],
            faults=place["faults"],
            seats=tuple(place[f"seat{seat}"] for seat in range(rows.players)),
        )
        for version, place in zip(versions, rows.places, strict=True)
    )


def test_results_in_one_transaction_build_on_each_other(database: Database) -> None:
    with database.writing() as session:
        versions = enter(session, "a", "b")
        store(session, versions, won_by("keltis", 2, 0))
        looked_at = session.exec(select(Rating)).all()  # and so kept in the session
        store(session, versions, won_by("keltis", 2, 0))
        store(session, versions, won_by("keltis", 2, 0))
        assert len(looked_at) == 8
    with database.reading() as session:
        assert rating_of(session, versions[0], OVERALL).matches == 3
        assert compare(session)[0].examples == []


def test_a_second_result_of_a_job_changes_nothing(database: Database) -> None:
    versions = entered(database, "a", "b")
    with database.writing() as session:
        job = ask_for(session, versions)
        first = finish(session, job, won_by("keltis", 2, 0), NOON)
    before = dump(database)
    with database.writing() as session:
        second = finish(session, job, won_by("keltis", 2, 1), later(60))
    assert (second.number, second.fresh, second.beliefs) == (first.number, False, {})
    assert dump(database) == before


def test_a_late_result_of_a_job_that_somebody_else_has_now_counts(database: Database) -> None:
    versions = entered(database, "a", "b")
    with database.writing() as session:
        job = ask_for(session, versions)
        claim(session, "slow", NOON)
    with database.writing() as session:
        (held,) = claim(session, "quick", later(100))
        assert held.id == job
        assert finish(session, job, won_by("keltis", 2, 0), later(101)).fresh  # from slow
    with database.writing() as session:
        assert not finish(session, job, won_by("keltis", 2, 0), later(102)).fresh
        assert claim(session, "anybody", later(1000)) == []


def test_a_result_of_no_job_is_refused(database: Database) -> None:
    before = dump(database)
    with database.writing() as session, pytest.raises(LadderError, match="no job unheard-of"):
        finish(session, "unheard-of", won_by("keltis", 2, 0), NOON)
    assert dump(database) == before


@pytest.mark.parametrize(
    "rows",
    [
        won_by("kartenspiel", 2, 0),
        won_by("keltis", 3, 0),
        MatchRows("keltis", 2, 6, won_by("keltis", 2, 0).places[:1], [], []),
    ],
)
def test_a_result_of_another_match_is_refused(database: Database, rows: MatchRows) -> None:
    versions = entered(database, "a", "b")
    with database.writing() as session:
        job = ask_for(session, versions, "keltis")
    before = dump(database)
    with pytest.raises(LadderError, match="does not fit"), database.writing() as session:
        finish(session, job, rows, NOON)
    assert dump(database) == before


def test_an_unrated_result_moves_no_rating(database: Database) -> None:
    versions = entered(database, "a", "b")
    done = stored(database, versions, won_by("keltis", 2, 0), rated=False)
    assert done.beliefs == {}
    with database.reading() as session:
        assert session.get_one(Match, 1).rated is False
        assert len(session.exec(select(Place)).all()) == 2
    after = dump(database)
    assert (after["rating"], after["rating_step"], after["duel"]) == ([], [], [])


def test_ratings_of_another_model_are_not_moved(database: Database) -> None:
    versions = entered(database, "a", "b")
    with database.writing() as session:
        job = ask_for(session, versions)
        ledger = session.get_one(Ledger, 1)
        ledger.rating_model = MODEL_VERSION + 1
        session.add(ledger)
    before = dump(database)
    with pytest.raises(StaleRatings, match="recompute --store"), database.writing() as session:
        finish(session, job, won_by("keltis", 2, 0), NOON)
    assert dump(database) == before


def test_a_failure_at_the_very_end_leaves_nothing_behind(database: Database) -> None:
    """Whichever statement fails, from the first to the last, all or nothing is stored."""
    versions = entered(database, "a", "b")
    with database.writing() as session:
        job = ask_for(session, versions)
    before = dump(database)
    statements = _statements_of_finish(database, job)
    assert statements > 8
    for allowed in range(statements):
        with pytest.raises(DBAPIError):
            _finish_and_fail(database, job, allowed)
        assert dump(database) == before
    with database.writing() as session:
        assert finish(session, job, faulty(2, 0), NOON).number == 1


def _statements_of_finish(database: Database, job: str) -> int:
    """Count the statements of storing a result, which is then taken back."""
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1

    with Session(database.engine.execution_options(keltis_writes=True)) as session:
        connection = session.connection()
        event.listen(connection, "before_cursor_execute", note)
        finish(session, job, faulty(2, 0), NOON)
        session.rollback()
    return count


def _finish_and_fail(database: Database, job: str, allowed: int) -> None:
    """Store a result; after so many statements comes one that violates a constraint."""
    done = 0

    def violate(_: object, cursor: Any, *more: object) -> None:
        nonlocal done
        if done == allowed:
            cursor.execute("INSERT INTO ledger SELECT * FROM ledger")
        done += 1

    with database.writing() as session:
        event.listen(session.connection(), "before_cursor_execute", violate)
        finish(session, job, faulty(2, 0), NOON)


def test_results_of_many_at_the_same_time_have_one_order(url: str, database: Database) -> None:
    versions = entered(database, *"abcdef")
    crowd, each = 8, 20
    start = Barrier(crowd)

    def work(mine: Database, number: int) -> list[int]:
        chance = random.Random(number)
        start.wait()
        numbers = []
        for _ in range(each):
            players = chance.randint(2, 4)
            rows = any_result(chance, chance.choice(list(VARIANTS)), players)
            table = chance.sample(versions, players)
            numbers.append(mine.write(partial(store, versions=table, rows=rows)).number)
        return numbers

    found = together(url, crowd, work)
    assert sorted(number for numbers in found for number in numbers) == list(
        range(1, crowd * each + 1)
    )
    with database.reading() as session:
        assert session.get_one(Ledger, 1).matches == crowd * each
        comparison, _ = compare(session)
        assert comparison.examples == []
        assert comparison.matches == crowd * each


def test_a_job_finished_by_many_at_the_same_time_is_stored_once(
    url: str, database: Database
) -> None:
    versions = entered(database, "a", "b")
    with database.writing() as session:
        jobs = [ask_for(session, versions) for _ in range(5)]
    start = Barrier(4)

    def work(mine: Database, number: int) -> int:
        start.wait()
        rows = won_by("keltis", 2, 0)
        work = [partial(finish, job_id=job, rows=rows, now=NOON) for job in jobs]
        return sum(mine.write(job).fresh for job in work)

    assert sum(together(url, 4, work)) == len(jobs)
    with database.reading() as session:
        assert session.get_one(Ledger, 1).matches == len(jobs)
        assert rating_of(session, versions[0], OVERALL).matches == len(jobs)


def test_a_version_with_faults_in_half_of_its_recent_matches_is_broken(database: Database) -> None:
    bad, good = entered(database, "bad", "good")
    for _ in range(RECENT):
        done = stored(database, [bad, good], won_by("keltis", 2, 0))
        assert done.broken == ()
    for number in range(1, TOO_MANY):
        done = stored(database, [bad, good], faulty(2, 0), rated=bool(number % 2))
        assert done.broken == ()
    assert stored(database, [bad, good], faulty(2, 0)).broken[0].version_id == bad
    with database.reading() as session:
        version = session.get_one(Version, bad)
        assert version.state == VersionState.BROKEN
        assert reason_of(version) == "faults in 10 of its last 20 matches"
        assert session.get_one(Version, good).state == VersionState.ACTIVE
    assert stored(database, [bad, good], faulty(2, 0)).broken == ()  # it is so already


def test_challenges_of_its_author_do_not_hide_what_a_version_does_in_rated_matches(
    database: Database,
) -> None:
    bad, good = entered(database, "bad", "good")
    for number in range(1, TOO_MANY + 1):
        for _ in range(3):
            assert stored(database, [bad, good], won_by("keltis", 2, 0), rated=False).broken == ()
        done = stored(database, [bad, good], faulty(2, 0))
        assert [each.version_id for each in done.broken] == ([bad] if number == TOO_MANY else [])
    with database.reading() as session:
        assert (
            reason_of(session.get_one(Version, bad)) == "faults in 10 of its last 10 rated matches"
        )


def test_a_new_version_with_nothing_but_faults_is_broken_after_ten(database: Database) -> None:
    bad, good = entered(database, "bad", "good")
    for _ in range(TOO_MANY - 1):
        assert stored(database, [good, bad], faulty(2, 1)).broken == ()
    assert stored(database, [good, bad], faulty(2, 1)).broken[0].version_id == bad
    with database.reading() as session:
        assert reason_of(session.get_one(Version, bad)) == "faults in 10 of its last 10 matches"


def test_faults_of_long_ago_are_forgiven(database: Database) -> None:
    bad, good = entered(database, "bad", "good")
    with database.writing() as session:
        for number in range(60):
            rows = faulty(2, 0) if number % 3 == 0 else won_by("keltis", 2, 0)
            assert store(session, [bad, good], rows).broken == ()


def test_a_new_version_starts_where_its_predecessor_is(database: Database) -> None:
    first, other = entered(database, "one", "other")
    for _ in range(6):
        stored(database, [first, other], won_by("keltis", 2, 0))
    entered(database, "one")  # never plays
    (third,) = entered(database, "one")
    with database.reading() as session:
        old, weaker = (rating_of(session, version, OVERALL) for version in (first, other))
        book = load_book(session, [third], [OVERALL])
    assert old.mu > PRIOR.mu > weaker.mu
    start = book.standing(third, OVERALL).belief
    assert start == start_of(start_of(Belief(old.mu, old.sigma)))  # over the one between
    assert start.mu == old.mu
    assert start.sigma > old.sigma
    drawn = stored(database, [third, other], made_up("keltis", [[1, 1], [1, 1]]))
    assert drawn.beliefs[third, OVERALL].sigma < start.sigma
    assert weaker.mu < drawn.beliefs[third, OVERALL].mu < start.mu
