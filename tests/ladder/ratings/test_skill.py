"""Updates are TrueSkill's, and stay sane where the reference implementation fails."""

import itertools
import math

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import erfc, npdf, quad

from keltis_ladder.ratings.normal import cdf
from keltis_ladder.ratings.skill import (
    Belief,
    Noise,
    expected_information,
    rate,
    win_probability,
)

SIGMA = 25 / 3
COMMON = Noise(beta=SIGMA / 2, draw_probability=0.1)

beliefs = st.builds(Belief, st.floats(0, 50), st.floats(0.3, 10))
noises = st.builds(Noise, st.floats(1, 10), st.floats(0.001, 0.5))
matches = st.integers(2, 4).flatmap(
    lambda n: st.tuples(
        st.lists(beliefs, min_size=n, max_size=n),
        st.lists(st.integers(1, n), min_size=n, max_size=n),
    )
)
decided = st.integers(2, 4).flatmap(
    lambda n: st.tuples(
        st.lists(beliefs, min_size=n, max_size=n), st.permutations(list(range(1, n + 1)))
    )
)
absurd = st.integers(2, 4).flatmap(
    lambda n: st.tuples(
        st.lists(
            st.builds(Belief, st.floats(-1e6, 1e6), st.floats(0, 1e4)), min_size=n, max_size=n
        ),
        st.lists(st.integers(1, n), min_size=n, max_size=n),
    )
)


def test_two_new_bots_move_as_in_the_paper() -> None:
    new = Belief(25.0, SIGMA)
    winner, loser = rate([new, new], [1, 2], COMMON, SIGMA / 100)
    assert (winner.mu, winner.sigma) == pytest.approx((29.396, 7.171), abs=5e-4)
    assert (loser.mu, loser.sigma) == pytest.approx((20.604, 7.171), abs=5e-4)
    one, other = rate([new, new], [1, 1], COMMON, SIGMA / 100)
    assert one == other
    assert (one.mu, one.sigma) == pytest.approx((25.0, 6.458), abs=5e-4)


@settings(max_examples=150)
@given(matches, noises, st.sampled_from([0.0, 0.1]))
def test_the_reference_implementation_agrees(
    match: tuple[list[Belief], list[int]], noise: Noise, tau: float
) -> None:
    before, ranks = match
    reference = trueskill.TrueSkill(
        beta=noise.beta, tau=tau, draw_probability=noise.draw_probability, backend="mpmath"
    )
    teams = [(reference.create_rating(belief.mu, belief.sigma),) for belief in before]
    expected = [rating for (rating,) in reference.rate(teams, ranks, min_delta=1e-13)]
    for belief, other in zip(rate(before, ranks, noise, tau), expected, strict=True):
        assert belief.mu == pytest.approx(other.mu, rel=1e-6, abs=1e-6)
        assert belief.sigma == pytest.approx(other.sigma, rel=1e-6)


def test_ordinary_matches_agree_to_ten_digits() -> None:
    before = [Belief(25.0, 8.0), Belief(31.0, 2.0), Belief(20.0, 5.0), Belief(24.0, 1.0)]
    reference = trueskill.TrueSkill(tau=0.0, draw_probability=0.1, backend="mpmath")
    teams = [(reference.create_rating(belief.mu, belief.sigma),) for belief in before]
    orders = [*itertools.permutations((1, 2, 3, 4)), *itertools.product((1, 2), repeat=4)]
    for ranks in orders:
        expected = [rating for (rating,) in reference.rate(teams, ranks, min_delta=1e-14)]
        for belief, other in zip(rate(before, list(ranks), COMMON, 0.0), expected, strict=True):
            assert belief.mu == pytest.approx(other.mu, rel=1e-10)
            assert belief.sigma == pytest.approx(other.sigma, rel=1e-10)


@pytest.mark.parametrize("drawn", [False, True])
def test_a_match_of_two_gives_the_exact_moments(drawn: bool) -> None:
    one, other = Belief(21.0, 6.0), Belief(27.0, 2.0)
    found = rate([one, other], [1, 1] if drawn else [1, 2], COMMON, 0.0)[0]

    spread = math.sqrt(other.sigma**2 + 2 * COMMON.beta**2)

    def likelihood(skill: float) -> float:
        ahead = erfc((COMMON.margin - skill + other.mu) / spread / math.sqrt(2)) / 2
        behind = erfc((COMMON.margin + skill - other.mu) / spread / math.sqrt(2)) / 2
        return float(1 - ahead - behind if drawn else ahead)

    places = [one.mu + k * one.sigma for k in range(-8, 9)]
    mass, first, second = (
        quad(lambda x, k=k: x**k * npdf(x, one.mu, one.sigma) * likelihood(x), places)
        for k in range(3)
    )
    assert found.mu == pytest.approx(float(first / mass), rel=1e-10)
    assert found.sigma == pytest.approx(math.sqrt(second / mass - (first / mass) ** 2), rel=1e-10)


@given(absurd, st.floats(1e-3, 1e3), st.floats(1e-6, 0.99), st.floats(0, 1))
def test_no_match_is_too_absurd(
    match: tuple[list[Belief], list[int]], beta: float, draws: float, tau: float
) -> None:
    before, ranks = match
    after = rate(before, ranks, Noise(beta, draws), tau)
    for old, new in zip(before, after, strict=True):
        assert math.isfinite(new.mu)
        assert 0 <= new.sigma <= math.sqrt(old.sigma * old.sigma + tau * tau)


def test_a_gap_that_stops_the_reference_implementation() -> None:
    giant, dwarf = Belief(5000.0, 1.0), Belief(-5000.0, 1.0)
    reference = trueskill.TrueSkill()
    teams = [(reference.create_rating(belief.mu, belief.sigma),) for belief in (dwarf, giant)]
    with pytest.raises(FloatingPointError):
        reference.rate(teams)
    winner, loser = rate([dwarf, giant], [1, 2], COMMON, 0.0)
    # So sure of both, one can only believe that luck bridged the gap: each share by its variance.
    pull = (10_000 + COMMON.margin) / (2 + 2 * COMMON.beta**2)
    assert winner.mu - dwarf.mu == pytest.approx(pull, rel=1e-3)
    assert giant.mu - loser.mu == pytest.approx(pull, rel=1e-3)
    assert rate([giant, dwarf], [1, 2], COMMON, 0.0) == [giant, dwarf]


@given(decided, noises)
def test_the_first_never_falls_and_the_last_never_rises(
    match: tuple[list[Belief], list[int]], noise: Noise
) -> None:
    before, ranks = match
    after = rate(before, ranks, noise, 0.0)
    first, last = ranks.index(1), ranks.index(len(ranks))
    assert after[first].mu >= before[first].mu
    assert after[last].mu <= before[last].mu


@given(beliefs, beliefs, noises)
def test_a_draw_brings_two_closer(one: Belief, other: Belief, noise: Noise) -> None:
    high, low = (one, other) if one.mu >= other.mu else (other, one)
    after_high, after_low = rate([high, low], [1, 1], noise, 0.0)
    assert after_high.mu <= high.mu
    assert after_low.mu >= low.mu


@given(decided, noises)
def test_the_order_of_entrants_does_not_matter_without_draws(
    match: tuple[list[Belief], list[int]], noise: Noise
) -> None:
    before, ranks = match
    after = rate(before, ranks, noise, 0.0)
    for order in itertools.permutations(range(len(ranks))):
        shuffled = rate([before[k] for k in order], [ranks[k] for k in order], noise, 0.0)
        assert shuffled == [after[k] for k in order]


@given(matches, noises)
def test_the_scale_has_no_zero_and_no_direction(
    match: tuple[list[Belief], list[int]], noise: Noise
) -> None:
    before, ranks = match
    after = rate(before, ranks, noise, 0.0)
    moved = rate([Belief(b.mu + 1000.0, b.sigma) for b in before], ranks, noise, 0.0)
    turned = [Belief(-b.mu, b.sigma) for b in reversed(before)]
    mirrored = rate(turned, [-rank for rank in reversed(ranks)], noise, 0.0)
    for here, there, mirror in zip(after, moved, reversed(mirrored), strict=True):
        assert there.mu - 1000 == pytest.approx(here.mu, abs=1e-8)
        assert there.sigma == pytest.approx(here.sigma, rel=1e-8)
        assert -mirror.mu == pytest.approx(here.mu, abs=1e-8)
        assert mirror.sigma == pytest.approx(here.sigma, rel=1e-8)


def test_only_the_order_of_ranks_counts() -> None:
    before = [Belief(25.0, 8.0), Belief(30.0, 2.0), Belief(28.0, 4.0)]
    assert rate(before, [1, 3, 3], COMMON, 0.0) == rate(before, [-7, 100, 100], COMMON, 0.0)


def test_entrants_that_drew_are_chained_in_the_given_order() -> None:
    before = [Belief(25.0, 8.0), Belief(30.0, 2.0), Belief(28.0, 4.0)]
    after = rate(before, [1, 1, 1], COMMON, 0.0)
    backwards = rate(before[::-1], [1, 1, 1], COMMON, 0.0)[::-1]
    others = rate([before[1], before[0], before[2]], [1, 1, 1], COMMON, 0.0)
    for here, there in zip(after, backwards, strict=True):
        assert here.mu == pytest.approx(there.mu, abs=1e-9)
    assert others[1].mu != pytest.approx(after[0].mu, abs=1e-4)


def test_drift_widens_before_the_match() -> None:
    one, other = Belief(25.0, 3.0), Belief(26.0, 4.0)
    wider = [Belief(25.0, math.sqrt(13.0)), Belief(26.0, math.sqrt(20.0))]
    for here, there in zip(
        rate([one, other], [1, 2], COMMON, 2.0), rate(wider, [1, 2], COMMON, 0.0), strict=True
    ):
        assert (here.mu, here.sigma) == pytest.approx((there.mu, there.sigma))


@given(beliefs, beliefs, st.floats(1, 10))
def test_one_of_two_is_ahead(one: Belief, other: Belief, beta: float) -> None:
    ahead = win_probability(one, other, beta)
    assert ahead + win_probability(other, one, beta) == pytest.approx(1.0)
    assert (ahead > 0.5) == (one.mu > other.mu) or ahead == 0.5
    lead = Belief(one.mu - other.mu, math.hypot(one.sigma, other.sigma))
    assert ahead == pytest.approx(cdf(lead.mu / math.hypot(lead.sigma, beta * math.sqrt(2))))


@given(beliefs, beliefs, noises)
def test_expected_information_is_the_mean_over_what_may_happen(
    one: Belief, other: Belief, noise: Noise
) -> None:
    spread = math.sqrt(one.sigma**2 + other.sigma**2 + 2 * noise.beta**2)
    win = cdf((one.mu - other.mu - noise.margin) / spread)
    loss = cdf((other.mu - one.mu - noise.margin) / spread)
    expected = [0.0, 0.0]
    for chance, ranks in ((win, [1, 2]), (loss, [2, 1]), (1 - win - loss, [1, 1])):
        for k, (old, new) in enumerate(
            zip((one, other), rate([one, other], ranks, noise, 0.0), strict=True)
        ):
            expected[k] += chance * (1 - (new.sigma / old.sigma) ** 2)
    assert expected_information(one, other, noise) == pytest.approx(tuple(expected), abs=1e-9)


def test_close_and_uncertain_opponents_tell_most() -> None:
    me = Belief(25.0, 4.0)
    close = expected_information(me, Belief(25.0, 1.0), COMMON)[0]
    far = expected_information(me, Belief(45.0, 1.0), COMMON)[0]
    assert close > 3 * far > 0
    assert expected_information(me, Belief(25.0, 8.0), COMMON)[1] > close


def test_what_cannot_be_rated_is_refused() -> None:
    new = Belief(25.0, SIGMA)
    with pytest.raises(ValueError, match="draw probability is 0"):
        rate([new, new, new], [1, 2, 2], Noise(4.0, 0.0), 0.0)
    assert rate([new, new], [2, 1], Noise(4.0, 0.0), 0.0)[1].mu > 25
    with pytest.raises(ValueError, match="two entrants or more"):
        rate([new], [1], COMMON, 0.0)
    with pytest.raises(ValueError, match="a rank of each"):
        rate([new, new], [1, 2, 3], COMMON, 0.0)
    for mu, sigma in ((math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (1.0, -1.0)):
        with pytest.raises(ValueError, match="finite numbers"):
            Belief(mu, sigma)
    for beta, draws in ((0.0, 0.1), (math.nan, 0.1), (1.0, 1.0), (1.0, -0.1), (1.0, math.nan)):
        with pytest.raises(ValueError, match=r"beta|draw probability"):
            Noise(beta, draws)


def test_beliefs_are_equal_by_value() -> None:
    assert Belief(25.0, 8.0) == Belief(25.0, 8.0)
    assert Belief(25.0, 8.0) != Belief(25.0, 8.5)
    assert len({Belief(25.0, 8.0), Belief(25.0, 8.0), Belief(24.0, 8.0)}) == 2
    assert repr(Belief(25.0, 8.0)) == "Belief(mu=25.0, sigma=8.0)"
