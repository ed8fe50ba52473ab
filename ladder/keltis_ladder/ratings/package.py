"""The rating model as environments of the package ``trueskill``, which our kernel implements.

The package is what others know as TrueSkill; ``skill.py`` is the same arithmetic, compiled and with
the same bits on every machine. Here matches are rated by the package, so that the two can be
compared over all results of a ladder. It is imported when the first match is rated: commands and
servers that compare nothing do not start later for it.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.model import MU, SIGMA, TAU, noise_of
from keltis_ladder.ratings.skill import Belief, Noise

if TYPE_CHECKING:
    from trueskill import TrueSkill

# The package stops after ten sweeps anyway; by its own measure it would stop at 1e-4.
MIN_DELTA: Final = 1e-13
# Further down the tail comes near the smallest floating point numbers: quotients lose their digits.
_FAR: Final = -30.0
_DIGITS: Final = 50  # of mpmath, beyond that
_SQRT_2: Final = math.sqrt(2.0)
_PDF_0: Final = 1.0 / math.sqrt(2.0 * math.pi)


class PackageMissing(LadderError):
    """A package that the comparison needs is not installed."""


class PackageFailed(LadderError):
    """The package has no answer for a match."""


def environment_of(variant: str, players: int) -> TrueSkill:
    """Return the model of a kind of match: its mu, sigma, beta, tau and share of draws."""
    return environment(noise_of(variant, players), TAU)


def environment(noise: Noise, tau: float) -> TrueSkill:
    """Return these numbers as an environment, with the normal distribution of the C library.

    The package's own one is an approximation, off by up to 1e-7.
    """
    return _environment(noise.beta, noise.draw_probability, tau, exact=False)


class PackageRater:
    """Rates matches by the package, and counts those for which it needed mpmath."""

    def __init__(self) -> None:
        self.exactly = 0

    def rate(
        self, beliefs: list[Belief], ranks: list[int], noise: Noise, tau: float
    ) -> list[Belief]:
        """Return the beliefs after a match, as ``skill.rate`` does."""
        if noise.draw_probability == 0.0 and len(set(ranks)) < len(ranks):
            # The package would not complain, and return a larger sigma.
            raise ValueError(f"a draw, but the draw probability is 0; ranks {ranks}")
        model = environment(noise, tau)
        try:
            return _rate(model, beliefs, ranks)
        except (ArithmeticError, ValueError):
            self.exactly += 1
            return _rate_exactly(beliefs, ranks, noise, tau)


@cache
def _environment(beta: float, draw_probability: float, tau: float, exact: bool) -> TrueSkill:
    try:
        from trueskill import TrueSkill
    except ImportError as error:
        raise PackageMissing(
            "the package trueskill is not installed: run pip install trueskill"
        ) from error
    return TrueSkill(
        mu=MU,
        sigma=SIGMA,
        beta=beta,
        tau=tau,
        draw_probability=draw_probability,
        backend="mpmath" if exact else _c_library(),
    )


def _c_library() -> tuple[Any, Any, Any]:
    from statistics import NormalDist

    return _cdf, _pdf, NormalDist().inv_cdf


def _cdf(x: float) -> float:
    if x < _FAR:
        raise FloatingPointError(f"too far out for floating point numbers: {x}")
    return 0.5 * math.erfc(-x / _SQRT_2)


def _pdf(x: float) -> float:
    return _PDF_0 * math.exp(-0.5 * x * x)


def _rate_exactly(
    beliefs: list[Belief], ranks: list[int], noise: Noise, tau: float
) -> list[Belief]:
    try:
        import mpmath
    except ImportError as error:
        raise PackageMissing(
            "a match is too one-sided for the package trueskill with floating point numbers, and "
            "mpmath, which it can use instead, is not installed: run pip install mpmath"
        ) from error
    model = _environment(noise.beta, noise.draw_probability, tau, exact=True)
    try:
        with mpmath.workdps(_DIGITS):
            return _rate(model, beliefs, ranks)
    except (ArithmeticError, ValueError) as error:
        raise PackageFailed(
            f"the package trueskill cannot rate {beliefs} with ranks {ranks}: {error}"
        ) from error


def _rate(model: TrueSkill, beliefs: list[Belief], ranks: list[int]) -> list[Belief]:
    teams = [(model.create_rating(belief.mu, belief.sigma),) for belief in beliefs]
    rated = model.rate(teams, ranks, min_delta=MIN_DELTA)
    return [Belief(float(rating.mu), float(rating.sigma)) for (rating,) in rated]
