"""Intervals hold what they promise, on ladders where the truth is known: drawn from the model."""

import math
from dataclasses import replace
from statistics import NormalDist

import pytest

from keltis_ladder.ratings.joint.fit import Fit, Member
from keltis_ladder.ratings.joint.kinds import KINDS, scope_weights
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.standings import Standing, difference, leaderboard, standing
from keltis_ladder.ratings.joint.statistics import Statistics
from keltis_ladder.ratings.scopes import OVERALL, Scope
from tests.ladder.ratings.joint.support.drawn import ALL_KINDS, COUNT, Drawn, newcomers

pytestmark = pytest.mark.slow

BOTS = 8
LADDERS = 12
TWO = [kind for kind in range(COUNT) if KINDS[kind].players == 2]
SCOPES = {
    "keltis": {TWO[0]: 1.0},
    "weg-der-steine": {TWO[3]: 1.0},
    "two players": scope_weights(Scope("all", 2)),
}
NORMAL = NormalDist()
# Leads drawn from the model add up, however far they are.
PLAIN = replace(NUMBERS, stretch=(0.0,) * COUNT)


def true_rating(ladder: Drawn, bot: int, scope: dict[int, float]) -> float:
    others = [member.version for member in ladder.members if member.version != bot]
    value = 25.0
    for kind, weight in scope.items():
        leads = [ladder.lead(kind, bot, other) for other in others]
        value += weight * NUMBERS.beta[kind // 3] * sum(leads) / len(leads)
    return value


def true_score(ladder: Drawn, bot: int, scope: dict[int, float]) -> float:
    others = [member.version for member in ladder.members if member.version != bot]
    value = 0.0
    for kind, weight in scope.items():
        slope = NUMBERS.slope[kind]
        shares = [NORMAL.cdf(slope * ladder.lead(kind, bot, other)) for other in others]
        value += weight * sum(shares) / len(shares)
    return value


@pytest.fixture(scope="module", params=[40, 400], ids=["young", "old"])
def ladders(request: pytest.FixtureRequest) -> list[tuple[Drawn, Fit]]:
    found = []
    for seed in range(LADDERS):
        # Half of them with versions that follow each other.
        before = [None] * BOTS if seed % 2 else [None] * 5 + [0, 1, 5]
        members = [Member(bot, each, ALL_KINDS) for bot, each in enumerate(before)]
        ladder = Drawn(seed, members).play_at_random(request.param, TWO)
        fit = Fit.from_scratch(ladder.members, Statistics.of(ladder.matches), PLAIN)
        found.append((ladder, fit))
    return found


def standings(fit: Fit, scope: dict[int, float]) -> list[Standing]:
    found = [standing(fit, bot, scope) for bot in range(BOTS)]
    return [each for each in found if each is not None]


@pytest.mark.parametrize("name", list(SCOPES))
def test_of_100_intervals_95_hold_the_truth(ladders: list[tuple[Drawn, Fit]], name: str) -> None:
    scope = dict(SCOPES[name])
    offs, gaps, scores, chances = [], [], [], []
    for ladder, fit in ladders:
        shown = standings(fit, scope)
        truth = [true_rating(ladder, bot, scope) for bot in range(BOTS)]
        for each in shown:
            offs.append((each.rating - truth[each.version]) / each.sigma)
            share = true_score(ladder, each.version, scope)
            scores.append(each.score.low <= share <= each.score.high)
        for one, other in zip(range(BOTS), range(1, BOTS), strict=False):
            gap = difference(fit, one, other, scope)
            assert gap is not None
            gaps.append((gap.lead - truth[one] + truth[other]) / gap.sigma)
            chances.append((gap.better, truth[one] > truth[other]))
    for errors in (offs, gaps):
        assert sum(abs(error) < 1.96 for error in errors) >= 0.9 * len(errors)
        # Nor are intervals too wide: the mean square would be 1.
        assert 0.6 < math.fsum(error * error for error in errors) / len(errors) < 1.3
    assert sum(scores) >= 0.9 * len(scores)
    expected = math.fsum(chance for chance, _ in chances)
    assert sum(better for _, better in chances) == pytest.approx(expected, abs=0.1 * len(chances))


def test_true_ranks_lie_in_their_ranges(ladders: list[tuple[Drawn, Fit]]) -> None:
    scope = dict(SCOPES["two players"])
    inside = []
    for ladder, fit in ladders:
        truth = [true_rating(ladder, bot, scope) for bot in range(BOTS)]
        for line in leaderboard(standings(fit, scope)):
            rank = 1 + sum(other > truth[line.standing.version] for other in truth)
            inside.append(line.best <= rank <= line.worst)
    assert sum(inside) / len(inside) > 0.95


def test_tables_of_three_and_four_are_covered_too() -> None:
    """Their pair effects are diluted by the others at the table, so intervals are a bit wide."""
    scope = dict(scope_weights(OVERALL))
    inside = []
    for seed in range(6):
        ladder = Drawn(100 + seed, newcomers(BOTS)).play_at_random(300)
        fit = Fit.from_scratch(ladder.members, Statistics.of(ladder.matches), PLAIN)
        for each in standings(fit, scope):
            truth = true_rating(ladder, each.version, scope)
            inside.append(abs(each.rating - truth) < 1.96 * each.sigma)
    assert 0.85 <= sum(inside) / len(inside) <= 1.0
