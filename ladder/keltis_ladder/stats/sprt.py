"""The sequential test: play until the answer is clear, and no longer.

It is the generalised sequential probability ratio test that chess engines are developed with: of
two claims about the Elo difference, which one do the matches speak for? The outcomes of whole
matches are counted (for two bots: shares of 0, 1/4, 1/2, 3/4 and 1), so their variance is measured
and not assumed.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from keltis_ladder.errors import LadderError
from keltis_ladder.stats.statistics import expected_share

ERROR_RATE: Final = 0.05  # of either kind
# Minimum number of matches: before, a run of equal results would look like certainty.
FEWEST_MATCHES: Final = 20
# One match more, with every outcome equally likely, keeps the measured variance from being zero.
_PRIOR: Final = 0.2
_OUTCOMES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Hypotheses:
    """The two claims: the first bot is better by ``elo0`` at most, or by ``elo1`` at least."""

    elo0: float = 0.0
    elo1: float = 20.0

    def __post_init__(self) -> None:
        """Refuse claims that cannot be told apart."""
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1)) or self.elo0 >= self.elo1:
            raise LadderError(
                f"elo0 is {self.elo0:g} and elo1 is {self.elo1:g}: "
                "elo1 must be the greater one, for example 0 and 20"
            )


class Sprt:
    """A test under way between two bots."""

    def __init__(self, hypotheses: Hypotheses) -> None:
        self.hypotheses = hypotheses
        self.upper = math.log((1 - ERROR_RATE) / ERROR_RATE)
        self.lower = -self.upper
        self.matches = 0
        self._counts: Counter[Fraction] = Counter()

    def add(self, share: Fraction) -> None:
        """Count the first bot's share of one match, between 0 and 1."""
        self.matches += 1
        self._counts[share] += 1

    @property
    def ratio(self) -> float:
        """The log-likelihood ratio: above 0 the matches speak for ``elo1``."""
        weights = [(outcome, _PRIOR) for outcome in _OUTCOMES]
        weights += [(float(share), float(count)) for share, count in self._counts.items()]
        spreads = []
        for difference in (self.hypotheses.elo0, self.hypotheses.elo1):
            expected = expected_share(difference)
            spreads.append(math.fsum(w * (share - expected) ** 2 for share, w in weights))
        return self.matches / 2 * math.log(spreads[0] / spreads[1])

    @property
    def verdict(self) -> str | None:
        """``H1`` or ``H0`` once the test is decided, for ``elo1`` or ``elo0``; none before."""
        if self.matches < FEWEST_MATCHES:
            return None
        ratio = self.ratio
        if ratio >= self.upper:
            return "H1"
        return "H0" if ratio <= self.lower else None
