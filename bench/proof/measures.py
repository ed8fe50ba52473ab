"""Measures: how far what a board claims is true.

The true strength of real bots is measured, too: where it is held against a claim, its standard
error is added to that of the claim, so that a rating is not blamed for it.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from bench.matchmaking.ladders import kendall
from bench.proof.boards import Board, Claim
from bench.proof.truth import KindTruth, Truth, field_mean, overall_lead
from bench.proof.worlds import World
from keltis_ladder.ratings.joint.kinds import kind_number, scope_weights, variant_number
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.ranking import Z95
from keltis_ladder.ratings.scopes import OVERALL, Scope

PAIRS: Final = 150  # that a gap is looked at of, in each scope
SURE: Final = 2.0  # standard errors by which the true order of a pair is known


@dataclass
class Tally:
    """Counts over ladders and scopes."""

    scores: Counter[bool] = field(default_factory=Counter)  # inside their intervals?
    gaps: Counter[bool] = field(default_factory=Counter)
    exact_gaps: Counter[bool] = field(default_factory=Counter)  # with covariances
    apart: Counter[bool] = field(default_factory=Counter)  # in the right order?
    clones: Counter[bool] = field(default_factory=Counter)  # told apart?
    taus: list[float] = field(default_factory=list)
    score_errors: list[float] = field(default_factory=list)  # squared
    gap_errors: list[float] = field(default_factory=list)  # squared, in claimed variances

    def add(self, other: Tally) -> None:
        """Add the counts of another."""
        self.scores += other.scores
        self.gaps += other.gaps
        self.exact_gaps += other.exact_gaps
        self.apart += other.apart
        self.clones += other.clones
        self.taus += other.taus
        self.score_errors += other.score_errors
        self.gap_errors += other.gap_errors

    def short(self) -> dict[str, float | None]:
        """Return the shares that matter most, for a table of every scope."""
        return {
            "scores": share(self.scores),
            "gaps": share(self.gaps),
            "exact_gaps": share(self.exact_gaps),
        }

    def row(self) -> dict[str, float | int | None]:
        """Return shares of what was counted, and of how much."""
        return {
            "scores": share(self.scores),
            "score_error": _root_mean(self.score_errors),
            "gaps": share(self.gaps),
            "gap_error": _root_mean(self.gap_errors),
            "exact_gaps": share(self.exact_gaps),
            "gap_count": self.gaps.total(),
            "wrong": share(self.apart, False),
            "apart_count": self.apart.total(),
            "clones": share(self.clones),
            "clone_count": self.clones.total(),
            "tau": sum(self.taus) / len(self.taus) if self.taus else None,
        }


def share(counts: Counter[bool], of: bool = True) -> float | None:
    """Return the share of what is so, or is not."""
    return counts[of] / counts.total() if counts.total() else None


def _root_mean(squares: list[float]) -> float | None:
    return math.sqrt(max(0.0, math.fsum(squares)) / len(squares)) if squares else None


def true_rating(truth: Truth, scope: Scope, place: int) -> Claim:
    """Return the true rating above 25, on TrueSkill's scale, and its standard error."""
    if scope == OVERALL:
        return Claim(*overall_lead(truth, place))
    kind = kind_number(*scope)
    beta = NUMBERS.beta[variant_number(kind)]
    return Claim(beta * truth[kind].lead(place), beta * truth[kind].lead_error)


def true_score(truth: Truth, scope: Scope, place: int, by_games: bool) -> Claim:
    """Return the true share of games, or of matches, in which a bot is ahead of the others."""
    value = variance = 0.0
    for kind, weight in scope_weights(scope).items():
        each = _score_of_kind(truth[kind], place, by_games)
        value += weight * each.value
        variance += (weight * each.sigma) ** 2
    return Claim(value, math.sqrt(variance))


def _score_of_kind(truth: KindTruth, place: int, by_games: bool) -> Claim:
    shares = truth.shares if by_games else truth.firsts
    games = truth.players if by_games else 1
    return Claim(field_mean(shares[place], place), truth.share_error(place, shares, games))


def inside(claim: Claim, truth: Claim) -> bool:
    """Return whether the truth lies within the 95 % interval."""
    return abs(claim.value - truth.value) <= Z95 * math.hypot(claim.sigma, truth.sigma)


def measure(world: World, scope: Scope, board: Board, seed: int) -> Tally:
    """Hold a board against the truth."""
    found = Tally()
    truth = [true_rating(world.truth, scope, bot) for bot in range(world.size)]
    for bot, claim in enumerate(board.scores):
        true = true_score(world.truth, scope, bot, board.by_games)
        found.scores[inside(claim, true)] += 1
        found.score_errors.append((claim.value - true.value) ** 2 - true.sigma**2)
    for one, other, gap, sigma in _gaps(truth, seed):
        claim = board.gap(one, other)
        found.gaps[inside(claim, Claim(gap, sigma))] += 1
        if board.exact_gap is not None:
            found.exact_gaps[inside(board.exact_gap(one, other), Claim(gap, sigma))] += 1
        found.gap_errors.append((claim.value - gap) ** 2 / (claim.sigma**2 + sigma**2))
    clones = set(world.clones())
    for one, other in combinations(range(world.size), 2):
        apart = board.apart(one, other)
        if (one, other) in clones:
            found.clones[apart] += 1
        elif apart:
            gap = truth[one].value - truth[other].value
            if abs(gap) > SURE * math.hypot(truth[one].sigma, truth[other].sigma):
                lead = board.ratings[one].value - board.ratings[other].value
                found.apart[lead * gap > 0] += 1
    ratings = [claim.value for claim in board.ratings]
    found.taus.append(kendall(ratings, [each.value for each in truth]))
    return found


def _gaps(truth: list[Claim], seed: int) -> Iterator[tuple[int, int, float, float]]:
    """Yield pairs, and by how much one is truly ahead of the other, with its standard error."""
    pairs = list(combinations(range(len(truth)), 2))
    if len(pairs) > PAIRS:
        pairs = random.Random(seed).sample(pairs, PAIRS)
    for one, other in pairs:
        a, b = truth[one], truth[other]
        yield one, other, a.value - b.value, math.hypot(a.sigma, b.sigma)
