"""Recomputing all results gives the stored ratings, bit for bit, whatever was played."""

import math
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Table as SqlTable
from sqlalchemy import delete, insert, select, update
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.book import Book, Record, Share
from keltis_ladder.ratings.model import MODEL_VERSION, PRIOR, start_of
from keltis_ladder.ratings.scopes import OVERALL
from keltis_ladder.store import database as databases
from keltis_ladder.store.bots.catalogue import predecessors
from keltis_ladder.store.bots.moderation import rerate
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings import recomputing
from keltis_ladder.store.ratings.recomputing import FETCHED_ROWS, Comparison, compare, replace
from keltis_ladder.store.schema.tables import (
    Duel,
    Ledger,
    Match,
    Place,
    Rating,
    RatingStep,
    table_of,
)
from tests.ladder.store.support.ladders import clear, dump, enter, entered, store, stored
from tests.ladder.store.support.results import any_result, made_up, won_by

BOTS = "abcde"
DERIVED = [table_of(Rating), table_of(RatingStep), table_of(Duel)]


@dataclass(frozen=True)
class Upload:
    """A new version of a bot."""

    bot: int


@dataclass(frozen=True)
class Played:
    """A match: who, what, and how it came out."""

    variant: str
    bots: list[int]
    games: list[list[int]]
    dropped: list[tuple[int, int]]
    rated: bool


@st.composite
def matches(draw: st.DrawFn) -> Played:
    players = draw(st.integers(2, 4))
    seats = st.integers(0, players - 1)
    return Played(
        variant=draw(st.sampled_from(list(VARIANTS))),
        bots=draw(st.permutations(range(len(BOTS))))[:players],
        games=[
            draw(st.lists(st.integers(-1, 2), min_size=players, max_size=players))
            for _ in range(players)
        ],
        dropped=draw(st.lists(st.tuples(seats, seats), max_size=1)),
        rated=draw(st.integers(0, 4)) > 0,
    )


histories = st.lists(
    st.one_of(matches(), matches(), matches(), st.builds(Upload, st.integers(0, len(BOTS) - 1))),
    min_size=1,
    max_size=12,
)


def live_through(database: Database, history: list[Upload | Played]) -> int:
    """Store a history; return how many matches of it are rated."""
    clear(database)
    with database.writing() as session:
        newest = enter(session, *BOTS)
        for step in history:
            if isinstance(step, Upload):
                newest[step.bot] = enter(session, BOTS[step.bot])[0]
            else:
                rows = made_up(step.variant, step.games, step.dropped)
                store(session, [newest[bot] for bot in step.bots], rows, step.rated)
    return sum(isinstance(step, Played) and step.rated for step in history)


def compared(database: Database) -> Comparison:
    with database.reading() as session:
        return compare(session)[0]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories)
def test_any_history_is_recomputed_exactly(
    database: Database, history: list[Upload | Played]
) -> None:
    rated = live_through(database, history)
    found = compared(database)
    assert found.examples == []
    assert found.equal
    before = dump(database)
    assert (found.matches, found.steps) == (rated, len(before["rating_step"]))
    assert (found.ratings, found.duels) == (len(before["rating"]), len(before["duel"]))
    with database.writing() as session:
        assert replace(session) == rated
    assert dump(database) == before


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories, first=matches(), table=st.sampled_from(DERIVED), data=st.data())
def test_any_changed_number_is_found_and_put_right(
    database: Database,
    history: list[Upload | Played],
    first: Played,
    table: SqlTable,
    data: st.DataObject,
) -> None:
    live_through(
        database, [first, *history, Played(first.variant, first.bots, first.games, [], True)]
    )
    before = dump(database)
    with database.writing() as session:
        change = _change_one_number(session, table, data)
    assert dump(database) != before
    found = compared(database)
    assert found.differences == 1
    (example,) = found.examples
    assert example.endswith(change)
    with database.writing() as session:
        replace(session)
    assert dump(database) == before
    assert compared(database).equal


def _change_one_number(session: Session, table: SqlTable, data: st.DataObject) -> str:
    """Change a number that is no key, by as little as possible; return what has to be said."""
    rows = session.execute(select(table).order_by(*table.primary_key.columns)).all()
    row = rows[data.draw(st.integers(0, len(rows) - 1))]
    columns = [column for column in table.c if not column.primary_key and not column.foreign_keys]
    column = data.draw(st.sampled_from(columns))
    value = getattr(row, column.name)
    new = math.nextafter(value, math.inf) if isinstance(value, float) else value + 1
    keys = [key == getattr(row, key.name) for key in table.primary_key.columns]
    session.execute(update(table).where(*keys).values({column.name: new}))
    return f": {column.name} is {new!r}, not {value!r}"


@pytest.fixture
def played(database: Database) -> Database:
    """A ladder on which twelve matches were played, the seventh of them unrated."""
    chance = random.Random(3)
    versions = entered(database, *BOTS)
    with database.writing() as session:
        for number in range(1, 13):
            players = chance.randint(2, 4)
            rows = any_result(chance, chance.choice(list(VARIANTS)), players)
            store(session, chance.sample(versions, players), rows, rated=number != 7)
    return database


def test_rows_that_are_missing_are_counted_one_by_one(played: Database) -> None:
    for table in DERIVED:
        with played.writing() as session:
            keys = list(table.primary_key.columns)
            row = session.execute(select(*keys).order_by(*keys)).all()[1]
            session.execute(
                delete(table).where(*(key == x for key, x in zip(keys, row, strict=True)))
            )
    found = compared(played)
    assert found.differences == 3
    assert all(example.endswith("is missing") for example in found.examples)


def test_rows_that_come_from_no_match_are_found(played: Database) -> None:
    with played.writing() as session:
        step = session.execute(select(table_of(RatingStep))).first()
        assert step is not None
        session.execute(insert(table_of(RatingStep)), step._asdict() | {"match_number": 7})
        rating = session.execute(select(table_of(Rating))).first()
        assert rating is not None
        session.execute(insert(table_of(Rating)), rating._asdict() | {"variant": "chess"})
        duel = session.execute(select(table_of(Duel))).first()
        assert duel is not None
        session.execute(insert(table_of(Duel)), duel._asdict() | {"variant": "chess"})
    found = compared(played)
    assert found.differences == 3
    assert all(re.search("no (rated )?match", example) for example in found.examples)
    with played.writing() as session:
        replace(session)
    assert compared(played).equal


def test_a_changed_result_is_found(played: Database) -> None:
    with played.writing() as session:
        session.execute(update(Place).where(Place.match_number == 3).values(rank=1))  # type: ignore[arg-type]
    assert not compared(played).equal


def test_only_so_many_differences_are_told(played: Database) -> None:
    with played.writing() as session:
        session.execute(update(RatingStep).values(mu=0.0))
        steps = len(session.execute(select(table_of(RatingStep))).all())
    found = compared(played)
    assert found.differences == steps > 10
    assert len(found.examples) == 10


def test_a_match_without_all_its_places_is_told_and_not_rated_wrongly(played: Database) -> None:
    with played.writing() as session:
        session.execute(
            delete(Place).where(Place.match_number == 4, Place.position == 1)  # type: ignore[arg-type]
        )
    with pytest.raises(LadderError, match=r"match 4 has not all its \d places"):
        compared(played)


def test_ratings_of_another_model_are_told_and_healed(played: Database) -> None:
    with played.writing() as session:
        session.execute(update(Ledger).values(rating_model=MODEL_VERSION + 1))
    (example,) = compared(played).examples
    assert f"model {MODEL_VERSION + 1}" in example
    with played.writing() as session:
        replace(session)
    assert compared(played).equal
    with played.reading() as session:
        assert session.get_one(Ledger, 1).rating_model == MODEL_VERSION


def test_an_empty_ladder_is_recomputed_too(database: Database) -> None:
    before = dump(database)
    with database.writing() as session:
        assert replace(session) == 0
    assert dump(database) == before
    assert compared(database) == Comparison()


def test_a_comparison_while_results_are_stored_sees_one_moment(database: Database) -> None:
    versions = entered(database, "a", "b")
    writer = Database(database.url)
    stop = Event()

    def write() -> None:
        while not stop.is_set():
            stored(writer, versions, won_by("keltis", 2, 0))

    thread = Thread(target=write)
    thread.start()
    moments: set[int] = set()
    try:
        while len(moments) < 6:
            found = compared(database)
            assert found.examples == []
            moments.add(found.matches)
    finally:
        stop.set()
        thread.join()
        writer.close()
    assert compared(database).matches >= max(moments)


def test_progress_is_told_up_to_the_end(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = entered(database, "a", "b")
    with database.writing() as session:
        for number in range(7):
            store(session, versions, won_by("keltis", 2, 0), rated=number < 6)
    monkeypatch.setattr("keltis_ladder.store.ratings.recomputing.FETCHED_ROWS", 2)
    told: list[tuple[int, int]] = []
    with database.reading() as session:
        compare(session, lambda done, total: told.append((done, total)))
    assert told == [(2, 7), (4, 7), (6, 7), (7, 7)]
    again: list[tuple[int, int]] = []
    with database.writing() as session:
        replace(session, lambda done, total: again.append((done, total)))
    assert again[-1] == (7, 7)
    assert [done for done, _ in again] == sorted(done for done, _ in again)
    assert FETCHED_ROWS > 2


def test_a_version_after_thousands_that_never_played_has_a_start() -> None:
    book = Book({version: version - 1 or None for version in range(1, 5001)})
    start = book.standing(5000, OVERALL).belief
    assert (start.mu, start.sigma) == (PRIOR.mu, PRIOR.sigma)
    shares = (Share(1, 1, 24, 0, (12, 12)), Share(2, 2, 0, 0, (0, 0)))
    book.enter(Record(1, "keltis", 2, shares))
    first = book.standing(1, OVERALL).belief
    assert book.standing(3, OVERALL).belief == start_of(book.standing(2, OVERALL).belief)
    assert book.standing(3, OVERALL).belief.mu < first.mu


def test_all_rated_matches_count_and_only_they(played: Database) -> None:
    with played.reading() as session:
        numbers = session.execute(select(table_of(Match).c.number)).scalars().all()
        found, book = compare(session)
    assert found.matches == len(numbers) - 1
    assert max(standing.last_match for standing in book.standings.values()) == 12


@pytest.mark.parametrize("work", [replace, rerate])
def test_a_slow_recomputation_is_not_taken_for_a_writer_that_vanished(
    work: Callable[[Session], object], played: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two statements it rates thousands of matches."""
    monkeypatch.setattr(databases, "WRITER_IDLE_MS", 20)
    begun = 0

    def slowly(session: Session) -> dict[int, int | None]:
        nonlocal begun
        begun += 1
        time.sleep(0.3)
        return predecessors(session)

    monkeypatch.setattr(recomputing, "predecessors", slowly)
    played.write(work)
    assert begun == 1
