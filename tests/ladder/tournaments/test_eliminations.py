"""Eliminations: brackets, series, who goes on, and what places are left."""

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_ladder.errors import LadderError
from keltis_ladder.match.table_labels import TableCode, TableLabel, label_text
from keltis_ladder.tournaments import LegResult, Plan, TableState, TableView, Tournament
from keltis_ladder.tournaments.schedules.brackets import (
    SEED,
    bracket_of,
    drop_in_crossings,
    seeded_slots,
)
from keltis_ladder.tournaments.views import origin_text
from tests.ladder.tournaments.support.playing import (
    DRAW,
    LOSS,
    WIN,
    better_seed,
    lot,
    order,
    places,
    plans,
    play,
    played,
    winner_is,
)

SINGLE = ("single-elimination",)
DOUBLE = ("double-elimination",)


def tables_of(tournament: Tournament) -> list[TableView]:
    return [table for view in tournament.rounds for table in view.tables]


def losses_of(tournament: Tournament) -> Counter[int]:
    """Count the tables that each entrant lost."""
    return Counter(
        entrant
        for table in tables_of(tournament)
        if table.state == TableState.DONE
        for entrant in table.entrants
        if entrant is not None and entrant != table.winner
    )


# Single elimination


@settings(max_examples=60)
@given(plans(formats=SINGLE, players=2), st.integers(0, 99))
def test_single_elimination_takes_a_table_for_everybody_who_goes_out(plan: Plan, seed: int) -> None:
    tournament = played(plan, seed)
    third_place = plan.entrants >= 4
    assert len(tables_of(tournament)) == plan.entrants - 1 + third_place
    final = next(table for table in tables_of(tournament) if table.label.code == TableCode.FINAL)
    assert order(tournament)[0] == final.winner
    assert set(order(tournament)[:2]) == set(final.entrants)
    lost = losses_of(tournament)
    assert lost[order(tournament)[0]] == 0
    assert set(lost.values()) <= {1, 2}
    assert sum(count == 2 for count in lost.values()) == third_place


@settings(max_examples=60)
@given(plans(formats=SINGLE), st.integers(0, 99))
def test_a_bracket_of_any_table_size_ends_with_one(plan: Plan, seed: int) -> None:
    tournament = played(plan, seed)
    lost = losses_of(tournament)
    assert [entrant for entrant in range(plan.entrants) if not lost[entrant]] == [
        order(tournament)[0]
    ]
    assert all(2 <= len(table.entrants) <= plan.players for table in tables_of(tournament))
    # From the second round on all tables are full.
    last = max(table.round for table in tables_of(tournament))
    for table in tables_of(tournament):
        if 1 < table.round < last:
            assert len(table.entrants) == plan.players


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("entrants", [4, 5, 7, 8, 9, 11, 16, 20, 27, 33, 64])
def test_the_best_seeds_meet_as_late_as_can_be_and_have_the_byes(
    entrants: int, players: int
) -> None:
    tournament = Tournament(Plan("single-elimination", entrants, players=players))
    for _ in play(tournament, better_seed):
        pass
    final = next(table for table in tables_of(tournament) if table.label.code == TableCode.FINAL)
    assert set(final.entrants) == set(range(players))
    byes = tournament.rounds[0].byes
    assert byes == tuple(range(len(byes)))
    # In every round the survivors are the best seeds, and the best have the smallest tables.
    for view in tournament.rounds:
        tables = [table for table in view.tables if table.label.code != TableCode.THIRD_PLACE]
        seeds = [seed for table in tables for seed in table.entrants if seed is not None]
        assert sorted([*seeds, *view.byes]) == list(range(len(seeds) + len(view.byes)))
        by_best = sorted(tables, key=lambda table: min(s for s in table.entrants if s is not None))
        sizes = [len(table.entrants) for table in by_best]
        assert sizes == sorted(sizes)
    assert order(tournament)[0] == 0


def test_eight_seeds_stand_in_the_usual_order() -> None:
    slots = [slot.number if slot else None for slot in seeded_slots(8, 2)]
    assert slots == [0, 7, 3, 4, 1, 6, 2, 5]
    six = [slot.number if slot else None for slot in seeded_slots(6, 2)]
    assert six == [0, None, 3, 4, 1, None, 2, 5]


def test_tables_have_names_for_people() -> None:
    labels = [
        label_text(table.label) for table in tables_of(Tournament(Plan("single-elimination", 16)))
    ]
    assert labels[0] == "Round of 16, table 1"
    assert labels[8:] == [
        *(f"Quarter-final {k}" for k in range(1, 5)),
        "Semi-final 1",
        "Semi-final 2",
        "Final",
        "Third place",
    ]


def test_losers_of_a_round_share_their_place() -> None:
    tournament = Tournament(Plan("single-elimination", 8))
    assert places(tournament) == [1] * 8
    for _ in play(tournament, better_seed):
        pass
    assert order(tournament) == list(range(8))
    assert places(tournament) == [1, 2, 3, 4, 5, 5, 5, 5]
    labels = [
        label_text(standing.eliminated_in) if standing.eliminated_in else ""
        for standing in tournament.standings()
    ]
    assert labels[:5] == ["", "Final", "Semi-final 2", "Semi-final 1", "Quarter-final 2"]


def test_the_bracket_says_where_everybody_goes() -> None:
    tournament = Tournament(Plan("single-elimination", 4))
    tournament.record("1/1/1", WIN)
    semi, other = tournament.bracket()[0].tables
    assert (semi.winner, semi.winner_to, semi.loser_to) == (
        0,
        TableLabel(TableCode.FINAL),
        TableLabel(TableCode.THIRD_PLACE),
    )
    assert (other.winner, other.state) == (None, TableState.OPEN)
    final, third = tournament.bracket()[1].tables
    assert final.entrants == (0, None)
    assert third.entrants == (3, None)
    assert final.state == TableState.WAITING
    assert [origin_text(origin) for origin in final.comes_from] == [
        "Winner of Semi-final 1",
        "Winner of Semi-final 2",
    ]
    assert [origin_text(origin) for origin in semi.comes_from] == ["Seed 1", "Seed 4"]
    with pytest.raises(LadderError, match="look at its bracket"):
        tournament.crosstable()
    with pytest.raises(LadderError, match="look at its crosstable"):
        Tournament(Plan("swiss", 4)).bracket()


# Series


def series(matches: int, *results: LegResult) -> Tournament:
    """Return a final of two after some matches, each recorded when it was due."""
    tournament = Tournament(Plan("single-elimination", 2, matches=matches))
    for number, result in enumerate(results, 1):
        tournament.record(f"1/1/{number}", result)
    return tournament


def numbers(tournament: Tournament) -> list[int]:
    return [leg.number for leg in tournament.due()]


def test_matches_are_played_until_nobody_can_catch_up() -> None:
    assert numbers(series(1)) == [1]
    assert numbers(series(3)) == [1, 2]
    assert numbers(series(5)) == [1, 2, 3]
    assert numbers(series(3, WIN)) == [2]
    assert series(3, WIN, WIN).finished
    assert numbers(series(3, WIN, DRAW)) == [3]  # the other can still draw level
    assert numbers(series(3, WIN, LOSS)) == [3]
    assert numbers(series(5, WIN, LOSS, WIN)) == [4]
    assert series(5, WIN, WIN, WIN).finished
    assert numbers(series(4, WIN, WIN)) == [3]
    assert order(series(3, LOSS, LOSS)) == [1, 0]
    with pytest.raises(LadderError, match="decided without it"):
        series(3, WIN, WIN, WIN)


def test_a_level_series_has_up_to_two_extra_matches() -> None:
    assert numbers(series(2, WIN, LOSS)) == [3]
    assert order(series(2, WIN, LOSS, LOSS)) == [1, 0]
    assert numbers(series(2, WIN, LOSS, DRAW)) == [4]
    assert order(series(2, WIN, LOSS, DRAW, LOSS)) == [1, 0]
    assert series(1, DRAW, DRAW, DRAW).finished


def test_what_is_level_after_all_is_decided_by_shares_points_faults_and_seed() -> None:
    def drawn(twelfths: tuple[int, int], points: tuple[int, int], faults: tuple[int, int]) -> int:
        result = LegResult((1, 1), twelfths, points, faults)
        tournament = series(1, DRAW, result, DRAW)
        assert tournament.finished
        return order(tournament)[0]

    assert drawn((6, 12), (50, 20), (0, 0)) == 1
    assert drawn((12, 12), (40, 41), (0, 1)) == 1
    assert drawn((12, 12), (40, 40), (1, 0)) == 1
    assert drawn((12, 12), (40, 40), (0, 0)) == 0


def test_at_a_table_of_three_only_those_in_front_are_still_level() -> None:
    tournament = Tournament(Plan("single-elimination", 3, players=3))
    nothing = (0, 0, 0)
    tournament.record("1/1/1", LegResult((3, 1, 1), nothing, nothing, nothing))
    assert numbers(tournament) == [2]
    # The first seed wins the extra match, but it was not level any more.
    tournament.record("1/1/2", LegResult((1, 3, 2), nothing, nothing, nothing))
    assert tournament.finished
    assert order(tournament) == [2, 1, 0]
    assert places(tournament) == [1, 2, 3]


def test_a_void_match_is_decided_by_what_remains_and_in_the_end_by_seed() -> None:
    tournament = series(3, LOSS)
    tournament.void("1/1/2")
    tournament.void("1/1/3")
    assert order(tournament) == [1, 0]
    tournament = series(1)
    for number in (1, 2, 3):
        assert numbers(tournament) == [number]
        tournament.void(f"1/1/{number}")
    assert tournament.finished
    assert order(tournament) == [0, 1]


# Double elimination


@settings(max_examples=40)
@given(plans(formats=DOUBLE), st.integers(0, 99))
def test_in_a_double_elimination_nobody_goes_out_before_the_second_loss(
    plan: Plan, seed: int
) -> None:
    tournament = Tournament(plan)
    rng = random.Random(seed)
    for count, _ in enumerate(play(tournament, lot(rng), rng)):
        if count % 8 == 0:
            lost = losses_of(tournament)
            out = {s.entrant for s in tournament.standings() if s.eliminated_in}
            assert out == {entrant for entrant in lost if lost[entrant] == 2}
    lost = losses_of(tournament)
    champion = order(tournament)[0]
    assert lost[champion] <= 1
    assert all(lost[entrant] == 2 for entrant in range(plan.entrants) if entrant != champion)
    done = [table for table in tables_of(tournament) if table.state == TableState.DONE]
    assert len(done) == 2 * plan.entrants - 2 + lost[champion]
    again = tables_of(tournament)[-1]
    assert label_text(again.label) == "Grand final, again"
    assert (again.state == TableState.NOT_NEEDED) == (lost[champion] == 0)


def test_the_second_final_is_played_only_if_the_first_was_an_upset() -> None:
    tournament = Tournament(Plan("double-elimination", 2))
    tournament.record("1/1/1", WIN)
    assert places(tournament) == [1, 1]
    tournament.record("2/1/1", WIN)
    assert tournament.finished
    assert tournament.rounds[2].state == TableState.NOT_NEEDED
    for last in (0, 1):
        tournament = Tournament(Plan("double-elimination", 2))
        tournament.record("1/1/1", WIN)
        tournament.record("2/1/1", LOSS)
        (leg,) = tournament.due()
        assert leg.key == "3/1/1"
        assert places(tournament) == [1, 1]
        tournament.record(leg.key, winner_is(last, leg))
        assert tournament.finished
        assert order(tournament) == [last, 1 - last]


def test_places_of_a_double_elimination_follow_the_losers_bracket() -> None:
    tournament = Tournament(Plan("double-elimination", 8))
    for _ in play(tournament, better_seed):
        pass
    assert order(tournament)[:4] == [0, 1, 2, 3]
    assert places(tournament) == [1, 2, 3, 4, 5, 5, 7, 7]
    assert tournament.standings()[2].eliminated_in == TableLabel(TableCode.LOSERS_FINAL)


def first_rematch(entrants: int, tries: int) -> str:
    """Return the earliest losers' round in which two met again, over many tournaments."""
    rounds = []
    for seed in range(tries):
        met: set[frozenset[int | None]] = set()
        for table in tables_of(played(Plan("double-elimination", entrants), seed)):
            if table.bracket == "L" and frozenset(table.entrants) in met:
                rounds.append((table.round, label_text(replace(table.label, table=0))))
            met.add(frozenset(table.entrants))
    return min(rounds)[1]


def test_drop_ins_cross_over_so_that_nobody_soon_meets_again() -> None:
    assert drop_in_crossings(2) == [0, 0]
    assert drop_in_crossings(3) == [0, 1, 0]
    assert drop_in_crossings(4) == [0, 3, 0, 0]
    assert drop_in_crossings(6) == [0, 15, 3, 2, 0, 0]
    # Without crossing over it would be the second round.
    assert first_rematch(8, 50) == "Losers' round 3"
    assert first_rematch(16, 50) == "Losers' round 4"
    assert first_rematch(32, 50) == "Losers' round 5"


@pytest.mark.parametrize("rounds", range(3, 10))
def test_those_who_can_meet_at_once_met_as_long_ago_as_can_be(rounds: int) -> None:
    crossings = drop_in_crossings(rounds)

    def last_meeting(late: int, crossing: int) -> int:
        repeated = [q for q in range(late) if crossings[q] >> (late - q) == crossing]
        return max(repeated, default=-1)

    for late in range(1, rounds):
        every = range(2 ** (rounds - 1 - late))
        best = min(last_meeting(late, crossing) for crossing in every)
        assert last_meeting(late, crossings[late]) == best


@pytest.mark.parametrize("entrants", range(2, 41))
def test_a_double_bracket_brings_everybody_to_one_table_at_a_time(entrants: int) -> None:
    nodes = bracket_of(Plan("double-elimination", entrants)).nodes
    sources = [source for node in nodes for source in node.sources]
    assert len(set(sources)) == len(sources)
    assert sorted(s.number for s in sources if s.kind == SEED) == list(range(entrants))
    assert Counter(node.bracket for node in nodes) == Counter(W=entrants - 1, L=entrants - 2, F=2)
    for node in nodes:
        for source in node.sources:
            assert source.kind == SEED or nodes[source.number].round < node.round
    assert len({(node.round, node.table) for node in nodes}) == len(nodes)
    assert len({node.label for node in nodes}) == len(nodes)


def test_scores_of_a_table_are_shown_by_entrant() -> None:
    tournament = series(3, WIN, DRAW, LOSS)
    (table,) = tables_of(tournament)
    assert table.scores == (Fraction(3, 2), Fraction(3, 2))
    assert table.state == TableState.OPEN
    assert table.played == 3


def test_seeds_decide_nothing_but_the_bracket() -> None:
    champions = {order(played(Plan("single-elimination", 4), seed))[0] for seed in range(20)}
    assert champions == {0, 1, 2, 3}
