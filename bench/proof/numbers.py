"""What the real field says of the numbers that the joint rating is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from bench.proof.truth import Effort, KindTruth, bank_of, tables_of
from keltis_ladder.ratings.joint.kinds import KINDS
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.scores import TWELFTHS
from keltis_ladder.ratings.normal import cdf


@dataclass(frozen=True)
class Found:
    """The numbers of one kind, as measured; all but the luck are in the luck of the model."""

    kind: str
    luck: float  # in points a game
    luck_of_bots: tuple[float, float]  # the least and the most of single bots, in the mean of all
    spread: float
    pair: float  # of what two have between them beyond skills
    slope: float
    link: float


def find_numbers(field: Sequence[int], kind: int, effort: Effort, truth: KindTruth) -> Found:
    """Measure the numbers of a kind."""
    luck, by_bot = _luck(field, kind, effort, truth)
    leads = [truth.lead(place) for place in range(len(field))]
    slope = _slope(truth)
    misses = [
        math.fsum(
            truth.shares[one][other] - cdf(slope * truth.leads[one][other])
            for other in range(len(field))
            if other != one
        )
        / (len(field) - 1)
        for one in range(len(field))
    ]
    errors = [truth.share_error(place, truth.shares, truth.players) for place in range(len(field))]
    variant, players = KINDS[kind]
    return Found(
        f"{variant}/{players}",
        luck * NUMBERS.luck[kind],
        (min(by_bot) / luck, max(by_bot) / luck),
        math.sqrt(math.fsum(lead * lead for lead in leads) / len(leads)),
        _pair(truth, luck),
        slope,
        math.sqrt(max(0.0, _mean_square(misses) - _mean_square(errors))),
    )


def _mean_square(values: Sequence[float]) -> float:
    return math.fsum(value * value for value in values) / len(values)


def _luck(
    field: Sequence[int], kind: int, effort: Effort, truth: KindTruth
) -> tuple[float, list[float]]:
    """Return the luck of a match beyond skills, and that of single bots."""
    bank, variant, players = bank_of(field, kind), *KINDS[kind]
    scale = 1.0 / (TWELFTHS * players * NUMBERS.luck[kind])
    leads = {bot: truth.lead(place) for place, bot in enumerate(field)}
    squares, counts = dict.fromkeys(field, 0.0), dict.fromkeys(field, 0)
    for number, table in enumerate(tables_of(field, kind, effort)):
        outcome = bank.outcome(variant, table, number)
        rests = [
            scale * score - leads[bot]
            for bot, score in zip(outcome.bots, outcome.scores, strict=True)
        ]
        level = math.fsum(rests) / players
        for bot, rest in zip(outcome.bots, rests, strict=True):
            squares[bot] += (rest - level) ** 2
            counts[bot] += 1
    free = players / (players - 1)
    mean = math.sqrt(free * math.fsum(squares.values()) / sum(counts.values()))
    return mean, [math.sqrt(free * squares[bot] / counts[bot]) for bot in field]


def _pair(truth: KindTruth, luck: float) -> float:
    """Return the standard deviation of what pairs have beyond skills, that of luck taken out."""
    size = len(truth.leads)
    level = [sum(row) / size for row in truth.leads]
    rests = [
        truth.leads[one][other] - level[one] + level[other]
        for one, other in combinations(range(size), 2)
    ]
    noise = 2.0 * luck * luck / truth.per_pair * (1.0 - 2.0 / size)
    return math.sqrt(max(0.0, _mean_square(rests) - noise))


def _slope(truth: KindTruth) -> float:
    """Return the slope with which Phi(slope * lead) is nearest to the shares of games ahead."""
    pairs = list(combinations(range(len(truth.leads)), 2))

    def miss(slope: float) -> float:
        return math.fsum(
            (truth.shares[one][other] - cdf(slope * truth.leads[one][other])) ** 2
            for one, other in pairs
        )

    low, high = 0.1, 1.0
    while high - low > 0.002:
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if miss(left) < miss(right) else (left, high)
    return (low + high) / 2
