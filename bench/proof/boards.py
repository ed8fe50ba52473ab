"""Boards: what each of the three ratings says of a field after the same matches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.proof.bank import Outcome
from bench.proof.ladders import record_of
from keltis_ladder.ratings.book import recompute
from keltis_ladder.ratings.joint.fit import Fit, Member
from keltis_ladder.ratings.joint.kinds import KINDS, scope_weights
from keltis_ladder.ratings.joint.ranges import told_apart as joint_told_apart
from keltis_ladder.ratings.joint.standings import Standing, difference, standing
from keltis_ladder.ratings.joint.statistics import Statistics, match_of
from keltis_ladder.ratings.model import PRIOR, noise_of
from keltis_ladder.ratings.normal import cdf, pdf
from keltis_ladder.ratings.ranking import Z95, told_apart
from keltis_ladder.ratings.refit import Played, refit
from keltis_ladder.ratings.scopes import ALL, ANY, OVERALL, Scope, scopes_of
from keltis_ladder.ratings.skill import Belief

LIVE: Final = "live"
REFIT: Final = "refit"
JOINT: Final = "joint"
RATINGS: Final = (LIVE, REFIT, JOINT)
SCOPES: Final = (*(Scope(*kind) for kind in KINDS), OVERALL)


@dataclass(frozen=True)
class Claim:
    """A number and its standard deviation."""

    value: float
    sigma: float


@dataclass(frozen=True)
class Board:
    """What one rating says in one scope, by bot."""

    ratings: list[Claim]
    scores: list[Claim]  # against the field; none where the rating does not say
    by_games: bool  # scores are shares of games, otherwise of matches
    gap: Callable[[int, int], Claim]  # as people are shown it
    apart: Callable[[int, int], bool]
    exact_gap: Callable[[int, int], Claim] | None = None  # with covariances, where there are any


Boards = Callable[[Scope], Board]


def live_boards(size: int, outcomes: Sequence[Outcome]) -> Boards:
    """Return the live ratings."""
    book = recompute((record_of(each, number) for number, each in enumerate(outcomes)), {})

    def board(scope: Scope) -> Board:
        return _by_beliefs([book.standing(bot, scope).belief for bot in range(size)], scope)

    return board


def refit_boards(size: int, outcomes: Sequence[Outcome]) -> Boards:
    """Return what the refit makes of the matches of a scope."""

    def board(scope: Scope) -> Board:
        played = [
            Played(f"{number:09d}", each.bots, each.ranks, each.variant, len(each.bots))
            for number, each in enumerate(outcomes)
            if scope in scopes_of(each.variant, len(each.bots))
        ]
        beliefs = refit(played, dict.fromkeys(range(size))).beliefs
        return _by_beliefs([beliefs.get(bot, PRIOR) for bot in range(size)], scope)

    return board


def _by_beliefs(beliefs: list[Belief], scope: Scope) -> Board:
    def gap(one: int, other: int) -> Claim:
        a, b = beliefs[one], beliefs[other]
        return Claim(a.mu - b.mu, math.hypot(a.sigma, b.sigma))

    def apart(one: int, other: int) -> bool:
        a, b = beliefs[one], beliefs[other]
        return told_apart(a.mu, a.sigma, b.mu, b.sigma)

    ratings = [Claim(each.mu, each.sigma) for each in beliefs]
    scores = []
    if scope.variant != ALL and scope.players != ANY:
        beta = noise_of(*scope).beta
        scores = [_match_score(beliefs, bot, beta) for bot in range(len(beliefs))]
    return Board(ratings, scores, by_games=False, gap=gap, apart=apart)


def _match_score(beliefs: Sequence[Belief], bot: int, beta: float) -> Claim:
    """Return the expected share of matches ahead of the others, by the delta method."""
    scale = math.sqrt(2.0) * beta
    own, value, steepness, variance = beliefs[bot], 0.0, 0.0, 0.0
    count = len(beliefs) - 1
    for other, its in enumerate(beliefs):
        if other != bot:
            lead = (own.mu - its.mu) / scale
            steep = pdf(lead) / scale / count
            value += cdf(lead) / count
            steepness += steep
            variance += (steep * its.sigma) ** 2
    return Claim(value, math.sqrt(variance + (steepness * own.sigma) ** 2))


def joint_fit(size: int, outcomes: Sequence[Outcome]) -> Fit:
    """Fit all matches from scratch."""
    kinds = frozenset(range(len(KINDS)))
    matches = [match_of(each.variant, each.bots, each.scores) for each in outcomes]
    members = [Member(bot, None, kinds) for bot in range(size)]
    return Fit.from_scratch(members, Statistics.of(matches))


def joint_boards(size: int, outcomes: Sequence[Outcome]) -> Boards:
    """Return the joint ratings."""
    fit = joint_fit(size, outcomes)

    def board(scope: Scope) -> Board:
        weights = scope_weights(scope)
        shown: list[Standing] = []
        for bot in range(size):
            each = standing(fit, bot, weights)
            assert each is not None
            shown.append(each)

        def gap(one: int, other: int) -> Claim:
            a, b = shown[one], shown[other]
            return Claim(a.rating - b.rating, math.hypot(a.sigma, b.sigma))

        def exact_gap(one: int, other: int) -> Claim:
            found = difference(fit, one, other, weights)
            assert found is not None
            return Claim(found.lead, found.sigma)

        def apart(one: int, other: int) -> bool:
            a, b = shown[one], shown[other]
            return joint_told_apart(a.rating - b.rating, a.sigma, b.sigma)

        # An interval may be cut off at 0 or 1, at one of its ends.
        scores = [
            Claim(
                each.score.value,
                max(each.score.high - each.score.value, each.score.value - each.score.low) / Z95,
            )
            for each in shown
        ]
        ratings = [Claim(each.rating, each.sigma) for each in shown]
        return Board(ratings, scores, by_games=True, gap=gap, apart=apart, exact_gap=exact_gap)

    return board


BOARDS: Final[dict[str, Callable[[int, Sequence[Outcome]], Boards]]] = {
    LIVE: live_boards,
    REFIT: refit_boards,
    JOINT: joint_boards,
}
