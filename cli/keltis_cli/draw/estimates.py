"""Estimates with their uncertainty, in words."""

from __future__ import annotations

import math

from keltis_ladder.stats.statistics import Estimate


def short_elo(elo: Estimate) -> str:
    """Return an Elo difference with its margin, or with the one bound it has."""
    if math.isinf(elo.value):
        return f"above {elo.low:+z.0f}" if elo.value > 0 else f"below {elo.high:+z.0f}"
    if math.isinf(elo.low) or math.isinf(elo.high):
        return f"{elo.value:+z.0f}, {between(elo, '+z.0f')}"
    return f"{elo.value:+z.0f} ±{(elo.high - elo.low) / 2:.0f}"


def between(estimate: Estimate, form: str) -> str:
    """Return the interval; an end that is not known is left open."""
    low, high = estimate.low, estimate.high
    if math.isinf(low) and math.isinf(high):
        return "unknown"
    if math.isinf(low):
        return f"below {high:{form}}"
    if math.isinf(high):
        return f"above {low:{form}}"
    return f"{low:{form}} to {high:{form}}"


def percent(share: float) -> str:
    """Return a share as per cent."""
    return f"{share * 100:.1f} %"


def percents(estimate: Estimate) -> str:
    """Return an interval of shares as per cent."""
    return f"{estimate.low * 100:.1f} to {estimate.high * 100:.1f} %"


def surely(probability: float) -> str:
    """Return a probability as per cent; nothing that was measured is ever quite certain."""
    if probability > 0.999:
        return "> 99.9 %"
    return "< 0.1 %" if probability < 0.001 else percent(probability)
