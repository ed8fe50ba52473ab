"""Opponents: for whom a match is made, and whom it meets."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from keltis_ladder.matchmaking.candidates import Candidate
from keltis_ladder.matchmaking.contenders import Category, may_meet
from keltis_ladder.matchmaking.policy import Policy
from keltis_ladder.matchmaking.tables import find_table, fits, repeats
from keltis_ladder.matchmaking.value import chance, information, stake
from keltis_ladder.ratings.model import TAU
from keltis_ladder.ratings.skill import Noise

# A stake is worked out against this many versions at most, evenly spaced by rating.
MOST_RIVALS: Final = 64
REFRESH: Final = 0.25  # results per version after which the picture of the field is drawn again
# Where the opponents of a new version are looked for, in standard deviations from its rating: its
# median first, then halves, quarters and eighths of what is possible.
SEARCH: Final = (0.0, 0.67, -0.67, 1.15, -1.15, 0.32, -0.32)
# Gains are told per rival, since with more of them more pairs can be put right. With very few there
# is little to put right, and it must not look like much.
FEWEST_RIVALS: Final = 10
NEXT_ABOVE: Final = 3  # neighbours by rating that are looked at for the best gain


class Opponents:
    """Chooses tables by what they would teach."""

    def __init__(
        self, policy: Policy, chance_of: random.Random, noise: Callable[[str, int], Noise]
    ) -> None:
        self.policy = policy
        self.results = 0  # matches finished so far
        self._random = chance_of
        self._noise = noise
        self._candidates: Sequence[Candidate] = []
        self._rivals: list[Candidate] = []
        self._drawn = 0  # how often the picture of the field was drawn
        self._drawn_at = 0
        self._best_gain = 0.0
        self._best_gain_of = -1  # the picture that it belongs to

    def survey(self, candidates: Sequence[Candidate]) -> None:
        """Take over who is on the ladder."""
        self._candidates = candidates
        self._draw()

    def foci(self, eligible: Sequence[Candidate], number: int) -> list[Candidate]:
        """Return some versions taken at random, the one first that it is worth most to know better.

        Those who are playing, or were chosen too often, are left out if there are others.
        """
        self._keep_picture_fresh()
        free = [each for each in eligible if not each.playing] or eligible
        free = [each for each in free if each.allowance(number) >= 1.0] or free
        sample = self._random.sample(free, min(self.policy.sample, len(free)))
        return sorted(sample, key=self._worth, reverse=True)

    def best(
        self, focus: Candidate, category: Category, eligible: Sequence[Candidate], number: int
    ) -> list[Candidate]:
        """Return the table around a version that teaches most, as far as one looks."""
        target = focus.strengths[category.variant].mu
        near = self._nearest(focus, category, eligible, number, target)
        noise = self._noise(category.variant, category.players)
        table = [focus]
        gains = dict.fromkeys(near, 0.0)
        while len(table) < category.players:
            best, most = None, -1.0
            for other in near:
                if not fits(table, other, self.policy.same_author):
                    continue
                gains[other] += self._gain(table[-1], other, category.variant, noise, number)
                gain = gains[other] * self.policy.busy**other.playing
                if gain > most and (
                    len(table) + 1 < category.players or not repeats([*table, other])
                ):
                    best, most = other, gain
            if best is None:
                return self._anybody(focus, category, eligible)
            table.append(best)
        return table

    def placement(
        self, focus: Candidate, category: Category, eligible: Sequence[Candidate], number: int
    ) -> list[Candidate]:
        """Return a table for a version about which little is known.

        Its opponents are spread over where it might stand: as in a search by halves, but without
        waiting for results that are not in yet.
        """
        noise = self._noise(category.variant, category.players)
        own = focus.strengths[category.variant]
        table = [focus]
        while len(table) < category.players:
            place = SEARCH[(focus.facing + len(table) - 1) % len(SEARCH)]
            target = own.mu + place * own.sigma
            near = [
                other
                for other in self._nearest(focus, category, eligible, number, target)
                if fits(table, other, self.policy.same_author)
            ]
            if not near:
                return self._anybody(focus, category, eligible)
            table.append(
                max(
                    near,
                    key=lambda other: self._test(target, focus, other, category.variant, noise),
                )
            )
        return self._anybody(focus, category, eligible) if repeats(table) else table

    def longest_unmet(
        self, focus: Candidate, category: Category, eligible: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return a table with those whom a version has not met for longest, unless hopeless."""
        beta = self._noise(category.variant, category.players).beta
        own = focus.strengths[category.variant]

        def lateness(other: Candidate) -> tuple[bool, int, float]:
            strength = other.strengths[category.variant]
            hopeless = chance(own, strength, beta) < self.policy.hopeless
            met = 0 if hopeless else focus.met.get(other.version, -1)
            return hopeless, met, abs(own.mu - strength.mu)

        order = sorted(eligible, key=lateness)
        return find_table(focus, order, category.players, self.policy.same_author)

    def best_gain(self, eligible: Mapping[Category, Sequence[Candidate]]) -> float:
        """Return what the most instructive match would teach, per rival.

        That is the number of pairs that it puts right, less what the drift of the rating model
        undoes with every match. Once ratings are as sure as the drift lets them be, it is near 0.
        """
        self._keep_picture_fresh()
        if self._best_gain_of != self._drawn:
            self._best_gain_of = self._drawn
            most = max(self._net_gains(eligible), default=0.0)
            self._best_gain = most / max(FEWEST_RIVALS, len(self._rivals))
        return self._best_gain

    def _net_gains(self, eligible: Mapping[Category, Sequence[Candidate]]) -> Iterator[float]:
        """Yield what it teaches that neighbours by rating meet, in each category."""
        drift = TAU * TAU
        for category, candidates in eligible.items():
            variant = category.variant
            noise = self._noise(variant, category.players)
            order = sorted(candidates, key=lambda each: each.strengths[variant].mu)
            for place, one in enumerate(order):
                for other in order[place + 1 : place + 1 + NEXT_ABOVE]:
                    if may_meet(one.contender, other.contender, self.policy.same_author):
                        found = self._information(one, other, variant, noise)
                        yield sum(
                            self._worth(each) * found - each.stake * drift for each in (one, other)
                        )

    def _anybody(
        self, focus: Candidate, category: Category, eligible: Sequence[Candidate]
    ) -> list[Candidate]:
        mu = focus.strengths[category.variant].mu
        order = sorted(eligible, key=lambda other: abs(other.strengths[category.variant].mu - mu))
        return find_table(focus, order, category.players, self.policy.same_author)

    def _nearest(
        self,
        focus: Candidate,
        category: Category,
        eligible: Sequence[Candidate],
        number: int,
        target: float,
    ) -> list[Candidate]:
        """Return whom a version may meet, closest to a rating; equally close ones in any order.

        Those who are playing, or were chosen too often, are left out if there are enough others.
        """
        same_author, own = self.policy.same_author, focus.contender
        others = [each for each in eligible if may_meet(own, each.contender, same_author)]
        free = [each for each in others if not each.playing and each.allowance(number) >= 1.0]
        if len(free) >= self.policy.free:
            others = free
        variant, draw = category.variant, self._random.random
        distances = [(abs(each.strengths[variant].mu - target), draw(), each) for each in others]
        return [each for _, _, each in heapq.nsmallest(self.policy.neighbours, distances)]

    def _test(
        self, target: float, focus: Candidate, other: Candidate, variant: str, noise: Noise
    ) -> float:
        """Return what it teaches to compare a version with one near a rating it might have."""
        spread = focus.variance + other.variance + 2.0 * noise.beta * noise.beta
        scale = math.sqrt(spread)
        lead = target - other.strengths[variant].mu
        found = information(lead / scale, noise.margin / scale) / spread
        found *= self._worth(focus) + self._worth(other)
        return found * self.policy.busy**other.playing

    def _gain(
        self, one: Candidate, other: Candidate, variant: str, noise: Noise, number: int
    ) -> float:
        """Return what it teaches that two meet; less if they have met lately."""
        found = self._information(one, other, variant, noise)
        found *= self._worth(one) + self._worth(other)
        met = one.met.get(other.version)
        if met is not None:
            gap = max(1, number - met)
            found *= gap / (gap + self.policy.repetition * one.fair)
        return found

    def _information(self, one: Candidate, other: Candidate, variant: str, noise: Noise) -> float:
        """Return the information that a match of two holds about either's rating."""
        spread = one.variance + other.variance + 2.0 * noise.beta * noise.beta
        scale = math.sqrt(spread)
        lead = one.strengths[variant].mu - other.strengths[variant].mu
        return information(lead / scale, noise.margin / scale) / spread

    def _worth(self, candidate: Candidate) -> float:
        """Return what information about a version is worth: stake times squared variance."""
        if candidate.stake_of != self._drawn:
            candidate.stake = stake(
                candidate.overall, [one.overall for one in self._rivals if one is not candidate]
            )
            candidate.stake_of = self._drawn
        return candidate.stake * candidate.variance * candidate.variance

    def _keep_picture_fresh(self) -> None:
        if self.results >= self._drawn_at + REFRESH * len(self._candidates):
            self._draw()

    def _draw(self) -> None:
        """Draw the picture of the field that stakes are worked out against."""
        field = sorted(self._candidates, key=lambda one: one.overall.mu)
        count = min(len(field), MOST_RIVALS)
        step = len(field) / max(1, count)
        self._rivals = [field[int((k + 0.5) * step)] for k in range(count)]
        self._drawn += 1
        self._drawn_at = self.results
