"""The numbers of the rating model. Changing one changes every rating: raise MODEL_VERSION too."""

from __future__ import annotations

import math
from typing import Final

from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.skill import Belief, Noise

MODEL_VERSION: Final = 1

# The scale is a convention; everything else is relative to it.
MU: Final = 25.0
SIGMA: Final = 25.0 / 3.0
PRIOR: Final = Belief(MU, SIGMA)

# A version never changes. But the ground it was measured on does: opponents that were badly known
# when they met become better known, and a live rating is not told. So little drift leaves ratings
# as exact as none does, and their intervals become honest: docs/readers/ratings.md has
# the simulation.
TAU: Final = SIGMA / 200.0

# How far a new version is from its predecessor: the standard deviation of that step. An upload may
# fix a slip or be a new program. Too large costs a few matches, too small a wrong rating for long.
SUCCESSION: Final = SIGMA / 2.0

# Measured by ``python -m bench.ratings.rating_model``. The luck in a match differs by variant, and
# not visibly by the number of players; draws differ by both.
BETA: Final = {"keltis": 1.7, "neue-wege": 2.4, "kartenspiel": 1.8, "weg-der-steine": 4.6}
DRAWS: Final = {
    "keltis": {2: 0.019, 3: 0.006, 4: 0.006},
    "neue-wege": {2: 0.019, 3: 0.006, 4: 0.004},
    "kartenspiel": {2: 0.044, 3: 0.012, 4: 0.011},
    "weg-der-steine": {2: 0.028, 3: 0.010, 4: 0.006},
}
NOISE: Final = {
    (variant, players): Noise(BETA[variant], share)
    for variant, shares in DRAWS.items()
    for players, share in shares.items()
}


class UnknownMatch(LadderError):
    """A kind of match that the model has no numbers for."""


def noise_of(variant: str, players: int) -> Noise:
    """Return what a match of this kind hides."""
    found = NOISE.get((variant, players))
    if found is None:
        known = ", ".join(f"{variant} with {players}" for variant, players in sorted(NOISE))
        raise UnknownMatch(f"no numbers for {variant!r} with {players} players; there are: {known}")
    return found


def start_of(predecessor: Belief | None) -> Belief:
    """Return what is believed of a version that has not played: a step from its predecessor."""
    if predecessor is None:
        return PRIOR
    sigma = predecessor.sigma
    return Belief(predecessor.mu, min(SIGMA, math.sqrt(sigma * sigma + SUCCESSION * SUCCESSION)))
