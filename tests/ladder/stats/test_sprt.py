"""The sequential test, against numbers that others have published and against its definition."""

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import findroot, log, mp, mpf

from keltis_ladder.stats.sprt import ERROR_RATE, Hypotheses, Sprt

# Games, or pairs of games, by outcome, the worst first; the claims in logistic Elo; the published
# log-likelihood ratio; and how close ours has to be.
PUBLISHED = [
    # fastchess, app/tests/sprt_test.cpp: "logistic trinomial" and "logistic pentanomial", which it
    # tests to one per cent. It computes the exact ratio, not our approximation of it.
    ([21184, 40708, 21404], 0.5, 2.5, -1.57, 0.01 * 1.57),
    ([57030, 106593, 57433], 0.0, 2.0, -2.59, 0.01 * 2.59),
    ([223, 9863, 20279 + 1000, 10037, 246], 0.5, 2.5, -3.07, 0.01 * 3.07),
    ([871, 26175, 55003 + 980, 26678, 821], 0.0, 2.0, -4.98, 0.01 * 4.98),
    # A page of raw statistics of a fishtest (montytest, test 69d3c8dc7c5b3724e29d2712): 256 games,
    # "Logistic (alt)" -0.52194, by the same formula. It has no match for a prior, we have one.
    ([13, 37, 50, 25, 3], 0.0, 2.716, -0.52194, 0.52194 * 2 / 128),
]


def after(counts: Sequence[int], elo0: float, elo1: float) -> Sprt:
    test = Sprt(Hypotheses(elo0, elo1))
    for place, count in enumerate(counts):
        share = Fraction(place, len(counts) - 1)
        for _ in range(count):
            test.add(share)
    return test


@pytest.mark.parametrize(("counts", "elo0", "elo1", "ratio", "within"), PUBLISHED)
def test_published_ratios_are_ours(
    counts: list[int], elo0: float, elo1: float, ratio: float, within: float
) -> None:
    assert after(counts, elo0, elo1).ratio == pytest.approx(ratio, abs=within)


def test_the_bounds_are_those_of_wald() -> None:
    """Wald 1945: accept at ln(beta / (1 - alpha)) and ln((1 - beta) / alpha)."""
    test = Sprt(Hypotheses())
    assert ERROR_RATE == 0.05
    assert test.upper == pytest.approx(2.9444, abs=5e-5)  # as fishtest and fastchess print it
    assert test.lower == math.log(ERROR_RATE / (1 - ERROR_RATE)) == pytest.approx(-2.9444, abs=5e-5)


def exact_ratio(counts: Sequence[float], elo0: float, elo1: float) -> float:
    """Return the generalised ratio by its definition, with mpmath.

    For each claim the probabilities are the most likely ones with its expected share: those that
    were found, each divided by 1 + x (outcome - expected), where x makes their mean the expected
    one (Lagrange). Written from the textbook, with nothing of ours.
    """
    total = mpf(sum(counts))
    outcomes = [mpf(k) / (len(counts) - 1) for k in range(len(counts))]
    likelihoods = []
    for difference in (elo0, elo1):
        expected = 1 / (1 + mpf(10) ** (-mpf(difference) / 400))
        away = [outcome - expected for outcome in outcomes]

        def off(x: mpf, away: list[mpf] = away) -> mpf:
            return sum(
                count / total * a / (1 + x * a) for count, a in zip(counts, away, strict=True)
            )

        # Between these bounds all probabilities are positive, and the mean falls from end to end.
        low, high = -1 / away[-1], -1 / away[0]
        inset = (high - low) / 10**9
        x = findroot(off, (low + inset, high - inset), solver="anderson", tol=mpf(10) ** -30)
        likelihoods.append(
            -sum(count * log(1 + x * a) for count, a in zip(counts, away, strict=True))
        )
    return float(likelihoods[1] - likelihoods[0])


@st.composite
def close_races(draw: st.DrawFn) -> list[int]:
    """Outcomes of bots that are about equally strong, for which the approximation is made."""
    worst, bad, even = (draw(st.integers(30, 400)) for _ in range(3))
    ahead = draw(st.integers(-10, 10))  # per cent
    return [worst, bad, even, bad + bad * ahead // 100, worst + worst * ahead // 100]


@settings(max_examples=30, deadline=None)
@given(
    counts=close_races(),
    elo0=st.sampled_from([-10.0, 0.0, 5.0]),
    width=st.sampled_from([5.0, 20.0]),
)
def test_the_approximation_is_close_to_the_definition(
    counts: list[int], elo0: float, width: float
) -> None:
    matches = sum(counts)
    with mp.workdps(40):
        exact = exact_ratio([count + 0.2 for count in counts], elo0, elo0 + width)
    exact *= matches / (matches + 1)  # the match of the prior shapes the variance, and counts not
    assert after(counts, elo0, elo0 + width).ratio == pytest.approx(exact, rel=0.08, abs=0.005)


def test_the_exact_ratio_is_the_published_one() -> None:
    """The same page of fishtest has "Logistic (exact)": the yardstick itself is right."""
    with mp.workdps(40):
        assert exact_ratio([13, 37, 50, 25, 3], 0.0, 2.716) == pytest.approx(-0.53772, abs=1e-4)
