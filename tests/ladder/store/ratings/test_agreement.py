"""The stored ratings are compared with the package ``trueskill``, over real databases."""

import random

import pytest
from sqlalchemy import delete, insert, select, update

from keltis_engine import VARIANTS
from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.book import Rate
from keltis_ladder.ratings.skill import Belief, Noise, rate
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.agreement import TOLERANCE, Agreement, compare_with_package
from keltis_ladder.store.schema.tables import Ledger, Rating, table_of
from tests.ladder.store.support.ladders import enter, store
from tests.ladder.store.support.results import any_result

MATCHES = 24


def play(database: Database) -> None:
    """Store matches of all variants and sizes, some drawn, and a second version of a bot."""
    chance = random.Random(3)
    with database.writing() as session:
        versions = enter(session, *"abcde")
        for number in range(MATCHES):
            if number == MATCHES // 2:
                versions[0] = enter(session, "a")[0]
            players = 2 + number % 3
            rows = any_result(chance, list(VARIANTS)[number % 4], players)
            store(session, chance.sample(versions, players), rows)


def compared(database: Database, kernel: Rate = rate) -> Agreement:
    with database.reading() as session:
        return compare_with_package(session, kernel_rate=kernel)


def test_a_ladder_agrees_with_the_package(database: Database) -> None:
    play(database)
    told: list[tuple[int, int]] = []
    with database.reading() as session:
        found = compare_with_package(session, lambda done, total: told.append((done, total)))
        ratings = len(session.execute(select(table_of(Rating))).all())
    assert found.agree
    assert (found.matches, found.ratings, found.differences) == (MATCHES, ratings, 0)
    assert max(found.kernel.mu, found.kernel.sigma) < TOLERANCE / 1000
    assert found.stored == found.kernel
    assert found.package_seconds > found.kernel_seconds > 0
    assert told[-1] == (MATCHES, MATCHES)


def test_a_ladder_without_results_agrees(database: Database) -> None:
    found = compared(database)
    assert found.agree
    assert (found.matches, found.ratings, found.kernel.mu_at) == (0, 0, None)


@pytest.mark.parametrize(("column", "other"), [("mu", "sigma"), ("sigma", "mu")])
def test_one_stored_rating_that_is_wrong_is_found(
    database: Database, column: str, other: str
) -> None:
    play(database)
    table = table_of(Rating)
    mine = (table.c.version_id == 2, table.c.variant == "all", table.c.players == 0)
    changed = table.c[column] + 3 * TOLERANCE
    with database.writing() as session:
        session.execute(update(table).where(*mine).values({column: changed}))
    found = compared(database)
    assert not found.agree
    assert found.kernel.within
    assert getattr(found.stored, column) == pytest.approx(3 * TOLERANCE, rel=1e-3)
    assert getattr(found.stored, other) < TOLERANCE / 1000
    at = getattr(found.stored, f"{column}_at")
    assert (at[0], str(at[1])) == (2, "all/any")
    assert found.differences == 1
    assert found.examples[0].startswith("rating of version 2 in all/any: mu is ")


def test_a_kernel_that_is_wrong_is_found(database: Database) -> None:
    play(database)

    def wrong(beliefs: list[Belief], ranks: list[int], noise: Noise, tau: float) -> list[Belief]:
        return rate(beliefs, ranks, Noise(noise.beta * 1.001, noise.draw_probability), tau)

    found = compared(database, wrong)
    assert not found.agree
    assert not found.kernel.within
    assert found.differences == 0


def test_missing_and_superfluous_ratings_are_found(database: Database) -> None:
    play(database)
    table = table_of(Rating)
    with database.writing() as session:
        row = session.execute(select(table).where(table.c.version_id == 1)).first()
        assert row is not None
        extra = row._asdict() | {"version_id": 3, "variant": "keltis", "players": 9}
        session.execute(insert(table), [extra])
        session.execute(
            delete(table).where(
                table.c.version_id == 1, table.c.variant == "all", table.c.players == 0
            )
        )
    found = compared(database)
    assert not found.agree
    assert found.examples == [
        "rating of version 1 in all/any is missing",
        "rating of version 3 in keltis/9 is stored, and comes from no match",
    ]


def test_another_model_does_not_agree_and_an_unready_database_is_an_error(
    database: Database,
) -> None:
    with database.writing() as session:
        session.execute(update(Ledger).values(rating_model=0))
    assert compared(database).examples == ["the ratings come from model 0, this program has 1"]
    with database.writing() as session:
        session.execute(delete(Ledger))
    with pytest.raises(LadderError, match="db upgrade"):
        compared(database)
