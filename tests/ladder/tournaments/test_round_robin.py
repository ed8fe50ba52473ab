"""Round robins and gauntlets: who meets whom how often."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest

from keltis_ladder.tournaments import LegResult, Plan, Tournament
from keltis_ladder.tournaments.schedules.designs import MOST_UNEVEN, balanced_rounds
from keltis_ladder.tournaments.schedules.round_robins import circle_rounds, opponent_groups
from tests.ladder.tournaments.support.playing import (
    DRAW,
    LOSS,
    WIN,
    order,
    places,
    played,
    scores,
    tie_break,
    winner_is,
)

Pair = tuple[int, ...]


def meetings(tournament: Tournament) -> Counter[Pair]:
    return Counter(
        pair
        for leg in tournament.due()
        for pair in combinations(sorted(leg.pairing.entrants), 2)
        if leg.number == 1
    )


@pytest.mark.parametrize("entrants", range(2, 42))
def test_in_the_circle_each_two_meet_once(entrants: int) -> None:
    rounds = circle_rounds(entrants)
    assert len(rounds) == entrants - 1 + entrants % 2
    assert {len(tables) for tables in rounds} == {entrants // 2}
    for tables in rounds:
        assert len({entrant for table in tables for entrant in table}) == 2 * (entrants // 2)
    met = Counter(pair for tables in rounds for pair in tables)
    assert met == Counter(combinations(range(entrants), 2))


def test_each_two_meet_as_often_as_there_are_cycles() -> None:
    tournament = Tournament(Plan("round-robin", 7, rounds=3, matches=2))
    assert set(meetings(tournament).values()) == {3}
    assert len(tournament.due()) == 21 * 3 * 2
    assert [len(view.byes) for view in tournament.rounds] == [1] * 21


# From 42 on a few samples: all up to 128 were measured, at about a tenth of a second each.
@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("entrants", [*range(4, 42), 60, 61, 62, 63, 128])
def test_at_larger_tables_all_meet_about_equally_often(entrants: int, players: int) -> None:
    rounds = balanced_rounds(entrants, players)
    tables_of = Counter(entrant for tables in rounds for table in tables for entrant in table)
    assert len(set(tables_of.values())) == 1
    assert len(tables_of) == entrants
    for tables in rounds:
        there = [entrant for table in tables for entrant in table]
        assert len(set(there)) == len(there)
        assert {len(table) for table in tables} == {players}
    met = Counter(pair for tables in rounds for table in tables for pair in combinations(table, 2))
    often = [met[pair] for pair in combinations(range(entrants), 2)]
    if entrants <= 6:
        assert max(often) == min(often)
    else:
        assert max(often) - min(often) <= MOST_UNEVEN
        assert len(rounds) == (entrants if entrants % players else entrants - 1)
        assert {len(tables) for tables in rounds} == {entrants // players}
    assert min(often) >= 1


def test_the_lots_of_larger_tables_depend_on_the_seed_and_the_cycle() -> None:
    first, second = (
        [leg.pairing.entrants for leg in Tournament(Plan("round-robin", 9, 3, seed=seed)).due()]
        for seed in (1, 2)
    )
    assert first != second
    tournament = Tournament(Plan("round-robin", 9, players=3, rounds=2))
    half = [leg.pairing.entrants for leg in tournament.due() if leg.pairing.round <= 8]
    assert half == first
    assert set(meetings(tournament).values()) == {4}


def finish(tournament: Tournament, results: dict[Pair, LegResult]) -> Tournament:
    for leg in tournament.due():
        tournament.record(leg.key, results[leg.pairing.entrants])
    return tournament


def test_direct_encounter_parts_two_with_the_same_score() -> None:
    won_by: dict[Pair, int] = {(0, 1): 1, (0, 2): 0, (0, 3): 0, (1, 2): 2, (1, 3): 1, (2, 3): 3}
    tournament = Tournament(Plan("round-robin", 4))
    for leg in tournament.due():
        tournament.record(leg.key, winner_is(won_by[leg.pairing.entrants], leg))
    # 0 and 1 have two wins, 2 and 3 have one; 1 beat 0, and 3 beat 2.
    assert order(tournament) == [1, 0, 3, 2]
    assert places(tournament) == [1, 2, 3, 4]
    assert tie_break(tournament, 1, "direct encounter") == 1
    assert tie_break(tournament, 0, "direct encounter") == 0


def test_sonneborn_berger_counts_the_scores_of_the_beaten() -> None:
    # 0 and 1 drew; 0 beat 2 and lost to 3, 1 beat 3 and lost to 2; 2 beat 3.
    results: dict[Pair, LegResult] = {
        (0, 1): DRAW,
        (0, 2): WIN,
        (0, 3): LOSS,
        (1, 2): LOSS,
        (1, 3): WIN,
        (2, 3): WIN,
    }
    tournament = finish(Tournament(Plan("round-robin", 4)), results)
    half = Fraction(1, 2)
    assert scores(tournament) == {0: 3 * half, 1: 3 * half, 2: 2, 3: 1}
    assert tie_break(tournament, 0, "direct encounter") == half
    # 0: half of 1.5 from 1, and 2 from 2. 1: half of 1.5 from 0, and 1 from 3.
    assert tie_break(tournament, 0, "Sonneborn-Berger") == Fraction(11, 4)
    assert tie_break(tournament, 1, "Sonneborn-Berger") == Fraction(7, 4)
    assert order(tournament) == [2, 0, 1, 3]


def test_win_shares_then_points_then_faults_part_a_circle_of_three() -> None:
    def circle(first: LegResult) -> Tournament:
        results: dict[Pair, LegResult] = {(0, 1): first, (1, 2): WIN, (0, 2): LOSS}
        return finish(Tournament(Plan("round-robin", 3)), results)

    # Everybody beat one and lost to one.
    assert places(circle(WIN)) == [1, 1, 1]
    closer = circle(LegResult((1, 2), (18, 6), (60, 20), (0, 0)))
    assert order(closer) == [1, 2, 0]
    assert [tie_break(closer, k, "win shares") for k in range(3)] == [1.5, 2.5, 2]
    narrow = circle(LegResult((1, 2), (24, 0), (50, 20), (0, 0)))
    assert order(narrow) == [1, 2, 0]
    assert [tie_break(narrow, k, "points ahead") for k in range(3)] == [-10, 10, 0]
    faulty = circle(LegResult((1, 2), (24, 0), (60, 20), (0, 1)))
    assert order(faulty) == [0, 2, 1]
    assert places(faulty) == [1, 1, 3]


def test_a_table_of_three_scores_the_part_of_the_opponents_left_behind() -> None:
    tournament = Tournament(Plan("round-robin", 3, players=3))
    (leg,) = tournament.due()
    tournament.record(leg.key, LegResult((1, 2, 2), (36, 0, 0), (90, 40, 20), (0, 0, 0)))
    assert scores(tournament) == {0: 1, 1: Fraction(1, 4), 2: Fraction(1, 4)}
    assert tie_break(tournament, 0, "points ahead") == 60
    assert tie_break(tournament, 1, "points ahead") == -15
    first, *others = tournament.standings()
    assert (first.wins, first.draws, first.losses) == (1, 0, 0)
    assert [(s.wins, s.draws, s.losses) for s in others] == [(0, 0, 1)] * 2
    cells = tournament.crosstable().cells
    assert cells[0, 2].points == 1
    assert cells[1, 2].points == Fraction(1, 2)


@pytest.mark.parametrize(("entrants", "challengers"), [(2, 1), (9, 1), (12, 4), (9, 5), (12, 11)])
def test_every_challenger_of_a_gauntlet_meets_every_opponent(
    entrants: int, challengers: int
) -> None:
    plan = Plan("gauntlet", entrants, challengers=challengers, rounds=2)
    met = meetings(Tournament(plan))
    assert met == {
        (one, other): 2 for one in range(challengers) for other in range(challengers, entrants)
    }


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("opponents", [3, 4, 5, 6, 9, 10])
def test_a_gauntlet_at_larger_tables_has_one_challenger_at_each(
    opponents: int, players: int
) -> None:
    plan = Plan("gauntlet", opponents + 3, players=players, challengers=3)
    size = players - 1
    groups = opponent_groups(plan)
    assert len(groups) == (opponents // size if opponents % size == 0 else opponents)
    tournament = Tournament(plan)
    met = meetings(tournament)
    for leg in tournament.due():
        assert sum(entrant < 3 for entrant in leg.pairing.entrants) == 1
    often = {met[one, other] for one in range(3) for other in range(3, opponents + 3)}
    assert often == {1 if opponents % size == 0 else size}


def test_a_gauntlet_ranks_challengers_and_opponents_on_their_own() -> None:
    tournament = Tournament(Plan("gauntlet", 5, challengers=2))
    won: dict[Pair, LegResult] = {(0, 2): WIN, (0, 3): WIN, (0, 4): LOSS}
    finish(tournament, won | {(1, 2): WIN, (1, 3): LOSS, (1, 4): LOSS})
    assert [(s.group, s.place, s.entrant, s.wins) for s in tournament.standings()] == [
        ("challengers", 1, 0, 2),
        ("challengers", 2, 1, 1),
        ("opponents", 1, 4, 2),
        ("opponents", 2, 3, 1),
        ("opponents", 3, 2, 0),
    ]


def test_all_rounds_of_a_full_gauntlet_keep_every_challenger_busy() -> None:
    tournament = played(Plan("gauntlet", 20, challengers=6))
    assert [len(view.tables) for view in tournament.rounds] == [6] * 14
