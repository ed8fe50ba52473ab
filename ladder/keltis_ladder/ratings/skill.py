"""TrueSkill for matches of single bots: what a belief about their skills becomes after a match.

A bot's skill is a normal variable, its *belief*. In a match it performs with its skill plus noise
of standard deviation *beta*. The order of the performances is the order of the ranks; neighbours
closer than the *margin* draw. Beliefs are updated by expectation propagation on the chain of
neighbouring ranks (Herbrich, Minka and Graepel 2006): for two bots this is a closed form, for more
it is iterated until nothing moves any more.
"""

from __future__ import annotations

import math
from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64

from keltis_ladder.ratings.normal import SQRT_2, cdf, draw_moments, ppf, win_moments

# The chain is swept until no message changes by more than this, in units of beta, or so often.
# Ordinary matches of four take about ten sweeps; the bound is there for absurd ones.
PRECISION: Final = 1e-11
MOST_SWEEPS: Final = 100


@final
class Belief:
    """What is known about a skill: a normal distribution. Never changed once made."""

    __slots__ = ("mu", "sigma")

    def __init__(self, mu: float, sigma: float) -> None:
        if not (-math.inf < mu < math.inf and 0.0 <= sigma < math.inf):
            raise ValueError(f"a belief is made of finite numbers, sigma >= 0; got {mu}, {sigma}")
        self.mu: Final = mu
        self.sigma: Final = sigma

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Belief):
            return NotImplemented
        return self.mu == other.mu and self.sigma == other.sigma

    def __hash__(self) -> int:
        return hash((self.mu, self.sigma))

    def __repr__(self) -> str:
        return f"Belief(mu={self.mu!r}, sigma={self.sigma!r})"


@final
class Noise:
    """What one match of a kind cannot tell: the luck in it, and how close performances draw."""

    __slots__ = ("beta", "draw_probability", "margin")

    def __init__(self, beta: float, draw_probability: float) -> None:
        if not 0.0 < beta < math.inf:
            raise ValueError(f"beta is a finite number above 0; got {beta}")
        if not 0.0 <= draw_probability < 1.0:
            raise ValueError(f"a draw probability lies from 0 to below 1; got {draw_probability}")
        self.beta: Final = beta
        self.draw_probability: Final = draw_probability
        # Two of equal skill are this close in as many matches as there are draws.
        self.margin: Final = ppf((draw_probability + 1.0) / 2.0) * SQRT_2 * beta

    def __repr__(self) -> str:
        return f"Noise(beta={self.beta!r}, draw_probability={self.draw_probability!r})"


@final
class Chain:
    """Entrants in the order of their ranks, with messages between neighbours.

    A message is what a link between two neighbours says of how one of them performed: a normal
    factor, given by its precision, and by its precision times the distance of its mean from the
    entrant's own mean. Counted from there, no digits are lost wherever on the scale entrants are.
    """

    __slots__ = (
        "drawn",
        "left_precision",
        "left_shift",
        "mean",
        "right_precision",
        "right_shift",
        "variance",
    )

    def __init__(self, size: int) -> None:
        zeros = [0.0] * size
        self.mean = vec[float](zeros)  # of the skill, without what this match says
        self.variance = vec[float](zeros)
        self.drawn = vec[bool]([False] * size)  # with the next in the chain
        self.left_precision = vec[float](zeros)  # from the better neighbour
        self.left_shift = vec[float](zeros)
        self.right_precision = vec[float](zeros)  # from the worse neighbour
        self.right_shift = vec[float](zeros)

    def place(self, k: i64, mean: float, variance: float) -> None:
        """Say what is known of an entrant; messages stay where they are on the scale."""
        moved = mean - self.mean[k]
        self.left_shift[k] -= moved * self.left_precision[k]
        self.right_shift[k] -= moved * self.right_precision[k]
        self.mean[k] = mean
        self.variance[k] = variance

    def message(self, k: i64, beta: float) -> tuple[float, float]:
        """Return what the match says of an entrant's skill: precision, and shift from its mean."""
        precision = self.left_precision[k] + self.right_precision[k]
        damping = 1.0 + beta * beta * precision
        return precision / damping, (self.left_shift[k] + self.right_shift[k]) / damping

    def sweep(self, first: i64, last: i64, noise: Noise) -> float:
        """Renew the links there and back, from the second one; return the largest change."""
        moved = 0.0
        for k in range(first + 1, last):
            moved = max(moved, self.link(k, noise))
        for k in range(last - 2, first - 1, -1):
            moved = max(moved, self.link(k, noise))
        return moved

    def link(self, k: i64, noise: Noise) -> float:
        """Renew the messages between an entrant and the next; return how much they changed."""
        beta = noise.beta
        # What is known of the two performances, apart from how the two compare.
        spread = self.variance[k] + beta * beta
        one_variance = spread / (1.0 + spread * self.left_precision[k])
        one_mean = one_variance * self.left_shift[k]
        spread = self.variance[k + 1] + beta * beta
        other_variance = spread / (1.0 + spread * self.right_precision[k + 1])
        other_mean = other_variance * self.right_shift[k + 1]

        lead = self.mean[k] - self.mean[k + 1] + (one_mean - other_mean)
        scale = math.sqrt(one_variance + other_variance)
        if self.drawn[k]:
            v, w = draw_moments(lead / scale, noise.margin / scale)
        else:
            v, w = win_moments(lead / scale, noise.margin / scale)
        v *= scale

        total = other_variance + one_variance * (1.0 - w)
        precision = w / total
        shift = (w * one_mean + v) / total
        moved = max(
            abs(precision - self.right_precision[k]) * beta * beta,
            abs(shift - self.right_shift[k]) * beta / (1.0 + abs(shift) * beta),
        )
        self.right_precision[k] = precision
        self.right_shift[k] = shift

        total = one_variance + other_variance * (1.0 - w)
        precision = w / total
        shift = (w * other_mean - v) / total
        moved = max(
            moved,
            abs(precision - self.left_precision[k + 1]) * beta * beta,
            abs(shift - self.left_shift[k + 1]) * beta / (1.0 + abs(shift) * beta),
        )
        self.left_precision[k + 1] = precision
        self.left_shift[k + 1] = shift
        return moved


def rate(beliefs: list[Belief], ranks: list[int], noise: Noise, tau: float) -> list[Belief]:
    """Return the beliefs after a match, in the order of its entrants.

    The lowest rank is the best; equal ranks are a draw. Entrants that drew are chained in the order
    in which they are given, as if only neighbours had drawn. Among three or more of them that order
    matters a little, so callers keep to one. Before the match, every skill may have drifted by the
    standard deviation tau.
    """
    count = len(beliefs)
    if count < 2 or len(ranks) != count:
        raise ValueError(f"a match has two entrants or more, and a rank of each; got {ranks}")
    order = _by_rank(ranks)
    chain = Chain(count)
    for k in range(count):
        belief = beliefs[order[k]]
        chain.place(k, belief.mu, belief.sigma * belief.sigma + tau * tau)
        if k and ranks[order[k]] == ranks[order[k - 1]]:
            if noise.margin <= 0.0:
                raise ValueError(f"a draw, but the draw probability is 0; ranks {ranks}")
            chain.drawn[k - 1] = True
    chain.link(0, noise)
    if count > 2:
        for _ in range(MOST_SWEEPS):
            if chain.sweep(0, count - 1, noise) <= PRECISION:
                break

    after = list(beliefs)
    for k in range(count):
        precision, shift = chain.message(k, noise.beta)
        variance = chain.variance[k]
        narrowing = 1.0 + variance * precision
        mean = chain.mean[k] + variance * shift / narrowing
        after[order[k]] = Belief(mean, math.sqrt(variance / narrowing))
    return after


def _by_rank(ranks: list[int]) -> list[int]:
    """Return the entrants, the best first; those who drew in the given order."""
    order: list[int] = []
    for entrant in range(len(ranks)):
        place = entrant
        while place and ranks[order[place - 1]] > ranks[entrant]:
            place -= 1
        order.insert(place, entrant)
    return order


def win_probability(one: Belief, other: Belief, beta: float) -> float:
    """Return the probability that one performs better than the other, draws aside."""
    spread = one.sigma * one.sigma + other.sigma * other.sigma + 2.0 * beta * beta
    return cdf((one.mu - other.mu) / math.sqrt(spread))


def expected_information(one: Belief, other: Belief, noise: Noise) -> tuple[float, float]:
    """Return by which share a match of two is expected to reduce the variance of each."""
    one_variance = one.sigma * one.sigma
    other_variance = other.sigma * other.sigma
    spread = one_variance + other_variance + 2.0 * noise.beta * noise.beta
    lead = (one.mu - other.mu) / math.sqrt(spread)
    margin = noise.margin / math.sqrt(spread)
    win = cdf(lead - margin)
    loss = cdf(-lead - margin)
    draw = max(0.0, 1.0 - win - loss)
    found = win * win_moments(lead, margin)[1]
    found += loss * win_moments(-lead, margin)[1]
    found += draw * draw_moments(lead, margin)[1]
    return found * one_variance / spread, found * other_variance / spread
