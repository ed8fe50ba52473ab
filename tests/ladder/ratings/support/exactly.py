"""The normal distribution to fifty digits, by mpmath, written down as the textbooks have it."""

from typing import Any

from mpmath import erfc, exp, log10, mp, mpf, npdf, pi, sqrt

DIGITS = 50
TERMS = 60  # of the continued fraction, which is exact to all digits from here on
FAR = 40


def upper(z: Any) -> Any:
    return erfc(z / sqrt(mpf(2))) / 2


def excess(z: Any) -> Any:
    """The hazard less z, for z >= 0; the digits that the difference costs are there."""
    if z < FAR:
        with mp.workdps(DIGITS + 10):
            return npdf(z) / upper(z) - z
    total = mpf(0)
    for k in range(TERMS, 0, -1):  # Laplace's continued fraction
        total = k / (z + total)
    return total


def win(x: Any) -> tuple[Any, Any]:
    v = npdf(x) / upper(-x) if x > -FAR else excess(-x) - x
    with mp.workdps(DIGITS + 30):
        return v, (v * (v + x) if x > -FAR else v * excess(-x))


def draw(t: Any, margin: Any) -> tuple[Any, Any]:
    """Moments of the piece between the margins; twice as many digits as the differences cost."""
    low, high = abs(t) - margin, abs(t) + margin
    lost = int(4 * log10(2 + abs(t)) - min(0, 4 * log10(margin)))
    with mp.workdps(DIGITS + 2 * lost):
        far = exp(-2 * abs(t) * margin)
        mass = _scaled_upper(low) - far * _scaled_upper(high)
        mean = (1 - far) / mass
        w = mean * mean - (low - far * high) / mass
        return (-mean if t > 0 else mean), w


def _scaled_upper(z: Any) -> Any:
    """The upper tail over the density."""
    if z < FAR:
        return sqrt(pi / 2) * exp(z * z / 2) * erfc(z / sqrt(mpf(2)))
    total = mpf(0)
    for k in range(4 * TERMS, 0, -1):
        total = k / (z + total)
    return 1 / (z + total)
