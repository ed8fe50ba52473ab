"""A tournament is its plan and its results: nothing else, and in no particular order."""

import os
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_ladder.errors import LadderError
from keltis_ladder.match.table_labels import TableCode
from keltis_ladder.tournaments import FORMATS, Leg, LegResult, Plan, Tournament, restore
from tests.ladder.tournaments.support.playing import (
    DRAW,
    LOSS,
    WIN,
    everything,
    lot,
    order,
    places,
    plans,
    scores,
)

Event = tuple[str, Any, Any]


def apply(tournament: Tournament, event: Event) -> None:
    kind, which, what = event
    if kind == "result":
        tournament.record(which, what)
    elif kind == "void":
        tournament.void(which)
    else:
        tournament.withdraw(which, what)


def restored(tournament: Tournament) -> Tournament:
    return restore(tournament.plan, tournament.results, tournament.voids, tournament.withdrawals)


def random_event(tournament: Tournament, rng: random.Random) -> Event:
    """Return something that can happen now: mostly a result, sometimes trouble."""
    leg: Leg = rng.choice(tournament.due())
    trouble = rng.random()
    if trouble < 0.05:
        return ("void", leg.key, None)
    here = [e for e in leg.pairing.entrants if e not in tournament.withdrawals]
    if trouble < 0.1 and here:
        return ("withdrawal", rng.choice(here), tournament.earliest_withdrawal + rng.randrange(3))
    return ("result", leg.key, lot(rng)(leg))


def eventful(plan: Plan, seed: int) -> tuple[Tournament, list[Event]]:
    """Return a tournament with troubles, and everything that happened in it."""
    rng = random.Random(seed)
    tournament = Tournament(plan)
    events = []
    while not tournament.finished:
        event = random_event(tournament, rng)
        apply(tournament, event)
        events.append(event)
    return tournament, events


@settings(max_examples=60)
@given(plans(most=12), st.integers(0, 999))
def test_at_every_moment_a_restored_tournament_is_the_same(plan: Plan, seed: int) -> None:
    rng = random.Random(seed)
    tournament = Tournament(plan)
    while not tournament.finished:
        event = random_event(tournament, rng)
        apply(tournament, event)
        if rng.random() < 0.3:
            assert everything(restored(tournament)) == everything(tournament)
    assert everything(restored(tournament)) == everything(tournament)


@settings(max_examples=60)
@given(plans(most=12), st.integers(0, 999))
def test_replaying_the_events_gives_the_same_tournament_at_every_step(
    plan: Plan, seed: int
) -> None:
    _, events = eventful(plan, seed)
    first, second = Tournament(plan), Tournament(plan)
    for count, event in enumerate(events):
        apply(first, event)
        apply(second, event)
        apply(second, event)  # whoever delivers twice changes nothing
        if count % 5 == 0:
            assert everything(first) == everything(second)
    assert everything(first) == everything(second)


@settings(max_examples=60)
@given(plans(most=12), st.integers(0, 999))
def test_the_order_in_which_results_arrive_changes_nothing(plan: Plan, seed: int) -> None:
    rng = random.Random(seed)
    first = Tournament(plan)
    while not first.finished:
        leg = rng.choice(first.due())
        first.record(leg.key, lot(rng)(leg))
    second = Tournament(plan)
    while not second.finished:
        due = second.due()
        for leg in rng.sample(due, rng.randint(1, len(due))):
            second.record(leg.key, first.results[leg.key])
    assert everything(second) == everything(first)
    # And in between: the same part of the results, recorded in two orders.
    keys = list(first.results)[: len(first.results) // 2]
    part = {key: first.results[key] for key in keys}
    in_order = Tournament(plan)
    for key in keys:
        in_order.record(key, part[key])
    shuffled = Tournament(plan)
    while len(shuffled.results) < len(part):
        ready = [leg.key for leg in shuffled.due() if leg.key in part]
        for key in rng.sample(ready, rng.randint(1, len(ready))):
            shuffled.record(key, part[key])
    assert everything(shuffled) == everything(in_order)
    assert everything(restore(plan, dict(sorted(part.items())))) == everything(in_order)


def test_a_result_cannot_change_but_can_come_twice() -> None:
    tournament = Tournament(Plan("round-robin", 4))
    tournament.record("1/1/1", WIN)
    before = everything(tournament)
    tournament.record("1/1/1", WIN)
    assert everything(tournament) == before
    with pytest.raises(LadderError, match="1/1/1 has another result already"):
        tournament.record("1/1/1", DRAW)
    with pytest.raises(LadderError, match="dealt with already"):
        tournament.void("1/1/1")
    tournament.void("1/2/1")
    tournament.void("1/2/1")
    with pytest.raises(LadderError, match="dealt with already"):
        tournament.record("1/2/1", WIN)
    assert everything(restored(tournament)) == everything(tournament)


@pytest.mark.parametrize(
    "key", ["9/1/1", "1/9/1", "1/1/2", "1/1", "1", "", "1/1/-1", "1/1/01", "1/1/¹", "1/1/١"]
)
@pytest.mark.parametrize("format_", FORMATS)
def test_unknown_matches_are_refused(format_: str, key: str) -> None:
    tournament = Tournament(Plan(format_, 4))
    assert not tournament.is_due(key)
    with pytest.raises(LadderError, match="is due"):
        tournament.record(key, WIN)
    with pytest.raises(LadderError, match="is due"):
        tournament.void(key)
    with pytest.raises(LadderError, match="does not belong to this tournament"):
        restore(tournament.plan, {key: WIN})
    assert tournament.progress[0] == 0


def test_a_later_round_cannot_be_recorded_before_it_is_paired() -> None:
    tournament = Tournament(Plan("swiss", 4))
    with pytest.raises(LadderError, match="no such table yet"):
        tournament.record("2/1/1", WIN)
    with pytest.raises(LadderError, match="not of the same one"):
        restore(tournament.plan, {"1/1/1": WIN, "2/1/1": WIN})


def test_a_log_that_contradicts_itself_is_refused() -> None:
    plan = Plan("round-robin", 4)
    with pytest.raises(LadderError, match="does not belong"):
        restore(plan, {"1/1/1": WIN}, ["1/1/1"])
    with pytest.raises(LadderError, match="does not fit a table of 2"):
        restore(plan, {"1/1/1": LegResult((1,), (0,), (0,), (0,))})
    with pytest.raises(LadderError, match="no entrant 4: they are 0 to 3"):
        restore(plan, {}, (), {4: 0})


def test_in_a_round_robin_what_a_withdrawn_entrant_has_not_played_is_forfeited() -> None:
    tournament = Tournament(Plan("round-robin", 4))
    first = next(leg for leg in tournament.due() if 3 in leg.pairing.entrants)
    tournament.record(first.key, LOSS)  # 3 comes last at its tables
    tournament.withdraw(3, after_round=0)
    assert all(3 not in leg.pairing.entrants for leg in tournament.due())
    beaten = first.pairing.entrants[0]
    assert scores(tournament) == {k: 1 if k == 3 or k != beaten else 0 for k in range(4)}
    gone = next(standing for standing in tournament.standings() if standing.entrant == 3)
    assert (gone.withdrawn, gone.wins, gone.losses) == (True, 1, 2)
    forfeited = [t for view in tournament.rounds for t in view.tables if t.forfeited]
    assert len(forfeited) == 2
    late = forfeited[0]
    with pytest.raises(LadderError, match="forfeited when somebody withdrew"):
        tournament.record(f"{late.round}/{late.table}/1", WIN)


def test_rounds_before_a_withdrawal_are_still_played() -> None:
    tournament = Tournament(Plan("round-robin", 6))
    tournament.withdraw(2, after_round=3)
    owed = [leg.pairing.round for leg in tournament.due() if 2 in leg.pairing.entrants]
    assert owed == [1, 2, 3]


def test_of_two_who_withdrew_the_first_forfeits() -> None:
    tournament = Tournament(Plan("round-robin", 3))
    tournament.withdraw(1, after_round=0)
    tournament.withdraw(0, after_round=0)
    assert tournament.finished
    assert scores(tournament) == {0: 1, 1: 0, 2: 2}
    assert everything(restored(tournament)) == everything(tournament)


def test_in_an_elimination_the_opponent_of_a_withdrawn_entrant_goes_on() -> None:
    tournament = Tournament(Plan("single-elimination", 4, matches=3))
    tournament.record("1/1/1", WIN)
    tournament.withdraw(0, after_round=0)
    semi = tournament.rounds[0].tables[0]
    assert (semi.winner, semi.forfeited, semi.played) == (3, True, 3)
    # 0 forfeits the third place as well, as soon as the other semi-final is over.
    tournament.record("1/2/1", WIN)
    tournament.record("1/2/2", WIN)
    assert {leg.pairing.label.code for leg in tournament.due()} == {TableCode.FINAL}
    for leg in tournament.due():
        tournament.record(leg.key, WIN)
    assert tournament.finished
    assert order(tournament)[2:] == [2, 0]
    assert places(tournament) == [1, 2, 3, 4]
    assert everything(restored(tournament)) == everything(tournament)


def test_at_a_larger_table_the_others_share_what_one_forfeits() -> None:
    tournament = Tournament(Plan("round-robin", 3, players=3))
    tournament.withdraw(1, after_round=0)
    assert tournament.finished
    assert {k: float(score) for k, score in scores(tournament).items()} == {0: 0.75, 1: 0, 2: 0.75}
    assert places(tournament) == [1, 1, 3]


def test_withdrawals_that_make_no_sense_are_refused() -> None:
    tournament = Tournament(Plan("swiss", 4, rounds=3))
    with pytest.raises(LadderError, match="no entrant 4: they are 0 to 3"):
        tournament.withdraw(4, 1)
    with pytest.raises(LadderError, match="take 1 or later, because what is paired stays paired"):
        tournament.withdraw(0, 0)
    tournament.withdraw(0, 2)
    tournament.withdraw(0, 2)
    with pytest.raises(LadderError, match="withdrawn already, after round 2"):
        tournament.withdraw(0, 1)
    for leg in tournament.due():
        tournament.record(leg.key, WIN)
    with pytest.raises(LadderError, match="take 2 or later"):
        tournament.withdraw(1, 1)
    over = Tournament(Plan("round-robin", 2))
    over.record("1/1/1", WIN)
    with pytest.raises(LadderError, match="the tournament is over"):
        over.withdraw(0, 0)


def test_a_void_match_counts_for_nobody() -> None:
    tournament = Tournament(Plan("swiss", 4, rounds=1))
    tournament.void("1/1/1")
    tournament.record("1/2/1", WIN)
    assert tournament.finished
    assert scores(tournament) == {0: 0, 1: 1, 2: 0, 3: 0}
    assert [s.played for s in sorted(tournament.standings(), key=lambda s: s.entrant)] == [
        0,
        1,
        0,
        1,
    ]


def test_the_pairings_of_a_swiss_tournament_are_the_same_for_ever() -> None:
    """Stored results name matches by round and table, so pairings must never change."""

    def leader(leg: Leg) -> LegResult:
        one, other = leg.pairing.entrants
        return WIN if (one * 7 + other * 3 + leg.pairing.round) % 5 < 3 else LOSS

    tournament = Tournament(Plan("swiss", 9, rounds=5))
    while not tournament.finished:
        for leg in tournament.due():
            tournament.record(leg.key, leader(leg))
    assert [
        (" ".join("-".join(map(str, table.entrants)) for table in view.tables), view.byes)
        for view in tournament.rounds
    ] == [
        ("0-4 1-5 2-6 3-7", (8,)),
        ("4-6 5-7 8-0 1-2", (3,)),
        ("6-7 0-5 1-4 3-8", (2,)),
        ("6-5 1-7 8-2 0-3", (4,)),
        ("6-1 8-4 3-5 7-2", (0,)),
    ]


def test_the_lots_of_a_round_robin_are_the_same_for_ever() -> None:
    tournament = Tournament(Plan("round-robin", 9, players=3, seed=7))
    assert [
        " ".join("-".join(map(str, table.entrants)) for table in view.tables)
        for view in tournament.rounds[:2]
    ] == ["0-2-5 1-4-7 3-6-8", "0-3-7 1-2-8 4-5-6"]


@pytest.mark.parametrize("format_", ["swiss", "double-elimination", "gauntlet"])
def test_another_process_with_another_hash_seed_agrees(format_: str) -> None:
    program = (
        "from keltis_ladder.tournaments import Plan\n"
        "from tests.ladder.tournaments.support.playing import everything, played\n"
        f"print(everything(played(Plan({format_!r}, 13, variants=('keltis', 'neue-wege')), 5)))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert "Standing(place=1" in said.pop()
