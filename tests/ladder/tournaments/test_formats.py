"""What holds in every format, whatever the results."""

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_ladder.tournaments import Plan, TableState, Tournament
from tests.ladder.tournaments.support.playing import VARIANT_MIXES, lot, plans, play, played

LEAGUES = ("round-robin", "swiss")


@settings(max_examples=80)
@given(plans(), st.integers(0, 99))
def test_every_tournament_ends_with_consistent_standings(plan: Plan, seed: int) -> None:
    tournament = Tournament(plan)
    rng = random.Random(seed)
    keys = []
    for count, leg in enumerate(play(tournament, lot(rng), rng), 1):
        keys.append(leg.key)
        if count % 10 == 1:
            done, expected = tournament.progress
            assert done == count
            assert expected >= count + len(tournament.due())
    assert tournament.progress == (len(keys), len(keys))
    assert len(set(keys)) == len(keys)
    assert not tournament.due()
    assert {view.state for view in tournament.rounds} <= {TableState.DONE, TableState.NOT_NEEDED}
    standings = tournament.standings()
    assert sorted(standing.entrant for standing in standings) == list(range(plan.entrants))
    for group in {standing.group for standing in standings}:
        given_places = [standing.place for standing in standings if standing.group == group]
        assert given_places == [
            1 + sum(other < place for other in given_places) for place in given_places
        ]
    assert sum(standing.wins + standing.draws + standing.losses for standing in standings) == sum(
        standing.played for standing in standings
    )


@settings(max_examples=80)
@given(plans(), st.integers(0, 99))
def test_nobody_plays_himself_or_two_tables_of_a_round(plan: Plan, seed: int) -> None:
    for number, view in enumerate(played(plan, seed).rounds, 1):
        there = [entrant for table in view.tables for entrant in table.entrants]
        there += view.byes
        known = [entrant for entrant in there if entrant is not None]
        assert len(set(known)) == len(known)
        assert {table.round for table in view.tables} == {number} == {view.number}
        assert [table.table for table in view.tables] == list(range(1, len(view.tables) + 1))


@settings(max_examples=60)
@given(plans(formats=LEAGUES), st.integers(0, 99))
def test_everybody_plays_or_has_a_bye_in_every_round(plan: Plan, seed: int) -> None:
    for view in played(plan, seed).rounds:
        there = [entrant for table in view.tables for entrant in table.entrants]
        assert len(there) + len(view.byes) == plan.entrants
        assert {*there, *view.byes} == set(range(plan.entrants))
        assert {len(table.entrants) for table in view.tables} == {plan.players}
        if plan.format == "swiss":
            assert len(view.byes) == plan.entrants % plan.players


@settings(max_examples=40)
@given(plans(formats=["swiss"], most=15), st.integers(0, 99))
def test_nobody_has_two_byes_more_than_another(plan: Plan, seed: int) -> None:
    byes = Counter(dict.fromkeys(range(plan.entrants), 0))
    for view in played(plan, seed).rounds:
        byes.update(view.byes)
        assert max(byes.values()) - min(byes.values()) <= 1


@settings(max_examples=40)
@given(plans(most=12), st.integers(0, 99))
def test_matches_that_are_due_stay_due_until_they_are_recorded(plan: Plan, seed: int) -> None:
    tournament = Tournament(plan)
    rng = random.Random(seed)
    waiting = set(tournament.due())
    for leg in play(tournament, lot(rng), rng):
        waiting.remove(leg)
        due = set(tournament.due())
        assert waiting <= due
        waiting = due
        assert all(tournament.is_due(other.key) for other in due)
        assert not tournament.is_due(leg.key)


@settings(max_examples=40)
@given(plans(formats=("round-robin", "swiss", "gauntlet")), st.integers(0, 99))
def test_the_crosstable_adds_up_to_the_scores(plan: Plan, seed: int) -> None:
    tournament = played(plan, seed)
    table = tournament.crosstable()
    bye = Fraction(2 if plan.players == 2 else 1, 2) * plan.matches
    awarded = bye if plan.format == "swiss" else Fraction(0)
    for standing in tournament.standings():
        mine = [cell for (one, _), cell in table.cells.items() if one == standing.entrant]
        total = sum(cell.points for cell in mine) / (plan.players - 1)
        assert total + awarded * standing.byes == standing.score
        assert sum(cell.matches for cell in mine) == standing.played * (plan.players - 1)
    for (one, other), cell in table.cells.items():
        assert cell.points + table.cells[other, one].points == cell.matches
    assert sorted(table.order) == list(range(plan.entrants))


def test_matches_of_a_pairing_go_through_the_variants_in_turn() -> None:
    mix = VARIANT_MIXES[2]
    for leg in Tournament(Plan("round-robin", 6, variants=mix, matches=6)).due():
        assert leg.variant == mix[(leg.number - 1) % 3]


def test_in_a_round_robin_everybody_plays_every_variant_equally_often() -> None:
    mix = VARIANT_MIXES[2]
    legs = Tournament(Plan("round-robin", 10, variants=mix)).due()
    for entrant in range(10):
        variants = Counter(leg.variant for leg in legs if entrant in leg.pairing.entrants)
        assert variants == dict.fromkeys(mix, 3)
    # In three cycles each two meet once in each variant.
    legs = Tournament(Plan("round-robin", 10, variants=mix, rounds=3)).due()
    for pair in combinations(range(10), 2):
        assert {leg.variant for leg in legs if leg.pairing.entrants == pair} == set(mix)


def test_all_tables_of_a_swiss_round_begin_with_the_same_variant() -> None:
    mix = VARIANT_MIXES[2]
    tournament = Tournament(Plan("swiss", 12, variants=mix, matches=2, rounds=3))
    seen: list[set[str]] = []
    while not tournament.finished:
        due = tournament.due()
        seen.append({leg.variant for leg in due if leg.number == 1})
        for leg in due:
            tournament.record(leg.key, lot(random.Random(1))(leg))
    assert seen == [{mix[0]}, {mix[2]}, {mix[1]}]


def test_in_a_gauntlet_all_challengers_meet_an_opponent_in_the_same_variant() -> None:
    plan = Plan("gauntlet", 12, challengers=4, variants=VARIANT_MIXES[1])
    by_opponent: dict[int, set[str]] = {}
    for leg in Tournament(plan).due():
        by_opponent.setdefault(leg.pairing.entrants[1], set()).add(leg.variant)
    assert all(len(variants) == 1 for variants in by_opponent.values())
    assert len(set.union(*by_opponent.values())) == 2


@settings(max_examples=20)
@given(plans(formats=("single-elimination", "double-elimination"), players=2), st.integers(0, 9))
def test_in_eliminations_the_tables_share_the_variants(plan: Plan, seed: int) -> None:
    tournament = Tournament(plan)
    firsts: Counter[str] = Counter()
    for leg in play(tournament, lot(random.Random(seed))):
        firsts[leg.variant] += leg.number == 1
    if plan.matches % len(plan.variants):
        counts = [firsts[variant] for variant in plan.variants]
        assert max(counts) - min(counts) <= 2  # one for the second final that is not always played
