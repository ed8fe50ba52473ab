"""Shares: which kind of match is behind its share, so that each gets it.

Every match adds to each category its share, and takes a whole one from the category that is played.
What is left is how far the category *lags* behind. Only categories that lag are ever played, so a
lag never falls to -1. And since all lags add up to 0, none rises to the number of categories
less 1.
"""

from __future__ import annotations

from collections.abc import Mapping

from keltis_ladder.matchmaking.contenders import Category

_ROUNDING = 1e-9  # sums of shares are this exact, after years too


class CategoryShares:
    """The account of every category that can be played."""

    def __init__(self) -> None:
        self.lags: dict[Category, float] = {}  # behind their share, in matches
        self._shares: Mapping[Category, float] = {}

    def of(self, category: Category) -> float:
        """Return the share of a category, between 0 and 1."""
        return self._shares[category]

    def change(self, shares: Mapping[Category, float]) -> None:
        """Go on with other shares; what can no longer be played leaves its lag to the others."""
        gone = sum(lag for category, lag in self.lags.items() if category not in shares)
        self.lags = {category: self.lags.get(category, 0.0) for category in shares}
        self._shares = shares
        if gone > 0:
            for category in shares:
                self.lags[category] += gone * shares[category]
        elif gone < 0:
            # It had more than its share. Those that lag get less, but nobody falls below 0.
            positive = {category: lag for category, lag in self.lags.items() if lag > 0}
            total = sum(positive.values())
            for category, lag in positive.items():
                self.lags[category] = lag * max(0.0, 1 + gone / total)

    def lagging(self) -> list[Category]:
        """Return what may be played next, the furthest behind first."""
        after = {category: lag + self._shares[category] for category, lag in self.lags.items()}
        behind = [category for category, lag in after.items() if lag > _ROUNDING]
        return sorted(behind, key=lambda category: -after[category])

    def take(self, category: Category) -> None:
        """Count a match of this category."""
        for each, share in self._shares.items():
            self.lags[each] += share
        self.lags[category] -= 1.0
