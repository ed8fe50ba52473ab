"""The numbers of the joint model. Changing one changes every rating: it is a new version then.

Luck is the unit of all skills: the standard deviation of what a seat makes, in points a game, over
a match, when everything but luck is the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from keltis_ladder.ratings.joint.kinds import KINDS, PLAYERS, VARIANTS

MODEL_VERSION: Final = 2

ByKind = tuple[float, ...]
ByVariant = tuple[float, ...]


@dataclass(frozen=True)
class Numbers:
    """One version of the model; by kind or by variant, in the order of ``kinds``."""

    version: int
    luck: ByKind  # in points a game
    spread: ByKind  # standard deviation of skills, in luck
    pair: ByKind  # of what two bots have between them beyond their skills, in luck
    near: tuple[tuple[float, float], ...]  # by variant: skills with 2 and 3, with 3 and 4 players
    alike: tuple[ByVariant, ...]  # correlations of skills between variants
    slope: ByKind  # the chance to be ahead of another in a game is Phi(slope * lead)
    link: ByKind  # standard deviation of what that formula misses of a field score
    beta: ByVariant  # what a lead of one luck is on TrueSkill's scale
    win: tuple[int, ...]  # by variant: points that a won game adds
    forfeit: tuple[int, ...]  # by variant: points by which a game with a fault is lost, at least
    succession: ByKind  # how far a version is from its predecessor: times ``spread``
    stretch: ByKind  # by what share far leads may be wrong, all in the same direction

    def __post_init__(self) -> None:
        """Refuse what cannot be computed with."""
        by_kind = (self.luck, self.spread, self.pair, self.succession)
        also_by_kind = (self.slope, self.link, self.stretch)
        by_variant = (self.near, self.alike, self.beta, *self.alike)
        if any(len(numbers) != len(KINDS) for numbers in (*by_kind, *also_by_kind)):
            raise ValueError(f"the model has {len(KINDS)} kinds of match, each with its numbers")
        if any(len(numbers) != len(VARIANTS) for numbers in (*by_variant, self.win, self.forfeit)):
            raise ValueError(f"the model has {len(VARIANTS)} variants, each with its numbers")
        if min(*self.luck, *self.spread, *self.pair, *self.succession) <= 0:
            raise ValueError("luck, spread, pair and succession are above 0")
        if not all(-1 < step < 1 for steps in self.near for step in steps):
            raise ValueError(f"correlations are between -1 and 1; got {self.near}")

    def covariance(self) -> list[float]:
        """Return the covariance of a new bot's skills, row after row."""
        return self._scaled(self.spread)

    def step_covariance(self) -> list[float]:
        """Return the covariance of the step from a version to the next: alike in the same way."""
        widths = zip(self.succession, self.spread, strict=True)
        return self._scaled(tuple(step * spread for step, spread in widths))

    def _scaled(self, deviations: ByKind) -> list[float]:
        """Return a covariance: a chain from 2 to 4 players, whose links are alike by variant.

        Within a variant, skills are sums of three independent causes: one that is there with two
        players, and what three and four add. Each cause is as alike in two variants as they are.
        """
        chains = [_chain(*steps) for steps in self.near]
        count = len(PLAYERS)
        found = []
        for one in range(len(KINDS)):
            for other in range(len(KINDS)):
                left, right = (
                    chains[one // count][one % count],
                    chains[other // count][other % count],
                )
                shared = 0.0
                for k in range(count):
                    shared += left[k] * right[k]
                alike = self.alike[one // count][other // count]
                found.append(deviations[one] * deviations[other] * alike * shared)
        return found


def _chain(up: float, further: float) -> tuple[tuple[float, float, float], ...]:
    """Return a root of the correlations of a chain with these steps."""
    new = math.sqrt(1.0 - up * up)
    newer = math.sqrt(1.0 - further * further)
    return (1.0, 0.0, 0.0), (up, new, 0.0), (up * further, new * further, newer)


# Version 1 was measured on bots of one family. On 50 of several (``bench/ratings/coverage.py``),
# luck was the same within 6 %, and is the unit of all ratings: it stays. Skills were further apart
# and less alike at larger tables, and a game at a larger table is less certain. ``pair`` is at the
# upper end of what two fields showed. ``alike`` was 0.55 to 0.97; less is safer for bots that are
# good at one game only, and as exact. ``stretch``: where a weak bot sits, games last longer, and
# the others' leads over each other are larger, in keltis by up to 16 %; with a strong one they are
# smaller by as much. Close tables see one of the two only. ``spread``, ``near``, ``pair`` and
# ``stretch`` were chosen among nine sets by how well they covered ladders of these bots; others are
# for the proof. Nobody has measured ``succession`` yet. ``forfeit`` is more than any game was lost
# by of 4,800 between a player that chooses at random and better ones, with what the won game adds:
# 106, 105, 65 and 77.
NUMBERS: Final = Numbers(
    version=MODEL_VERSION,
    luck=(9.9, 8.0, 5.5, 9.4, 7.3, 5.7, 4.2, 3.3, 2.7, 6.6, 5.1, 4.2),
    spread=(2.7, 2.7, 3.1, 2.1, 2.3, 2.2, 3.0, 3.2, 3.3, 1.3, 1.15, 1.0),
    pair=(0.55, 0.30, 0.17, 0.18, 0.10, 0.12, 0.55, 0.32, 0.17, 0.20, 0.10, 0.08),
    near=((0.98, 0.97), (0.98, 0.95), (0.97, 0.95), (0.95, 0.94)),
    alike=(
        (1.0, 0.6, 0.6, 0.6),
        (0.6, 1.0, 0.6, 0.6),
        (0.6, 0.6, 1.0, 0.6),
        (0.6, 0.6, 0.6, 1.0),
    ),
    slope=(0.45, 0.42, 0.36, 0.48, 0.41, 0.36, 0.45, 0.40, 0.36, 0.43, 0.36, 0.33),
    link=(0.010, 0.010, 0.010, 0.006, 0.006, 0.006, 0.009, 0.009, 0.009, 0.006, 0.006, 0.006),
    beta=(1.7, 2.4, 1.8, 4.6),
    win=(5, 5, 2, 3),
    forfeit=(120, 120, 75, 85),
    succession=(0.5,) * len(KINDS),
    stretch=(0.13, 0.13, 0.13, 0.06, 0.06, 0.06, 0.13, 0.13, 0.13, 0.04, 0.04, 0.04),
)
