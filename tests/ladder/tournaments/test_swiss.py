"""Swiss tournaments: pairings by score, byes, and tables worked out by hand."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_ladder.tournaments import LegResult, Plan, Tournament, restore
from tests.ladder.tournaments.schedules.test_matching import all_pairings
from tests.ladder.tournaments.support.playing import (
    DRAW,
    better_seed,
    order,
    places,
    plans,
    play,
    played,
    scores,
    tie_break,
    winner_is,
)

HALF = Fraction(1, 2)


def tables(tournament: Tournament, number: int) -> list[tuple[int | None, ...]]:
    return [table.entrants for table in tournament.rounds[number - 1].tables]


def play_round(tournament: Tournament, winners: list[int | None]) -> None:
    """Record one round, table by table; None is a draw."""
    for leg, winner in zip(tournament.due(), winners, strict=True):
        tournament.record(leg.key, DRAW if winner is None else winner_is(winner, leg))


def test_four_entrants_and_three_rounds_worked_out_by_hand() -> None:
    tournament = Tournament(Plan("swiss", 4, rounds=3))
    assert tables(tournament, 1) == [(0, 2), (1, 3)]
    play_round(tournament, [0, None])
    # 0 has 1, 1 and 3 have a half, 2 has nothing: 0 goes down to 1, who comes before 3.
    assert tables(tournament, 2) == [(0, 1), (3, 2)]
    play_round(tournament, [1, 3])
    # 1 and 3 have one and a half but met; everybody has one opponent left.
    assert tables(tournament, 3) == [(1, 2), (3, 0)]
    play_round(tournament, [2, None])
    assert tournament.finished
    assert scores(tournament) == {0: 3 * HALF, 1: 3 * HALF, 2: 1, 3: 2}
    # Opponents: 0 met 2, 1 and 3; 1 met 3, 0 and 2; 2 met 0, 3 and 1; 3 met 1, 2 and 0.
    assert [tie_break(tournament, k, "Buchholz") for k in range(4)] == [4.5, 4.5, 5, 4]
    assert [tie_break(tournament, k, "Buchholz cut 1") for k in range(4)] == [3.5, 3.5, 3.5, 3]
    # 0: 1 from 2, half of 2 from 3. 1: half of 2 from 3, 1.5 from 0. 3: 0.75 twice and 1.
    assert [tie_break(tournament, k, "Sonneborn-Berger") for k in range(4)] == [2, 2.5, 1.5, 2.5]
    assert order(tournament) == [3, 1, 0, 2]
    assert places(tournament) == [1, 2, 3, 4]


def test_byes_worked_out_by_hand() -> None:
    tournament = Tournament(Plan("swiss", 3, rounds=2))
    assert tournament.rounds[0].byes == (2,)
    tournament.record("1/1/1", LegResult((1, 2), (24, 0), (60, 20), (0, 0)))
    # 0 and 2 have one, but 2 had a bye: 1, the last, has the next one.
    assert tournament.rounds[1].byes == (1,)
    assert tables(tournament, 2) == [(0, 2)]
    tournament.record("2/1/1", LegResult((1, 2), (18, 6), (60, 20), (0, 0)))
    assert scores(tournament) == {0: 2, 1: 1, 2: 1}
    # In place of an opponent a bye counts one's own score, and an even share of the wins.
    assert [tie_break(tournament, k, "Buchholz") for k in range(3)] == [2, 3, 3]
    assert [tie_break(tournament, k, "Sonneborn-Berger") for k in range(3)] == [2, 1, 1]
    assert [tie_break(tournament, k, "win shares") for k in range(3)] == [3.5, 1, 1.5]
    assert order(tournament) == [0, 2, 1]
    assert [standing.byes for standing in tournament.standings()] == [0, 1, 1]


def test_a_bye_wins_all_matches_of_its_pairing() -> None:
    tournament = Tournament(Plan("swiss", 5, matches=3, rounds=1))
    for _ in play(tournament, better_seed):
        pass
    assert scores(tournament) == {0: 3, 1: 3, 2: 0, 3: 0, 4: 3}


def test_a_bye_at_larger_tables_is_half_a_win() -> None:
    tournament = Tournament(Plan("swiss", 5, players=3, rounds=1))
    assert tournament.rounds[0].byes == (3, 4)
    for _ in play(tournament, better_seed):
        pass
    assert scores(tournament) == {0: 1, 1: HALF, 2: 0, 3: HALF, 4: HALF}


def test_the_better_always_winning_puts_the_best_first() -> None:
    tournament = Tournament(Plan("swiss", 32))
    for _ in play(tournament, better_seed):
        pass
    assert order(tournament)[:3] == [0, 1, 2]
    assert scores(tournament)[0] == 6


@settings(max_examples=60)
@given(plans(formats=["swiss"], most=9, players=2), st.integers(0, 99))
def test_nobody_meets_again_unless_no_pairing_of_the_round_avoids_it(plan: Plan, seed: int) -> None:
    met: set[frozenset[int | None]] = set()
    for view in played(plan, seed).rounds:
        pairs = [frozenset(table.entrants) for table in view.tables]
        playing = [entrant for entrant in range(plan.entrants) if entrant not in view.byes]
        fewest = min(
            sum(frozenset(pair) in met for pair in pairing) for pairing in all_pairings(playing)
        )
        assert sum(pair in met for pair in pairs) == fewest
        met.update(pairs)


@settings(max_examples=15)
@given(st.integers(2, 16), st.integers(0, 99))
def test_half_the_field_can_be_met_without_meeting_anybody_again(size: int, seed: int) -> None:
    # Everybody still has half of the others to meet: then a pairing exists (Dirac).
    plan = Plan("swiss", 2 * size, rounds=size)
    pairs = [frozenset(t.entrants) for view in played(plan, seed).rounds for t in view.tables]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize(("entrants", "players"), [(31, 3), (64, 4)])
def test_at_larger_tables_of_a_large_field_nobody_meets_again(entrants: int, players: int) -> None:
    tournament = played(Plan("swiss", entrants, players=players, rounds=6))
    tables_played = [table for view in tournament.rounds for table in view.tables]
    pairs = [frozenset(p) for t in tables_played for p in combinations(t.entrants, 2)]
    assert len(set(pairs)) == len(pairs)


def test_who_withdrew_is_paired_no_more_and_counts_as_drawing_on() -> None:
    tournament = Tournament(Plan("swiss", 6, rounds=3))
    assert tables(tournament, 1) == [(0, 3), (1, 4), (2, 5)]
    assert tournament.earliest_withdrawal == 1
    tournament.withdraw(5, after_round=1)
    play_round(tournament, [0, 1, 2])
    # Five are left: 4, the last, has a bye.
    assert tournament.rounds[1].byes == (4,)
    assert tables(tournament, 2) == [(0, 1), (2, 3)]
    play_round(tournament, [0, 2])
    # 0 and 2 have not met, but 1 and 4 have, and 3 has the bye.
    assert tables(tournament, 3) == [(0, 4), (2, 1)]
    play_round(tournament, [0, 1])
    assert tournament.finished
    assert scores(tournament) == {0: 3, 1: 2, 2: 2, 3: 1, 4: 1, 5: 0}
    last = next(s for s in tournament.standings() if s.entrant == 5)
    assert (last.played, last.withdrawn, last.byes) == (1, True, 0)
    # 2 met 5, which counts with two draws for the rounds that it was not there, 3 and 1.
    assert tie_break(tournament, 2, "Buchholz") == 1 + 1 + 2
    assert tie_break(tournament, 2, "Sonneborn-Berger") == 1 + 1


def test_a_swiss_tournament_ends_when_too_few_are_left() -> None:
    tournament = Tournament(Plan("swiss", 4, rounds=3))
    for entrant in (1, 2, 3):
        tournament.withdraw(entrant, after_round=1)
    assert tournament.progress == (0, 2)
    play_round(tournament, [0, 1])
    assert tournament.finished
    assert len(tournament.rounds) == 1
    again = restore(tournament.plan, tournament.results, (), tournament.withdrawals)
    assert again.finished


def test_walkovers_replace_what_a_broken_entrant_cannot_play() -> None:
    tournament = Tournament(Plan("swiss", 4, rounds=2, matches=2))
    tournament.record("1/1/1", better_seed(tournament.due()[0]))
    tournament.withdraw(0, tournament.earliest_withdrawal)
    forfeited = tournament.walkovers(0)
    assert [leg.key for leg, _ in forfeited] == ["1/1/2"]
    for leg, result in forfeited:
        tournament.record(leg.key, result)
    assert scores(tournament)[0] == scores(tournament)[2] == 1
