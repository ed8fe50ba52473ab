"""How strong the real players are: from many matches on other deals than those of the ladders.

With two players every pair meets equally often; with three and four, tables are drawn at random,
everybody at equally many. A lead is the mean margin of a pair whenever both sit at a table.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from bench.proof.bank import Bank, Outcome, name_of
from keltis_ladder.ratings.joint.kinds import (
    KINDS,
    PLAYERS,
    VARIANTS,
    scope_weights,
    variant_number,
)
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.scores import TWELFTHS
from keltis_ladder.ratings.scopes import OVERALL

Matrix = list[list[float]]


@dataclass(frozen=True)
class Effort:
    """How many matches the truth is worth."""

    meetings: int  # of each pair, with two players
    seats: int  # of each bot, with three and with four


@dataclass(frozen=True)
class KindTruth:
    """A field in one kind of match; rows and columns by place in the field."""

    leads: Matrix  # in luck
    shares: Matrix  # of games in which one is ahead of the other
    firsts: Matrix  # of matches that one ends before the other
    seats: float  # matches of each bot; none if the truth is not measured but known
    players: int
    per_pair: float = math.inf  # meetings of a pair, the harmonic mean

    def lead(self, place: int) -> float:
        """Return the mean lead over the field."""
        return field_mean(self.leads[place], place)

    @property
    def lead_error(self) -> float:
        """The standard error of a mean lead, by luck alone."""
        players = self.players
        return math.sqrt(players / (players - 1) / self.seats) if self.seats else 0.0

    def share_error(self, place: int, shares: Matrix, games: float) -> float:
        """Return a bound of the standard error of a mean share."""
        if not self.seats:
            return 0.0
        row = [share for other, share in enumerate(shares[place]) if other != place]
        spread = math.fsum(share * (1.0 - share) for share in row) / len(row)
        return math.sqrt(spread / (self.seats * games))


def field_mean(row: Sequence[float], place: int) -> float:
    """Return the mean over all others."""
    return (math.fsum(row) - row[place]) / (len(row) - 1)


Truth = dict[int, KindTruth]  # by kind


def tables_of(field: Sequence[int], kind: int, effort: Effort) -> list[tuple[int, ...]]:
    """Return who meets."""
    variant, players = KINDS[kind]
    chance = random.Random(f"truth/{variant}/{players}/{name_of(field)}")
    if players == 2:
        # More meetings go on where fewer end, so that the bank grows with them.
        pairs = [pair for _ in range(effort.meetings) for pair in combinations(field, 2)]
        return [pair if chance.random() < 0.5 else pair[::-1] for pair in pairs]
    tables: list[tuple[int, ...]] = []
    order: list[int] = []
    while len(tables) * players < effort.seats * len(field):
        if len(set(order)) < players:
            order += chance.sample(field, len(field))  # nobody sits twice before all sat once
        table = tuple(order[:players])
        if len(set(table)) == players:
            tables.append(table)
            order = order[players:]
        else:
            chance.shuffle(order)
    return tables


def bank_of(field: Sequence[int], kind: int) -> Bank:
    """Return the matches that the truth of a kind is made of."""
    variant, players = KINDS[kind]
    return Bank.open(f"truth-{variant}-{players}-of", field)


def play_truth(field: Sequence[int], kind: int, effort: Effort) -> KindTruth:
    """Play all matches of a kind, or read them from the bank."""
    bank = bank_of(field, kind)
    variant = KINDS[kind].variant
    outcomes = (
        bank.outcome(variant, table, number)
        for number, table in enumerate(tables_of(field, kind, effort))
    )
    found = truth_of(field, kind, outcomes)
    bank.keep()
    return found


def truth_of(field: Sequence[int], kind: int, outcomes: Iterable[Outcome]) -> KindTruth:
    """Return what matches say of a field."""
    places = {bot: place for place, bot in enumerate(field)}
    size, players = len(field), KINDS[kind].players
    scale = 1.0 / (TWELFTHS * players * NUMBERS.luck[kind])
    sums = [[[0.0] * size for _ in field] for _ in range(4)]
    margins, ahead, firsts, met = sums
    seats = 0
    for outcome in outcomes:
        seats += players
        for one, two in combinations(range(players), 2):
            for mine, its in ((one, two), (two, one)):
                i, j = places[outcome.bots[mine]], places[outcome.bots[its]]
                margins[i][j] += scale * (outcome.scores[mine] - outcome.scores[its])
                ahead[i][j] += outcome.ahead[mine][its] / players
                rank, other = outcome.ranks[mine], outcome.ranks[its]
                firsts[i][j] += (rank < other) + (rank == other) / 2
                met[i][j] += 1

    def mean(total: Matrix) -> Matrix:
        return [
            [value / max(count, 1.0) for value, count in zip(row, counts, strict=True)]
            for row, counts in zip(total, met, strict=True)
        ]

    rare = [1.0 / max(count, 1.0) for row in met for count in row]
    rare_mean = (math.fsum(rare) - size) / (size * (size - 1))  # without those on the diagonal
    return KindTruth(
        mean(margins), mean(ahead), mean(firsts), seats / size, players, 1.0 / rare_mean
    )


def overall_lead(truth: Truth, place: int) -> tuple[float, float]:
    """Return the true rating over all kinds above the mean of 25, and its standard error."""
    value = error = 0.0
    for kind, weight in scope_weights(OVERALL).items():
        scaled = weight * NUMBERS.beta[variant_number(kind)]
        value += scaled * truth[kind].lead(place)
        error += (scaled * truth[kind].lead_error) ** 2
    return value, math.sqrt(error)


def opposite_orders(truth: Truth, sure: float = 3.0) -> tuple[int, int]:
    """Count pairs whose order is certain by wins and by margins: all, and those that disagree."""
    certain = opposite = 0
    for number, kind in enumerate(KINDS):
        if kind.players != PLAYERS[0] or kind.variant not in VARIANTS:
            continue
        each = truth[number]
        size = len(each.leads)
        leads = [each.lead(place) for place in range(size)]
        shares = [field_mean(each.shares[place], place) for place in range(size)]
        errors = [each.share_error(place, each.shares, 2) for place in range(size)]
        for one, two in combinations(range(size), 2):
            lead, share = leads[one] - leads[two], shares[one] - shares[two]
            if abs(lead) > sure * math.sqrt(2.0) * each.lead_error and abs(
                share
            ) > sure * math.hypot(errors[one], errors[two]):
                certain += 1
                opposite += lead * share < 0
    return certain, opposite
