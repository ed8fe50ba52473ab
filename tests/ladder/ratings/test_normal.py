"""The normal distribution is right to a few units in the last place, however far out."""

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import cos, diff, erfinv, expm1, legendre, mp, mpf, npdf, pi, polyroots, sqrt, taylor
from mpmath import exp as true_exp

from keltis_ladder.ratings import normal
from tests.ladder.ratings.support import exactly

ULP = 2.0**-52
nearly_all = st.floats(-1e300, 1e300)


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(exactly.DIGITS):
        yield


def error(found: float, truth: Any) -> float:
    """The relative error; what is too small for a normal number may be 0."""
    if abs(truth) < 1e-300:
        return abs(found - float(truth)) / 1e-300
    return float(abs(mpf(found) / truth - 1))


def test_the_series_is_what_mpmath_computes() -> None:
    scale, points = 4, 80
    places = [cos(pi * (2 * j + 1) / (2 * points)) for j in range(points)]
    with mp.workdps(60):
        values = [exactly.excess(scale * (1 + x) / (1 - x)) * (2 * scale / (1 - x)) for x in places]
    series = [
        2 * sum(y * cos(k * pi * (2 * j + 1) / (2 * points)) for j, y in enumerate(values)) / points
        for k in range(len(normal.EXCESS_SERIES) + 10)
    ]
    count = len(normal.EXCESS_SERIES)
    assert [float(c) for c in series[:count]] == normal.EXCESS_SERIES
    assert sum(abs(c) for c in series[count:]) < ULP / 4


def test_the_quadrature_is_that_of_gauss_and_legendre() -> None:
    count = len(normal.PLACES)
    polynomial = [mp.chop(c) for c in taylor(lambda x: legendre(count, x), 0, count)]
    roots = sorted(polyroots(polynomial, maxsteps=500, extraprec=200, asc=True))
    slopes = [diff(lambda x: legendre(count, x), root) for root in roots]
    weights = [1 / ((1 - x * x) * d * d) for x, d in zip(roots, slopes, strict=True)]
    assert [float((1 + x) / 2) for x in roots] == pytest.approx(normal.PLACES, rel=ULP)
    assert [float(w) for w in weights] == pytest.approx(normal.WEIGHTS, rel=ULP)


def test_exponentials_are_exact_to_two_units() -> None:
    rng = random.Random(1)
    for x in [rng.uniform(-708, 709) for _ in range(1000)]:
        assert error(normal.exp(x), true_exp(mpf(x))) < 2 * ULP
    for x in [rng.choice((-1, 1)) * 10 ** rng.uniform(-17, 2) for _ in range(1000)]:
        assert error(normal.expm1(x), expm1(mpf(x))) < 2 * ULP
    assert normal.exp(0.0) == 1.0
    assert (normal.exp(-1e9), normal.exp(1e9)) == (0.0, math.inf)
    assert normal.exp(-745.0) == 5e-324
    assert normal.exp(709.78) == pytest.approx(1.7928227943945155e308, rel=4 * ULP)


def test_density_and_probability_are_exact_to_four_units_into_the_far_tails() -> None:
    rng = random.Random(2)
    for x in [rng.uniform(-37, 37) for _ in range(1000)]:
        assert error(normal.pdf(x), npdf(mpf(x))) < 2 * ULP
        assert error(normal.cdf(x), exactly.upper(-mpf(x))) < 4 * ULP
    assert (normal.cdf(-50.0), normal.cdf(0.0), normal.cdf(50.0)) == (0.0, 0.5, 1.0)


def test_excess_is_exact_to_three_units_from_0_to_infinity() -> None:
    rng = random.Random(3)
    for z in [0.0] + [10 ** rng.uniform(-9, 12) for _ in range(1000)]:
        assert error(normal.excess(z), exactly.excess(mpf(z))) < 3 * ULP
    assert normal.excess(math.inf) == 0.0


def test_quantiles_are_as_exact_as_their_probabilities() -> None:
    rng = random.Random(4)
    for p in [rng.random() for _ in range(200)] + [10 ** -rng.uniform(1, 30) for _ in range(50)]:
        with mp.workdps(100):
            truth = -sqrt(mpf(2)) * erfinv(1 - 2 * mpf(p))
        # A rounded probability alone is worth this much near the middle.
        assert abs(normal.ppf(p) - truth) < 4 * ULP * (1 + abs(truth))
    assert normal.ppf(0.5) == 0.0
    assert normal.cdf(normal.ppf(1e-300)) == pytest.approx(1e-300, rel=1e-12)
    assert normal.cdf(normal.ppf(5e-324)) < 1e-322
    for p in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            normal.ppf(p)


def test_moments_of_a_win_are_exact_to_eight_units() -> None:
    rng = random.Random(5)
    leads = [rng.uniform(-45, 37) for _ in range(600)]
    leads += [rng.choice((-1, 1)) * 10 ** rng.uniform(-9, 1) for _ in range(300)]
    leads += [-(10 ** rng.uniform(1, 12)) for _ in range(300)]
    for t in leads:
        v, w = normal.win_moments(t, 0.0)
        true_v, true_w = exactly.win(mpf(t))
        assert error(v, true_v) < 4 * ULP
        assert error(w, true_w) < 8 * ULP


def test_moments_of_a_win_depend_on_the_lead_above_the_margin() -> None:
    assert normal.win_moments(1.5, 0.5) == normal.win_moments(1.0, 0.0)
    assert normal.win_moments(-1.5, 0.5) == normal.win_moments(-2.0, 0.0)


def test_moments_of_a_draw_are_exact_to_eight_units() -> None:
    rng = random.Random(6)
    cases = [(rng.uniform(-20, 20), rng.uniform(0, 6)) for _ in range(400)]
    cases += [
        (rng.choice((-1, 1)) * 10 ** rng.uniform(-8, 6), 10 ** rng.uniform(-6, 1.5))
        for _ in range(400)
    ]
    for t, margin in cases:
        v, w = normal.draw_moments(t, margin)
        true_v, true_w = exactly.draw(mpf(t), mpf(margin))
        # Deep inside the margins little is left, and the rounding of the distance counts.
        units = 8 + max(0.0, margin - abs(t)) ** 2
        assert error(v, true_v) < units * ULP, (t, margin)
        assert error(w, true_w) < units * ULP, (t, margin)


def test_a_draw_with_no_margin_says_that_performances_were_equal() -> None:
    assert normal.draw_moments(3.0, 0.0) == (-3.0, 1.0)
    assert normal.draw_moments(-1e9, 0.0) == (1e9, 1.0)


@given(nearly_all, st.floats(0, 1e300))
def test_moments_are_sane_for_all_but_the_largest_numbers(t: float, margin: float) -> None:
    for v, w in (normal.win_moments(t, margin), normal.draw_moments(t, margin)):
        assert math.isfinite(v)
        assert 0.0 <= w <= 1.0
    assert normal.win_moments(t, margin)[0] >= 0.0
    assert normal.draw_moments(t, margin)[0] * t <= 0.0
    assert 0.0 <= normal.cdf(t) <= 1.0
