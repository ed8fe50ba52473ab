"""The benchmark that holds ratings against the truth counts right, and plays real matches."""

import math
import random
from pathlib import Path

import pytest
from bench.proof import bank
from bench.proof.attacks import ATTACKS, HONEST, Ending, gains_of
from bench.proof.bank import Bank, outcome_of, play, result_of
from bench.proof.boards import Board, Claim, joint_boards
from bench.proof.ladders import OWN, RANDOM
from bench.proof.measures import measure, true_rating, true_score
from bench.proof.players import STYLES
from bench.proof.report import Report
from bench.proof.simulated import Made, SimulatedWorld, mixed
from bench.proof.truth import Effort, play_truth, tables_of

from keltis_ladder.ratings.joint.kinds import KINDS
from keltis_ladder.ratings.scopes import Scope

SCOPE = Scope("keltis", 2)
FOUR = KINDS.index(("keltis", 4))


def made_up(count: int, seed: int = 1) -> list[Made]:
    chance = random.Random(seed)
    bots = [
        Made(
            (chance.gauss(0.0, 2.0),) * len(KINDS),
            tuple((chance.gauss(0.0, 0.5), chance.gauss(0.0, 0.5)) for _ in range(4)),
        )
        for _ in range(5)
    ]
    return mixed(bots, count, seed)


def test_a_match_is_the_same_every_time_and_ranked_as_on_a_ladder() -> None:
    points = play("kartenspiel", (0, 14, 6), 5)
    assert points == play("kartenspiel", (0, 14, 6), 5)
    assert points != play("kartenspiel", (0, 14, 6), 6)
    assert len(points) == 3
    outcome = outcome_of("kartenspiel", (0, 14, 6), result_of(points))
    totals = [sum(points[game][(entrant - game) % 3] for game in range(3)) for entrant in range(3)]
    greedy, at_random, _ = totals
    assert greedy > at_random
    assert outcome.ranks[0] < outcome.ranks[1]
    assert outcome.ahead[0][1] + outcome.ahead[1][0] == 3


def test_the_bank_gives_back_what_was_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bank, "PLACE", tmp_path)
    first = Bank.open("some", range(2))
    played = [first.outcome("weg-der-steine", (0, 1), number) for number in range(3)]
    first.keep()
    again = Bank.open("some", range(2))
    assert [again.outcome("weg-der-steine", (0, 1), number) for number in range(3)] == played
    assert again.played == 0
    assert Bank.open("other", range(2)).outcome("weg-der-steine", (0, 1), 0) != played[0]


def test_everybody_sits_at_about_as_many_tables_of_the_truth() -> None:
    tables = tables_of(range(7), FOUR, Effort(1, 12))
    seats = [sum(bot in table for table in tables) for bot in range(7)]
    assert max(seats) - min(seats) <= 2
    assert all(len(set(table)) == 4 for table in tables)


def test_the_truth_puts_a_careful_player_before_a_random_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bank, "PLACE", tmp_path)
    assert STYLES[14].mistakes == 100
    truth = play_truth([0, 14, 10], 0, Effort(3, 0))
    assert truth.lead(0) > truth.lead(2) > truth.lead(1)
    assert truth.leads[0][1] == pytest.approx(-truth.leads[1][0])
    assert truth.shares[0][1] == pytest.approx(1.0 - truth.shares[1][0])


@pytest.mark.parametrize(("off", "covered"), [(1.9, True), (2.0, False)])
def test_an_interval_covers_up_to_its_end(off: float, covered: bool) -> None:
    """A board that is wrong by so many of its standard deviations, everywhere."""
    world = SimulatedWorld("w", made_up(8))
    true = [true_rating(world.truth, SCOPE, bot).value for bot in range(8)]
    scores = [true_score(world.truth, SCOPE, bot, by_games=True) for bot in range(8)]
    board = Board(
        ratings=[Claim(value, 1.0) for value in true],
        scores=[Claim(each.value + 0.01 * off, 0.01) for each in scores],
        by_games=True,
        gap=lambda one, other: Claim(true[one] - true[other] + 0.5 * off, 0.5),
        apart=lambda one, other: False,
        exact_gap=lambda one, other: Claim(true[one] - true[other] + 0.5 * off, 0.1),
    )
    found = measure(world, SCOPE, board, 1)
    assert found.scores == {covered: 8}
    assert found.gaps == {covered: 28}
    assert found.exact_gaps == {False: 28}
    assert found.row()["exact_gaps"] == 0.0
    assert found.taus == [pytest.approx(1.0, abs=0.1)]  # clones are equal
    assert found.clones == {False: 1}


def test_an_upside_down_board_is_wrong_about_all_but_clones() -> None:
    world = SimulatedWorld("w", made_up(8))
    true = [true_rating(world.truth, SCOPE, bot).value for bot in range(8)]
    board = Board(
        ratings=[Claim(-value, 0.01) for value in true],
        scores=[],
        by_games=True,
        gap=lambda one, other: Claim(true[other] - true[one], 0.01),
        apart=lambda one, other: True,
    )
    found = measure(world, SCOPE, board, 1)
    assert found.apart == {False: 27}
    assert found.clones == {True: 1}
    assert found.taus[0] < -0.9


def test_differences_are_measured_as_people_are_shown_them() -> None:
    world = SimulatedWorld("w", made_up(4))
    board = joint_boards(4, world.ladder(RANDOM, 40, seed=2))(SCOPE)
    assert board.exact_gap is not None
    gap, exact = board.gap(0, 3), board.exact_gap(0, 3)
    assert gap.sigma == math.hypot(board.ratings[0].sigma, board.ratings[3].sigma)
    assert gap.value == pytest.approx(exact.value)
    assert gap.sigma != exact.sigma


@pytest.mark.parametrize("tables", [RANDOM, OWN])
def test_a_drawn_ladder_has_the_leads_of_its_world(tables: str) -> None:
    world = SimulatedWorld("w", made_up(4))
    outcomes = world.ladder(tables, 1500, seed=3)
    assert {len(each.bots) for each in outcomes} == {2, 3, 4}
    assert outcomes == world.ladder(tables, 1500, seed=3)
    played = [each for each in outcomes if each.variant == "keltis" and len(each.bots) == 4]
    unit = 12 * 4 * 5.5  # twelfths, games, luck in points
    for bot in range(4):
        made = [
            (each.scores[each.bots.index(bot)] * 4 - sum(each.scores)) / 3 / unit for each in played
        ]
        error = (4 / 3 / len(made)) ** 0.5
        assert sum(made) / len(made) == pytest.approx(world.truth[FOUR].lead(bot), abs=4.5 * error)


def test_a_gain_is_what_a_cheat_has_more_than_an_honest_one() -> None:
    endings = [Ending(HONEST, seed, float(seed), 0.5, 1, 0.3) for seed in range(2)]
    name = next(name for name in ATTACKS if name != HONEST)
    endings += [Ending(name, seed, seed + 2.0 + seed, 0.0, 2, 0.4) for seed in range(2)]
    everything = endings + [
        Ending(other, seed, 0.0, 0.0, 0, 0.3)
        for other in ATTACKS
        if other not in (HONEST, name)
        for seed in range(2)
    ]
    gain = gains_of(everything)[0]
    assert gain.attack == name
    assert gain.joint == pytest.approx((2.5, 0.5))
    assert gain.live == pytest.approx((-0.5, 0.0))
    assert gain.places == pytest.approx((1.0, 0.0))


def test_a_goal_that_nothing_was_measured_for_is_not_met() -> None:
    goals = Report(tallies={}, numbers=[], orders=(0, 0), gains=[]).goals()
    assert {goal.met for goal in goals} == {None}
