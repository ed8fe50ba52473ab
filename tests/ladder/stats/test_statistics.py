"""Estimates are right where the answer is known, and honest where little is known."""

import math
import random
from fractions import Fraction

import pytest

from keltis_ladder.errors import LadderError
from keltis_ladder.stats.sprt import FEWEST_MATCHES, Hypotheses, Sprt
from keltis_ladder.stats.statistics import (
    elo,
    elo_estimate,
    expected_share,
    mean_estimate,
    normal_cdf,
    share_estimate,
    student,
    superiority,
    wilson,
)

OUTCOMES = [0.0, 0.25, 0.5, 0.75, 1.0]


def test_elo_and_expected_share_undo_each_other() -> None:
    assert expected_share(0) == 0.5
    assert expected_share(400) == pytest.approx(10 / 11)
    for difference in (-300, -1, 0, 20, 700):
        assert elo(expected_share(difference)) == pytest.approx(difference)
    assert (elo(0), elo(1)) == (-math.inf, math.inf)


def test_quantiles_agree_with_the_tables() -> None:
    assert normal_cdf(1.959964) == pytest.approx(0.975, abs=1e-6)
    for freedom, quantile in ((5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)):
        assert student(freedom) == pytest.approx(quantile, rel=0.002)


def test_wilson_agrees_with_a_worked_example() -> None:
    found = wilson(8, 10)
    assert found.low == pytest.approx(0.490, abs=0.001)
    assert found.high == pytest.approx(0.943, abs=0.001)
    assert wilson(0, 0).low == 0
    assert wilson(0, 0).high == 1


def test_many_matches_have_the_usual_normal_interval() -> None:
    shares = [0.25, 0.75, 0.5, 1.0] * 250
    found = share_estimate(shares)
    error = 1.96 * math.sqrt(sum((s - 0.625) ** 2 for s in shares) / 1000 / 1000)
    assert found.low == pytest.approx(0.625 - error, abs=0.001)
    assert found.high == pytest.approx(0.625 + error, abs=0.001)


@pytest.mark.parametrize("weights", [[25, 0, 50, 0, 25], [10, 5, 30, 15, 40], [1, 0, 10, 10, 79]])
@pytest.mark.parametrize("matches", [5, 20, 100])
def test_the_interval_holds_the_truth_as_often_as_it_says(weights: list[int], matches: int) -> None:
    rng = random.Random(matches)
    truth = sum(w * s for w, s in zip(weights, OUTCOMES, strict=True)) / 100
    held = 0
    for _ in range(600):
        found = share_estimate(rng.choices(OUTCOMES, weights, k=matches))
        held += found.low <= truth <= found.high
    assert held / 600 > 0.925


def test_duplicate_deals_make_the_interval_narrower() -> None:
    coins = elo_estimate([0.0, 1.0] * 50)
    mostly_even = elo_estimate([0.5, 0.5, 0.5, 0.25, 0.75] * 20)
    assert mostly_even.value == coins.value == 0
    assert mostly_even.high < coins.high / 2


@pytest.mark.parametrize("matches", [1, 5, 100])
def test_who_won_everything_has_a_lower_bound_only(matches: int) -> None:
    found = elo_estimate([1.0] * matches)
    assert (found.value, found.high) == (math.inf, math.inf)
    assert math.isfinite(found.low)
    lost = elo_estimate([0.0] * matches)
    assert (lost.value, lost.low) == (-math.inf, -math.inf)
    assert lost.high == pytest.approx(-found.low)


def test_matches_that_were_all_even_are_not_taken_for_certainty() -> None:
    few, many = elo_estimate([0.5] * 3), elo_estimate([0.5] * 300)
    assert few.low < -100 < 100 < few.high
    assert -5 < many.low < 0 < many.high < 5


def test_one_match_says_nothing_about_points() -> None:
    assert mean_estimate([12.0]).low == -math.inf
    found = mean_estimate([10.0, 14.0, 12.0, 12.0])
    assert found.value == 12
    assert found.low < 10 < 14 < found.high + 0.7


def test_superiority_is_even_at_evens_and_sure_after_many_wins() -> None:
    assert superiority([0.25, 0.75]) == superiority([0.5] * 9) == 0.5
    assert superiority([1.0] * 10) == pytest.approx(1 - 2**-10, abs=0.001)
    shares = [0.5, 0.75, 1.0, 0.25, 0.5]
    assert superiority(shares) + superiority([1 - share for share in shares]) == pytest.approx(1)
    assert 0.5 < superiority(shares) < 0.9


def tilted(difference: float, weights: list[float]) -> list[float]:
    """Return these weights, tilted so that the mean share is the one of an Elo difference."""
    low, high = -20.0, 20.0
    while True:
        tilt = (low + high) / 2
        found = [w * math.exp(tilt * s) for w, s in zip(weights, OUTCOMES, strict=True)]
        mean = sum(w * s for w, s in zip(found, OUTCOMES, strict=True)) / sum(found)
        if high - low < 1e-9:
            return found
        low, high = (tilt, high) if mean < expected_share(difference) else (low, tilt)


def verdicts(difference: float, claims: Hypotheses, runs: int) -> tuple[float, float]:
    """Return how often the test said H1, and how many matches it took."""
    rng = random.Random(7)
    weights = tilted(difference, [0.25, 0.02, 0.46, 0.02, 0.25])
    found = matches = 0
    for _ in range(runs):
        test = Sprt(claims)
        while test.verdict is None:
            test.add(Fraction(rng.choices(OUTCOMES, weights)[0]))
        found += test.verdict == "H1"
        matches += test.matches
    return found / runs, matches / runs


def test_the_sequential_test_errs_as_seldom_as_it_says() -> None:
    claims = Hypotheses(0, 40)
    false_alarms, _ = verdicts(0, claims, 200)
    found, _ = verdicts(40, claims, 200)
    assert false_alarms <= 0.08
    assert found >= 0.92


def test_the_sequential_test_is_quick_when_the_answer_is_clear() -> None:
    claims = Hypotheses()
    stronger, quick = verdicts(150, claims, 20)
    weaker, quicker = verdicts(-150, claims, 20)
    assert (stronger, weaker) == (1, 0)
    assert max(quick, quicker) < 150


def test_a_run_of_equal_results_is_no_verdict_yet() -> None:
    test = Sprt(Hypotheses(0, 200))
    for _ in range(FEWEST_MATCHES - 1):
        test.add(Fraction(1, 2))
        assert test.verdict is None
    test.add(Fraction(1, 2))
    assert test.verdict == "H0"


@pytest.mark.parametrize(("elo0", "elo1"), [(0, 0), (10, 5), (0, math.nan), (-math.inf, 0)])
def test_claims_that_cannot_be_told_apart_are_refused(elo0: float, elo1: float) -> None:
    with pytest.raises(LadderError, match="elo1 must be the greater one"):
        Hypotheses(elo0, elo1)
