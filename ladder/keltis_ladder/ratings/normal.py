"""The normal distribution, and what is left of it when a match has been seen.

Everything here is made of + - * / and square roots, which IEEE 754 defines to the last bit, so that
a rating computed twice is the same number on every machine. The functions of the C library are not:
``math.exp`` and ``math.erfc`` differ between its versions in the last places.

One function carries the rest: the *excess* of the hazard, ``pdf(z) / P(X > z) - z`` for z >= 0. It
falls smoothly from 0.798 to 0 like 1/z, so that neither the far tails nor the differences between
nearly equal numbers, in which textbook formulae drown there, ever come up.
"""

from __future__ import annotations

import math
from typing import Final

from librt.vecs import vec
from mypy_extensions import i64

SQRT_2: Final = math.sqrt(2.0)
_PDF_0: Final = 0.3989422804014327  # 1 / sqrt(2 pi)
_FAR: Final = 39.0  # where the density is below the smallest number

# excess(z) * (z + 4) as a Chebyshev series in 1 - 8 / (z + 4); a test computes it again.
_SCALE: Final = 4.0
EXCESS_SERIES: Final = [
    3.925328390083623,
    -1.1188510157786882,
    0.14474029185284001,
    0.022568144516950123,
    -0.012319285309578898,
    0.0006434967742806938,
    0.0007149153845601936,
    -0.0001424925375354191,
    -3.1812023837720385e-05,
    1.3726373376950618e-05,
    7.838867381724397e-07,
    -1.0464769205591849e-06,
    4.021898684208879e-08,
    6.941384471286972e-08,
    -8.2127461204007e-09,
    -4.094168456484325e-09,
    8.28803651386762e-10,
    2.1187917060396636e-10,
    -6.613538101493974e-11,
    -8.982930654808068e-12,
    4.549714889503918e-12,
    2.2553171793888323e-13,
    -2.751874539860751e-13,
    9.48182714592592e-15,
    1.4432550630781185e-14,
    -2.10798330114151e-15,
    -6.172401556606612e-16,
    2.2059908542876756e-16,
]
_SERIES: Final = vec[float](EXCESS_SERIES)

# Places and weights of Gauss and Legendre's rule with ten points, on 0 to 1.
PLACES: Final = [
    0.01304673574141414,
    0.06746831665550775,
    0.1602952158504878,
    0.2833023029353764,
    0.4255628305091844,
    0.5744371694908156,
    0.7166976970646236,
    0.8397047841495122,
    0.9325316833444922,
    0.9869532642585859,
]
WEIGHTS: Final = [
    0.03333567215434407,
    0.0747256745752903,
    0.10954318125799102,
    0.13463335965499817,
    0.14776211235737644,
    0.14776211235737644,
    0.13463335965499817,
    0.10954318125799102,
    0.0747256745752903,
    0.03333567215434407,
]
_PLACES: Final = vec[float](PLACES)
_WEIGHTS: Final = vec[float](WEIGHTS)

_PER_LN_2: Final = 1.4426950408889634
_LN_2_HIGH: Final = 0.6931471803691238  # 33 bits: its products with small integers are exact
_LN_2_LOW: Final = 1.9082149292705877e-10
_HALF_LN_2: Final = 0.34657359027997264
_SMALLEST_LOG: Final = -745.2
_LARGEST_LOG: Final = 709.782712893384
_DEGREE: Final = 14
_INVERSE_FACTORIALS: Final = vec[float]([1.0 / math.factorial(k) for k in range(_DEGREE + 1)])
_LOWEST_POWER: Final = -540
_POWERS_OF_2: Final = vec[float]([math.ldexp(1.0, k) for k in range(_LOWEST_POWER, 514)])


def _growth(r: float) -> float:
    """Return e^r - 1 for small r, by Taylor's series."""
    total = 0.0
    for k in range(_DEGREE, 1, -1):
        total = total * r + _INVERSE_FACTORIALS[k]
    return r + r * r * total


def _exp_of_sum(large: float, small: float) -> float:
    """Return e^(large + small), where the small part holds what rounding took from the large."""
    if large < _SMALLEST_LOG:
        return 0.0
    if large > _LARGEST_LOG:
        return math.inf
    power: i64 = math.floor(large * _PER_LN_2 + 0.5)
    high = large - float(power) * _LN_2_HIGH
    grown = 1.0 + _growth(high - (float(power) * _LN_2_LOW - small))
    # In two steps, since the power alone may be too small or too large for a number.
    half = power >> 1
    grown *= _POWERS_OF_2[half - _LOWEST_POWER]
    return grown * _POWERS_OF_2[power - half - _LOWEST_POWER]


def exp(x: float) -> float:
    """Return e^x: 0 and infinity where a number is too small or too large."""
    return _exp_of_sum(x, 0.0)


def expm1(x: float) -> float:
    """Return e^x - 1, exact also where it is small."""
    if -_HALF_LN_2 < x < _HALF_LN_2:
        return _growth(x)
    return _exp_of_sum(x, 0.0) - 1.0


def pdf(x: float) -> float:
    """Return the density of the standard normal distribution."""
    if x > _FAR or x < -_FAR:
        return 0.0
    # The square with its rounding error (Dekker 1971), which the exponential would magnify.
    square = x * x
    shifted = x * 134217729.0
    high = shifted - (shifted - x)
    low = x - high
    lost = ((high * high - square) + 2.0 * high * low) + low * low
    return _PDF_0 * _exp_of_sum(-0.5 * square, -0.5 * lost)


def excess(z: float) -> float:
    """Return by how much the hazard is larger than z, for z >= 0."""
    place = 1.0 - 2.0 * _SCALE / (z + _SCALE)
    twice = 2.0 * place
    last = 0.0
    total = 0.0
    for k in range(len(_SERIES) - 1, 0, -1):  # Clenshaw 1955
        last, total = total, (_SERIES[k] - last) + twice * total
    return (0.5 * _SERIES[0] - last + place * total) / (z + _SCALE)


def hazard(z: float) -> float:
    """Return the density at z over the probability to be beyond it, for z >= 0."""
    return z + excess(z)


def upper(z: float) -> float:
    """Return the probability of being above z, for z >= 0."""
    return pdf(z) / hazard(z)


def cdf(x: float) -> float:
    """Return the probability that a standard normal variable is below x."""
    return upper(-x) if x < 0.0 else 1.0 - upper(x)


def ppf(p: float) -> float:
    """Return the quantile: the x with cdf(x) = p. Slow in the tails; meant for setting up."""
    if not 0.0 < p < 1.0:
        raise ValueError(f"a quantile needs a probability between 0 and 1, got {p}")
    tail = p if p < 0.5 else 1.0 - p
    # The tail is convex: Newton's steps from 0 never go too far, until rounding ends them.
    z = 0.0
    while True:
        further = z + (1.0 / hazard(z) - tail / pdf(z))
        if further <= z:
            return -z if p < 0.5 else z
        z = further


def win_moments(t: float, margin: float) -> tuple[float, float]:
    """Return (v, w) of a win by more than the margin, where the lead has mean t and variance 1.

    Knowing that the lead is above the margin moves its mean by v, and takes w from its variance.
    """
    x = t - margin
    if x < 0.0:
        above = excess(-x)
        v = above - x
        return v, min(1.0, v * above)
    v = pdf(x)
    v /= 1.0 - v / hazard(x)
    return v, min(1.0, v * (v + x))


def draw_moments(t: float, margin: float) -> tuple[float, float]:
    """Return (v, w) of a draw: the lead was within the margin either way."""
    away = abs(t)
    if margin < 1.0 and away * margin < 4.0:
        mean, w = _narrow_draw(away, margin)
    elif away < margin:
        mean, w = _wide_draw(away, margin)
    else:
        mean, w = _far_draw(away, margin)
    return (mean if t < 0.0 else -mean), min(1.0, w)


# A draw leaves, of the normal distribution, what lies from away - margin to away + margin. Each of
# these three returns its mean, and 1 minus its variance, where the others would lose digits.


def _narrow_draw(away: float, margin: float) -> tuple[float, float]:
    """Integrate over a narrow and smooth piece, both halves at once."""
    mass = 0.0
    first = 0.0
    second = 0.0
    for k in range(len(_PLACES)):
        x = _PLACES[k]
        step = margin * x
        grown = expm1(away * step)
        shrunk = grown / (1.0 + grown)
        weight = _WEIGHTS[k] * exp(-0.5 * step * step)
        both = weight * (2.0 + grown * shrunk)
        mass += both
        first += weight * (grown + shrunk) * x
        second += both * x * x
    lag = margin * first / mass
    return away - lag, 1.0 - (margin * margin * second / mass - lag * lag)


def _wide_draw(away: float, margin: float) -> tuple[float, float]:
    """Both ends are on different sides of 0, and the piece is not narrow."""
    low = margin - away
    high = margin + away
    density = pdf(low) / (1.0 - upper(low) - upper(high))
    lost = expm1(-2.0 * away * margin)
    mean = -lost * density
    return mean, mean * mean + (low + (1.0 + lost) * high) * density


def _far_draw(away: float, margin: float) -> tuple[float, float]:
    """The piece lies in one tail. Densities are relative to that at its near end."""
    low = away - margin
    high = away + margin
    far = exp(-2.0 * away * margin)  # the density at the far end
    low_excess = excess(low)
    high_excess = excess(high)
    low_hazard = low + low_excess
    share = far * low_hazard / (high + high_excess)  # of the tail that lies beyond the piece
    lag = (low_excess - share * (high_excess + 2.0 * margin)) / (1.0 - share)
    mean = (1.0 - far) * low_hazard / (1.0 - share)
    return mean, mean * lag + 2.0 * margin * far * low_hazard / (1.0 - share)
