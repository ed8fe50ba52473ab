"""The joint rating: kept with each result, published by scope, worked out again bit for bit."""

import math
import random
from datetime import timedelta
from itertools import pairwise

import pytest
from sqlalchemy import delete, insert, select, update
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.joint.numbers import MODEL_VERSION, NUMBERS
from keltis_ladder.ratings.joint.scores import TWELFTHS, match_scores
from keltis_ladder.ratings.joint.statistics import Statistics, match_of
from keltis_ladder.ratings.scopes import ANY, OVERALL, Scope
from keltis_ladder.store.bots.submissions import take_back
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import StaleRatings
from keltis_ladder.store.matches.records import rows_of
from keltis_ladder.store.ratings import checkpoints
from keltis_ladder.store.ratings.joint import reading
from keltis_ladder.store.ratings.joint.fitting import SCOPES, figures, read_ground, read_statistics
from keltis_ladder.store.ratings.joint.pairings import Pairing, pairing, pairings
from keltis_ladder.store.ratings.joint.publishing import outdated, publish_all, write_out
from keltis_ladder.store.ratings.leaderboards import signature
from keltis_ladder.store.ratings.recomputing import Comparison, compare, replace
from keltis_ladder.store.retention import KEEP_EVERYTHING, Retention, sweep
from keltis_ladder.store.schema.tables import (
    Duel,
    Game,
    JointHistory,
    JointMark,
    JointRating,
    Ledger,
    Match,
    Version,
    table_of,
)
from tests.ladder.store.support.ladders import NOON, dump, entered, store, stored
from tests.ladder.store.support.results import any_result, faulty, made_up, played, won_by

KELTIS = Scope("keltis", ANY)


def compared(database: Database, from_checkpoint: bool = False) -> Comparison:
    with database.reading() as session:
        return compare(session, from_checkpoint=from_checkpoint)[0]


def play(database: Database, versions: list[int], count: int, seed: int = 1) -> None:
    """Store made up matches of all kinds."""
    chance = random.Random(seed)
    with database.writing() as session:
        for _ in range(count):
            players = chance.randint(2, min(4, len(versions)))
            rows = any_result(chance, chance.choice(list(VARIANTS)), players)
            store(session, chance.sample(versions, players), rows)


@pytest.fixture
def ladder(database: Database) -> tuple[Database, list[int]]:
    """Five bots, one of them in its second version, and thirty matches."""
    versions = entered(database, *"abcde")
    play(database, versions, 15)
    versions[0] = entered(database, "a")[0]
    play(database, versions, 15, seed=2)
    return database, versions


def margins(database: Database) -> list[tuple[int, ...]]:
    duel = table_of(Duel).c
    with database.reading() as session:
        rows = session.execute(select(duel.one_id, duel.other_id, duel.margin))
        return sorted(tuple(row) for row in rows)


# Margins


def test_a_result_adds_its_margins(database: Database) -> None:
    one, other = entered(database, "a", "b")
    win = NUMBERS.win[0]
    stored(database, [other, one], made_up("keltis", [[10, 4], [7, 7]]))
    # The second entrant is the smaller id: behind by 6 points and a game, then even.
    first = -TWELFTHS * (6 + win)
    assert margins(database) == [(one, other, first)]
    stored(database, [one, other], made_up("keltis", [[10, 4], [7, 7]]))
    assert margins(database) == [(one, other, 0)]


def test_a_game_lost_by_a_fault_counts_with_the_forfeit(database: Database) -> None:
    one, other = entered(database, "a", "b")
    stored(database, [one, other], faulty(2, culprit=0))
    assert margins(database) == [(one, other, -TWELFTHS * NUMBERS.forfeit[0])]


@pytest.mark.parametrize("drops", [None, {1: (2, 9)}])
def test_stored_margins_are_those_of_the_result_as_it_was_played(
    database: Database, drops: dict[int, tuple[int, int]] | None
) -> None:
    versions = entered(database, "a", "b", "c")
    job, result = played("neue-wege", 3, 5, drops)
    stored(database, versions, rows_of(job, result))
    expected = Statistics.of([match_of(job.variant, versions, match_scores(job.variant, result))])
    with database.reading() as session:
        assert read_statistics(session).rows() == expected.rows()


def test_unrated_matches_have_no_margins(database: Database) -> None:
    stored(database, entered(database, "a", "b"), won_by("keltis", 2, 0), rated=False)
    assert margins(database) == []


def test_a_changed_score_or_margin_is_found(ladder: tuple[Database, list[int]]) -> None:
    database, _ = ladder
    assert compared(database).equal
    with database.writing() as session:
        session.execute(update(table_of(Duel)).values(margin=table_of(Duel).c.margin + 1))
    found = compared(database)
    assert found.differences == found.duels
    assert "margin is" in found.examples[0]
    with database.writing() as session:
        replace(session)
    assert compared(database).equal
    game = table_of(Game)
    with database.writing() as session:
        first = session.execute(select(game).order_by(game.c.match_number, game.c.rotation)).first()
        assert first is not None
        higher = [first.scores[0] + 1, *first.scores[1:]]
        of_first = (game.c.match_number == first.match_number, game.c.rotation == first.rotation)
        session.execute(update(game).where(*of_first).values(scores=higher))
    assert all("margin is" in example for example in compared(database).examples)
    assert not compared(database).equal
    with database.writing() as session:
        session.execute(delete(game).where(*of_first))
    with pytest.raises(LadderError, match="match 1 has not all its"):
        compared(database)


def test_checkpoints_carry_margins(ladder: tuple[Database, list[int]]) -> None:
    database, versions = ladder
    assert database.write(lambda session: checkpoints.add_if_due(session, NOON, 10)) == 30
    play(database, versions, 5, seed=3)
    found = compared(database, from_checkpoint=True)
    assert (found.since, found.examples) == (30, [])
    with database.writing() as session:
        session.execute(update(table_of(Duel)).values(margin=0))
    assert not compared(database, from_checkpoint=True).equal


# Publications


def test_a_ladder_without_matches_publishes_nothing(database: Database) -> None:
    entered(database, "a", "b")
    assert publish_all(database) == 0
    with database.reading() as session:
        assert reading.standings(session) is None
        assert reading.publication(session) is None


def test_every_scope_is_published_with_all_active_versions(
    ladder: tuple[Database, list[int]],
) -> None:
    database, versions = ladder
    with database.reading() as session:
        assert {age.scope for age in outdated(session)} == set(SCOPES)
    assert publish_all(database) == len(SCOPES) * len(versions)
    with database.reading() as session:
        assert outdated(session) == []
        for scope in SCOPES:
            found = reading.standings(session, scope)
            assert found is not None
            assert found.publication[:3] == (30, MODEL_VERSION, 1)
            assert {line.version for line in found.lines} == set(versions)
            assert all(
                one.figures.rating >= two.figures.rating for one, two in pairwise(found.lines)
            )
            for line in found.lines:
                assert 1 <= line.best <= line.worst <= len(versions)
                assert 0 <= line.figures.low <= line.figures.share <= line.figures.high <= 1
        assert set(reading.figures_of(session, versions[1])) == set(SCOPES)


def test_every_published_figure_is_proved_to_the_last_bit(
    ladder: tuple[Database, list[int]],
) -> None:
    database, versions = ladder
    count = publish_all(database)
    play(database, versions, 5, seed=4)  # as of the mark, not of now
    found = compared(database)
    assert (found.joint, found.examples) == (count, [])
    table = table_of(JointRating)
    for column in ("rating", "sigma", "share", "low", "high", "own", "others", "before"):
        before = dump(database)
        with database.writing() as session:
            row = session.execute(select(table).order_by(*table.primary_key.columns)).all()[7]
            new = math.nextafter(getattr(row, column), math.inf)
            keys = [key == getattr(row, key.name) for key in table.primary_key.columns]
            session.execute(update(table).where(*keys).values({column: new}))
        (example,) = compared(database).examples
        assert example.endswith(f": {column} is {new!r}, not {getattr(row, column)!r}")
        with database.writing() as session:
            session.execute(update(table).where(*keys).values({column: getattr(row, column)}))
        assert dump(database) == before


def test_figures_that_are_missing_or_too_many_are_found_and_put_right(
    ladder: tuple[Database, list[int]],
) -> None:
    database, versions = ladder
    publish_all(database)
    before = dump(database)["joint_rating"]
    table = table_of(JointRating)
    with database.writing() as session:
        row = session.execute(select(table).where(table.c.version_id == versions[1])).all()[0]
        session.execute(delete(table).where(table.c.version_id == versions[1]))
        version = table_of(Version).c
        gone = session.execute(select(version.id).where(version.state == "superseded"))
        session.execute(insert(table), row._asdict() | {"version_id": gone.scalar_one()})
    found = compared(database)
    assert found.differences == len(SCOPES) + 1
    with database.writing() as session:
        replace(session)
    publish_all(database)
    assert compared(database).equal
    assert dump(database)["joint_rating"] == before


def test_a_publication_of_another_model_is_told_and_made_again(
    ladder: tuple[Database, list[int]],
) -> None:
    database, _ = ladder
    publish_all(database)
    before = dump(database)["joint_rating"]
    with database.writing() as session:
        session.execute(update(JointMark).values(joint_model=MODEL_VERSION + 1))
    assert f"model {MODEL_VERSION + 1}" in compared(database).examples[0]
    assert dump(database)["joint_rating"] == before  # what is shown stays until then
    publish_all(database)
    assert compared(database).equal


def test_a_version_that_is_retired_leaves_the_field(ladder: tuple[Database, list[int]]) -> None:
    database, versions = ladder
    publish_all(database)
    with database.reading() as session:
        before = reading.standings(session)
        history = reading.history(session, versions[1])
    assert before is not None
    with database.writing() as session:
        take_back(session, "b", "enough")
    with database.reading() as session:
        assert {age.scope for age in outdated(session)} == set(SCOPES)
    assert compared(database).equal  # what is published is still of the field that it names
    publish_all(database)
    with database.reading() as session:
        after = reading.standings(session)
        assert reading.figures_of(session, versions[1]) == {}
        assert reading.history(session, versions[1]) == history
        assert pairing(session, versions[0], versions[1]) is None
    assert after is not None
    assert {line.version for line in after.lines} == set(versions) - {versions[1]}
    other = versions[2]
    assert after.by_version()[other].figures.rating != before.by_version()[other].figures.rating
    assert compared(database).equal


def test_a_newcomer_is_in_the_field_before_it_has_played(
    ladder: tuple[Database, list[int]],
) -> None:
    database, versions = ladder
    publish_all(database)
    (successor,) = entered(database, "b")
    publish_all(database)
    with database.reading() as session:
        found = reading.standings(session)
        assert reading.history(session, successor) == []
    assert found is not None
    lines = found.by_version()
    assert versions[1] not in lines
    assert lines[successor].figures.provisional
    assert compared(database).equal


def test_an_older_fit_does_not_replace_a_newer_publication(
    ladder: tuple[Database, list[int]],
) -> None:
    database, versions = ladder
    with database.reading() as session:
        old = read_ground(session)
    rows = figures(old.fit(), OVERALL)
    stored(database, versions[:2], won_by("keltis", 2, 0))
    publish_all(database)
    before = dump(database)
    assert write_out(database, OVERALL, old, rows) is None
    assert dump(database) == before


def test_leaderboards_are_told_from_each_other_by_their_publications(
    ladder: tuple[Database, list[int]],
) -> None:
    database, _ = ladder
    with database.reading() as session:
        before = signature(session)
    publish_all(database)
    with database.reading() as session:
        assert signature(session) != before


# History


def test_history_has_a_point_for_whoever_has_played_since(
    ladder: tuple[Database, list[int]],
) -> None:
    database, versions = ladder
    publish_all(database)
    stored(database, versions[1:3], won_by("keltis", 2, 0))
    publish_all(database)
    with database.reading() as session:
        numbers = {
            (version, scope): [point.match for point in reading.history(session, version, scope)]
            for version in versions[1:4]
            for scope in (OVERALL, KELTIS, Scope("neue-wege", ANY))
        }
        point = reading.history(session, versions[1])[-1]
        now = reading.figures_of(session, versions[1])[OVERALL]
    one, other, third = versions[1:4]
    assert numbers[one, OVERALL] == numbers[other, OVERALL] == [30, 31]
    assert numbers[one, KELTIS] == [30, 31]
    assert numbers[one, Scope("neue-wege", ANY)] == [30]
    assert numbers[third, OVERALL] == [30]
    assert (point.rating, point.sigma) == (now.rating, now.sigma)


def test_old_history_is_thinned_to_one_point_a_day(ladder: tuple[Database, list[int]]) -> None:
    database, versions = ladder
    for _ in range(3):
        stored(database, versions[1:3], won_by("keltis", 2, 0))
        publish_all(database)
    with database.writing() as session:
        match = table_of(Match)
        earlier = NOON - timedelta(days=1)
        session.execute(update(match).where(match.c.number <= 31).values(finished=earlier))
    retention = Retention(timedelta(days=7), None, None, None, None)
    sweep(database, KEEP_EVERYTHING, NOON + timedelta(days=30))
    with database.reading() as session:
        assert [point.match for point in reading.history(session, versions[1])] == [31, 32, 33]
    swept = sweep(database, retention, NOON + timedelta(days=30))
    assert swept.steps > 0
    with database.reading() as session:
        assert [point.match for point in reading.history(session, versions[1])] == [31, 33]
    assert compared(database).equal


# Pairs


def held_against(session: Session, one: int, other: int, scope: Scope) -> Pairing:
    """Return a pairing that is there."""
    found = pairing(session, one, other, scope)
    assert found is not None
    return found.lines[0]


def test_two_versions_are_compared_by_what_is_published_and_by_their_meetings(
    database: Database,
) -> None:
    one, other, third = entered(database, "a", "b", "c")
    for _ in range(6):
        stored(database, [one, other], made_up("keltis", [[30, 4], [5, 25]]))
        stored(database, [other, third], made_up("keltis", [[8, 7], [6, 9]]))
    publish_all(database)
    with database.reading() as session:
        found = held_against(session, one, other, KELTIS)
        back = held_against(session, other, one, KELTIS)
        apart = held_against(session, one, third, KELTIS)
        nothing = held_against(session, one, other, Scope("neue-wege", 4))
        everybody = pairings(session, one, KELTIS)
    assert everybody is not None
    assert everybody.lines == (found, apart)
    assert found.met is not None
    assert back.met is not None
    assert (found.met.wins, found.met.draws, found.met.losses) == (6, 0, 0)
    assert found.met.lead == -back.met.lead > 0
    assert found.lead == -back.lead > 0
    assert found.better == pytest.approx(1 - back.better)
    assert found.better > 0.9
    assert 0.5 < found.ahead < 1
    assert apart.met is None
    assert nothing.met is None


# From an older release


def make_old(database: Database) -> None:
    """Leave a ladder as the step to the joint rating finds it: without margins or figures."""
    with database.writing() as session:
        session.execute(update(table_of(Duel)).values(margin=0))
        session.execute(update(table_of(Ledger)).values(joint_model=0))
        for table in (JointHistory, JointRating, JointMark):
            session.execute(delete(table_of(table)))


def test_a_ladder_from_before_gets_its_margins_and_keeps_all_else(
    ladder: tuple[Database, list[int]],
) -> None:
    database, versions = ladder
    database.write(lambda session: checkpoints.add_if_due(session, NOON, 10))
    before = dump(database)
    make_old(database)
    assert publish_all(database) == 0  # margins that are not there are not fitted
    with pytest.raises(StaleRatings, match="recompute --store"):
        stored(database, versions[:2], won_by("keltis", 2, 0))
    assert any("joint model 0" in example for example in compared(database).examples)
    with database.writing() as session:
        assert replace(session) == 30
    after = dump(database)
    moments = after.pop("rating_checkpoint")[0], before.pop("rating_checkpoint")[0]
    assert [row[:-1] for row in moments] == [moments[0][:-1]] * 2
    assert after == before
    assert publish_all(database) > 0
    assert compared(database).equal
