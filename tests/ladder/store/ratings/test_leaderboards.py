"""Leaderboards tell the truth: who is ahead, how surely, and who cannot be told apart."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update
from sqlmodel import Session, col

from keltis_engine import VARIANTS
from keltis_ladder.ratings.ranking import FEW, WIDE, Z95, provisional, rank_groups, told_apart
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope
from keltis_ladder.store.bots.catalogue import set_aside
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.leaderboards import Encounter, head_to_head, leaderboard
from keltis_ladder.store.ratings.lines import Line
from keltis_ladder.store.schema.tables import Rating
from keltis_ladder.store.schema.version_states import VersionCause
from tests.ladder.store.support.ladders import NOON, dump, enter, entered, store, stored
from tests.ladder.store.support.results import any_result, faulty, made_up, won_by

KINDS = [Scope(variant, players) for variant in VARIANTS for players in (2, 3, 4)]


def test_bots_that_cannot_be_told_apart_share_a_rank() -> None:
    # The first two are close. The third is told apart from the first, not from the second; so it
    # begins a group of its own, which the fourth joins. The last is far behind everybody.
    mus = [30.0, 29.0, 26.5, 26.0, 10.0]
    sigmas = [1.0, 1.0, 1.0, 1.0, 1.0]
    assert told_apart(30.0, 1.0, 26.5, 1.0)
    assert not told_apart(29.0, 1.0, 26.5, 1.0)
    assert rank_groups(mus, sigmas) == [1, 1, 3, 3, 5]
    assert rank_groups([], []) == []


beliefs = st.lists(st.tuples(st.floats(-50, 100), st.floats(0, 9)), max_size=25).map(
    lambda found: sorted(found, reverse=True)
)


@given(beliefs)
def test_within_a_group_no_two_are_told_apart(found: list[tuple[float, float]]) -> None:
    ranks = rank_groups([mu for mu, _ in found], [sigma for _, sigma in found])
    assert len(ranks) == len(found)
    assert ranks == sorted(ranks)
    groups = {rank: [x for x, r in zip(found, ranks, strict=True) if r == rank] for rank in ranks}
    first = 1
    for rank, members in groups.items():
        assert rank == first  # as many are ahead as the rank says
        for one in members:
            assert not any(told_apart(*one, *other) for other in members)
        if rank > 1:  # whoever begins a group is told apart from one of the group before
            before = groups[ranks[rank - 2]]
            assert any(told_apart(*members[0], *other) for other in before)
        first += len(members)


def test_a_rating_from_few_matches_or_a_wide_one_is_provisional() -> None:
    assert provisional(1.0, FEW - 1)
    assert not provisional(1.0, FEW)
    assert provisional(WIDE + 0.01, 1000)
    assert not provisional(WIDE, 1000)


def place(session: Session, version: int, mu: float, sigma: float) -> None:
    """Give a version that has played a rating to compare by."""
    session.execute(
        update(Rating).where(col(Rating.version_id) == version).values(mu=mu, sigma=sigma)
    )


@pytest.fixture
def five(database: Database) -> list[int]:
    """Five bots in the situation of the worked example, the last provisional."""
    versions = entered(database, *"abcde")
    with database.writing() as session:
        for number in range(3 * FEW):
            one, other = random.Random(number).sample(versions[:4], 2)
            store(session, [one, other], won_by("keltis", 2, number % 2))
        store(session, [versions[0], versions[4]], won_by("keltis", 2, 0))
        for version, mu in zip(versions, [30.0, 29.0, 26.5, 26.0, 27.0], strict=True):
            place(session, version, mu, 1.0)
    return versions


def test_ranks_are_for_those_who_are_rated_well_enough(database: Database, five: list[int]) -> None:
    with database.reading() as session:
        lines = leaderboard(session)
    assert [line.bot for line in lines] == ["a", "b", "e", "c", "d"]
    assert [line.rank for line in lines] == [1, 1, None, 3, 3]
    assert [line.tied for line in lines] == [2, 2, 1, 2, 2]
    assert [line.provisional for line in lines] == [False, False, True, False, False]
    assert (lines[0].low, lines[0].high) == (30.0 - Z95, 30.0 + Z95)
    assert {line.author for line in lines} == {"Ada"}
    assert lines[2].last_match == 3 * FEW + 1
    assert lines[2].last_played == NOON


@pytest.mark.parametrize(
    ("cause", "state"),
    [(VersionCause.TAKEN_BACK, "retired"), (VersionCause.UNPREPARED, "broken")],
)
def test_who_has_left_is_not_ranked_and_keeps_its_history(
    database: Database, five: list[int], cause: VersionCause, state: str
) -> None:
    before = dump(database)
    with database.writing() as session:
        set_aside(session, five[0], cause, text="enough")
    with database.reading() as session:
        assert [(line.bot, line.rank) for line in leaderboard(session)] == [
            ("b", 1), ("e", None), ("c", 1), ("d", 3),
        ]  # fmt: skip
        everybody = leaderboard(session, everybody=True)
    assert [(line.bot, line.rank, line.state) for line in everybody[-2:]] == [
        ("d", 3, "active"), ("a", None, state),
    ]  # fmt: skip
    assert everybody[-1].mu == 30.0
    assert everybody[-1].matches > FEW
    after = dump(database)
    assert {name for name in before if before[name] != after[name]} == {"version"}


def test_a_new_version_takes_the_line_of_the_one_before_once_it_has_played(
    database: Database,
) -> None:
    with database.writing() as session:
        old, other = enter(session, "one", "other")
        store(session, [old, other], won_by("keltis", 2, 0))
        (new,) = enter(session, "one")
        assert [line.version for line in leaderboard(session)] == [other]
        store(session, [new, other], won_by("keltis", 2, 0))
        assert [(line.bot, line.number) for line in leaderboard(session)] == [
            ("one", 2), ("other", 1),
        ]  # fmt: skip
        everybody = leaderboard(session, everybody=True)
        assert [(line.bot, line.number) for line in everybody] == [
            ("one", 2), ("other", 1), ("one", 1),
        ]  # fmt: skip


def line_of(lines: list[Line], version: int) -> Line:
    return next(line for line in lines if line.version == version)


def test_every_scope_has_its_own_leaderboard(database: Database) -> None:
    a, b, c = entered(database, *"abc")
    stored(database, [a, b], won_by("keltis", 2, 0))
    stored(database, [b, a], won_by("kartenspiel", 2, 0))
    stored(database, [a, b, c], won_by("keltis", 3, 2))
    with database.reading() as session:
        played = {
            scope: {line.version: line.matches for line in leaderboard(session, scope)}
            for scope in [*KINDS, Scope("keltis", ANY), Scope(ALL, 2), Scope(ALL, 3), OVERALL]
        }
    assert played[Scope("keltis", 2)] == {a: 1, b: 1}
    assert played[Scope("kartenspiel", 2)] == {a: 1, b: 1}
    assert played[Scope("keltis", 3)] == {a: 1, b: 1, c: 1}
    assert played[Scope("keltis", ANY)] == {a: 2, b: 2, c: 1}
    assert played[Scope(ALL, 2)] == {a: 2, b: 2}
    assert played[Scope(ALL, 3)] == {a: 1, b: 1, c: 1}
    assert played[OVERALL] == {a: 3, b: 3, c: 1}
    assert played[Scope("neue-wege", 2)] == {}


def test_wins_faults_and_seats_are_counted(database: Database) -> None:
    a, b, c = entered(database, *"abc")
    # The first seat wins both games: each entrant has won one, from the first seat.
    stored(database, [a, b], made_up("keltis", [[5, 3], [5, 3]]))
    stored(database, [a, b], made_up("keltis", [[5, 5], [3, 5]]))  # shared, then to a's second seat
    stored(database, [a, b, c], won_by("keltis", 3, 0))
    stored(database, [a, b], faulty(2, 1))
    with database.reading() as session:
        lines = leaderboard(session)
    one, other, third = (line_of(lines, version) for version in (a, b, c))
    assert (one.matches, one.games, one.faults) == (4, 9, 0)
    assert (one.firsts, one.shared) == (3, 1)
    assert one.wins == 1 + 1.5 + 3 + 1.5
    # Seats one and two: four games each, the third one. From the first a has won a game of the
    # first match, half a one of the second, one of the third and the one that b dropped out of.
    assert one.seats == (3.5 / 4, 2.5 / 4, 1.0, None)
    assert (other.faults, other.firsts, other.shared, other.wins) == (1, 0, 1, 1 + 0.5 + 0.5)
    assert (third.matches, third.wins, third.seats) == (1, 0.0, (0.0, 0.0, 0.0, None))


def test_head_to_head_is_symmetric_and_adds_up(database: Database) -> None:
    chance = random.Random(5)
    versions = entered(database, *"abcd")
    met: dict[tuple[int, int], list[int]] = {}
    with database.writing() as session:
        for _ in range(60):
            kind = chance.choice(KINDS)
            table = chance.sample(versions, kind.players)
            rows = any_result(chance, kind.variant, kind.players)
            rated = chance.random() < 0.8
            store(session, table, rows, rated)
            ranks = [place["rank"] for place in rows.places]
            for x, one in enumerate(table):
                for y, other in enumerate(table):
                    if rated and x != y:
                        score = met.setdefault((one, other), [0, 0, 0])
                        score[0 if ranks[x] < ranks[y] else 2 if ranks[x] > ranks[y] else 1] += 1
    with database.reading() as session:
        everything = head_to_head(session, versions)
        by_kind = [head_to_head(session, versions, scope) for scope in KINDS]
        by_variant = [head_to_head(session, versions, Scope(v, ANY)) for v in VARIANTS]
        by_players = [head_to_head(session, versions, Scope(ALL, n)) for n in (2, 3, 4)]
        two = head_to_head(session, versions[:2])
    assert everything == {pair: Encounter(*score) for pair, score in met.items()}
    for (one, other), encounter in everything.items():
        back = everything[other, one]
        assert (back.wins, back.draws, back.losses) == (
            encounter.losses, encounter.draws, encounter.wins,
        )  # fmt: skip
        assert encounter.matches == back.matches
        for parts in (by_kind, by_variant, by_players):
            assert encounter == sum_of([part[one, other] for part in parts if (one, other) in part])
    assert set(two) == {(versions[0], versions[1]), (versions[1], versions[0])}
    assert all(type(encounter.wins) is int for encounter in everything.values())


def sum_of(parts: list[Encounter]) -> Encounter:
    return Encounter(
        sum(part.wins for part in parts),
        sum(part.draws for part in parts),
        sum(part.losses for part in parts),
    )
