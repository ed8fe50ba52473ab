"""What a match teaches is what its definition says, by brute force."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keltis_ladder.matchmaking.value import blend, chance, information, stake
from keltis_ladder.ratings.skill import Belief, Noise, expected_information, win_probability
from keltis_ladder.stats.statistics import normal_cdf

STEPS = 4000


def misordered(true: float, variance: float) -> float:
    return normal_cdf(-abs(true) / math.sqrt(variance))


def averaged_slope(one: Belief, other: Belief) -> float:
    """Integrate, over the true difference, what a little less variance does to the error."""
    variance = one.sigma**2 + other.sigma**2
    spread, little = math.sqrt(variance), variance * 1e-5
    total = 0.0
    for k in range(STEPS):
        z = -8 + 16 * (k + 0.5) / STEPS
        true = one.mu - other.mu + z * spread
        slope = (misordered(true, variance) - misordered(true, variance - little)) / little
        total += slope * math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * 16 / STEPS
    return total


@pytest.mark.parametrize("difference", [0.0, 0.3, 2.0, 9.0])
@pytest.mark.parametrize("sigma", [0.5, 3.0])
def test_a_stake_is_the_slope_of_the_expected_errors(difference: float, sigma: float) -> None:
    one, other = Belief(25 + difference, sigma), Belief(25, 1.5)
    assert stake(one, [other]) == pytest.approx(averaged_slope(one, other), rel=1e-3, abs=1e-7)


def test_stakes_add_up_and_those_far_away_have_none() -> None:
    own, near, far = Belief(25, 1), Belief(26, 1), Belief(80, 1)
    assert stake(own, [near, far, near]) == pytest.approx(2 * stake(own, [near]))
    assert stake(own, [far]) == 0


@given(st.floats(-40, 40), st.floats(0.1, 9), st.floats(0.1, 9), st.floats(1, 9), st.floats(0, 0.5))
def test_information_is_what_the_rating_model_expects_to_learn(
    lead: float, one: float, other: float, beta: float, draws: float
) -> None:
    noise = Noise(beta, draws)
    scale = math.sqrt(one**2 + other**2 + 2 * beta**2)
    expected, _ = expected_information(Belief(25 + lead, one), Belief(25, other), noise)
    found = information(lead / scale, noise.margin / scale) * one**2 / scale**2
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_a_match_of_equals_teaches_most() -> None:
    found = [information(lead, 0.0) for lead in (0, 0.5, 1, 2, 4, 8, 50)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(2 / math.pi)
    assert found[-1] == 0


def test_the_chance_is_that_of_the_weaker_one() -> None:
    strong, weak = Belief(30, 2), Belief(25, 3)
    expected = win_probability(weak, strong, 4.0)
    assert chance(strong, weak, 4.0) == chance(weak, strong, 4.0) == pytest.approx(expected)


def test_the_rating_of_a_variant_counts_as_much_as_it_is_known() -> None:
    overall = Belief(30, 1)
    assert blend(overall, Belief(20, 100), 2.0).mu == pytest.approx(30, abs=0.05)
    assert blend(overall, Belief(20, 0), 2.0).mu == pytest.approx(20, abs=0.05)
    assert blend(overall, Belief(20, 1), 0.0).mu == pytest.approx(25)


def test_blending_is_right_on_average() -> None:
    rng = random.Random(5)
    errors = {"blend": 0.0, "overall": 0.0, "variant": 0.0}
    for _ in range(4000):
        skill = rng.gauss(25, 8)
        in_variant = skill + rng.gauss(0, 2)
        overall = Belief(skill + rng.gauss(0, 1.5), 1.5)
        special = Belief(in_variant + rng.gauss(0, 2.5), 2.5)
        errors["blend"] += (blend(overall, special, 2.0).mu - in_variant) ** 2
        errors["overall"] += (overall.mu - in_variant) ** 2
        errors["variant"] += (special.mu - in_variant) ** 2
    assert errors["blend"] < 0.65 * min(errors["overall"], errors["variant"])
    expected = blend(Belief(0, 1.5), Belief(0, 2.5), 2.0).sigma ** 2
    assert errors["blend"] / 4000 == pytest.approx(expected, rel=0.1)
