"""The inner loop of the refit: all matches and all steps between versions, swept again and again.

Every version has a normal belief. Each match sends a message about the skill of each of its
entrants, and each step between two versions of a bot sends one either way. A match is renewed with
what all *other* messages say about its entrants, so that in the end nothing is counted twice.
Messages are normal factors: a precision, and that precision times the distance from the centre of
the scale. Everything lies in flat vectors, since hundreds of thousands of matches are swept.
"""

from __future__ import annotations

import math
from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64

from keltis_ladder.ratings.refit_anderson import AndersonAcceleration
from keltis_ladder.ratings.skill import Belief, Chain, Noise

NOBODY: Final = -1
PLAIN_SWEEPS: Final = 3  # before the first extrapolation


@final
class Network:
    """Versions, numbered so that each comes after its predecessor, and matches between them.

    Matches lie one after the other. ``entrants`` are versions by rank; ``ends`` says where each
    match ends; ``drawn`` marks entrants who drew with the next; ``noises`` has one per match.
    """

    __slots__ = (
        "centre",
        "chain",
        "ends",
        "entrants",
        "noises",
        "precision",
        "predecessors",
        "prior_precision",
        "shift",
        "site_precision",
        "site_shift",
        "step_variance",
        "up_precision",
        "up_shift",
    )

    def __init__(
        self,
        prior: Belief,
        step: float,
        predecessors: list[int],
        entrants: list[int],
        ends: list[int],
        drawn: list[bool],
        noises: list[Noise],
    ) -> None:
        self.centre = prior.mu
        self.prior_precision = 1.0 / (prior.sigma * prior.sigma)
        self.step_variance = step * step
        self.predecessors = vec[i64](predecessors)
        self.entrants = vec[i64](entrants)
        self.ends = vec[i64](ends)
        self.noises = noises
        self.chain = Chain(len(entrants))
        for k in range(len(entrants)):
            self.chain.mean[k] = prior.mu
            self.chain.drawn[k] = drawn[k]
        zeros = [0.0] * len(predecessors)
        self.precision = vec[float](zeros)  # of the belief about each version
        self.shift = vec[float](zeros)
        self.site_precision = vec[float](zeros)  # of all that its matches say
        self.site_shift = vec[float](zeros)
        self.up_precision = vec[float](zeros)  # of what it says about its predecessor
        self.up_shift = vec[float](zeros)
        self.pass_steps()

    def settle(self, precision: float, most_sweeps: int) -> tuple[int, bool]:
        """Sweep until no mean and no deviation changes by more; return how often, and if it did."""
        acceleration = AndersonAcceleration()
        for sweeps in range(1, most_sweeps + 1):
            means, deviations = self.means(), self.deviations()
            self.sweep()
            after = self.means()
            moved = largest_gap(means, after)
            if max(moved, largest_gap(deviations, self.deviations())) < precision:
                return sweeps, True
            # The first sweeps learn the deviations: where they lead says nothing yet.
            if sweeps >= PLAIN_SWEEPS:
                self.move(acceleration.extrapolate(means, after))
        return most_sweeps, False

    def mean(self, version: i64) -> float:
        """Return the mean of the belief about a version."""
        return self.centre + self.shift[version] / self.precision[version]

    def deviation(self, version: i64) -> float:
        """Return the standard deviation of the belief about a version."""
        return math.sqrt(1.0 / self.precision[version])

    def means(self) -> vec[float]:
        """Return the means of all beliefs."""
        found = vec[float]([0.0] * len(self.precision))
        for version in range(len(found)):
            found[version] = self.mean(version)
        return found

    def deviations(self) -> vec[float]:
        """Return the standard deviations of all beliefs."""
        found = vec[float]([0.0] * len(self.precision))
        for version in range(len(found)):
            found[version] = self.deviation(version)
        return found

    def sweep(self) -> None:
        """Renew all messages once."""
        self.play_matches()
        self.pass_steps()

    def move(self, further: vec[float]) -> None:
        """Move all that matches say of each version further."""
        for k in range(len(self.entrants)):
            self.chain.mean[k] += further[self.entrants[k]]
        self.pass_steps()

    def play_matches(self) -> None:
        """Renew the messages of all matches."""
        first: i64 = 0
        for match in range(len(self.ends)):
            end = self.ends[match]
            self._play(first, end, self.noises[match])
            first = end

    def _play(self, first: i64, end: i64, noise: Noise) -> None:
        chain = self.chain
        for k in range(first, end):
            self._count(k, noise.beta, -1.0)
            version = self.entrants[k]
            variance = 1.0 / self.precision[version]
            chain.place(k, self.centre + self.shift[version] * variance, variance)
        chain.link(first, noise)
        chain.sweep(first, end - 1, noise)
        for k in range(first, end):
            self._count(k, noise.beta, 1.0)

    def _count(self, k: i64, beta: float, sign: float) -> None:
        """Put the message to an entrant into its belief, or take it out."""
        precision, shift = self.chain.message(k, beta)
        shift += precision * (self.chain.mean[k] - self.centre)
        version = self.entrants[k]
        self.precision[version] += sign * precision
        self.shift[version] += sign * shift

    def pass_steps(self) -> None:
        """Renew the messages between versions of the same bot, and sum up all beliefs again."""
        self._sum_matches()
        count: i64 = len(self.predecessors)
        precision, shift = self.precision, self.shift
        for version in range(count):
            precision[version] = self.site_precision[version]
            shift[version] = self.site_shift[version]
        for version in range(count - 1, -1, -1):
            predecessor = self.predecessors[version]
            if predecessor != NOBODY:
                damping = 1.0 + self.step_variance * precision[version]
                self.up_precision[version] = precision[version] / damping
                self.up_shift[version] = shift[version] / damping
                precision[predecessor] += self.up_precision[version]
                shift[predecessor] += self.up_shift[version]
        for version in range(count):
            predecessor = self.predecessors[version]
            if predecessor == NOBODY:
                precision[version] += self.prior_precision
            else:
                down = precision[predecessor] - self.up_precision[version]
                damping = 1.0 + self.step_variance * down
                precision[version] += down / damping
                shift[version] += (shift[predecessor] - self.up_shift[version]) / damping

    def _sum_matches(self) -> None:
        # From scratch, so that adding and taking away again leave no rounding errors behind.
        for version in range(len(self.precision)):
            self.site_precision[version] = 0.0
            self.site_shift[version] = 0.0
        first: i64 = 0
        for match in range(len(self.ends)):
            end = self.ends[match]
            beta = self.noises[match].beta
            for k in range(first, end):
                precision, shift = self.chain.message(k, beta)
                version = self.entrants[k]
                self.site_precision[version] += precision
                self.site_shift[version] += shift + precision * (self.chain.mean[k] - self.centre)
            first = end


def largest_gap(some: vec[float], others: vec[float]) -> float:
    """Return the largest difference between numbers at the same place."""
    gap = 0.0
    for k in range(len(some)):
        gap = max(gap, abs(some[k] - others[k]))
    return gap
