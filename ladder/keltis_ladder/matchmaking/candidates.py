"""Candidates for a match: what the matchmaker knows of each active version."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from keltis_ladder.matchmaking.contenders import Category, Contender
from keltis_ladder.matchmaking.policy import Policy
from keltis_ladder.matchmaking.value import blend
from keltis_ladder.ratings.model import PRIOR
from keltis_ladder.ratings.scopes import ANY, OVERALL, Scope
from keltis_ladder.ratings.skill import Belief


@dataclass(frozen=True)
class History:
    """What a version did before the matchmaker was started; of a new version nothing.

    Numbers count the matches of the whole ladder.
    """

    played: Mapping[tuple[str, int], int] = field(default_factory=dict)  # matches by category
    last: int = 0  # number of its last match
    table: tuple[int, ...] = ()  # the versions of that match
    met: Mapping[int, int] = field(default_factory=dict)  # opponents: number of their last match


class Candidate:
    """A version on the ladder, as the matchmaker sees it."""

    def __init__(
        self,
        contender: Contender,
        beliefs: Mapping[Scope, Belief],
        history: History,
        policy: Policy,
    ) -> None:
        self.contender = contender
        self.version = contender.version
        self.categories: list[Category] = []  # those in which it has a legal table
        self.fair = math.inf  # matches until it would play, if all took turns
        self.new = not any(history.played.values())  # not seated yet
        self.tried = {variant for (variant, _), count in history.played.items() if count}
        self.seated = history.last  # number of the match that it was last seated for
        self.table = frozenset(history.table)
        self.met = dict(history.met)
        self.owed: set[str] = set()  # variants in which it is still to be placed
        self.rotated: dict[Category, int] = {}  # number of its last turn to meet somebody else
        self.playing = 0  # matches under way
        self.facing = 0  # opponents in them
        self.stake = 0.0
        self.stake_of = -1  # the survey that the stake belongs to
        self._policy = policy
        self._allowance = float(policy.burst)  # when it was last seated
        self._beliefs: dict[Scope, Belief] = {}
        self.strengths: dict[str, Belief] = {}
        self.learn(beliefs)

    def learn(self, beliefs: Mapping[Scope, Belief]) -> None:
        """Take over new ratings; the others stay."""
        self._beliefs.update(beliefs)
        self.overall = self._beliefs.get(OVERALL, PRIOR)
        self.variance = self.overall.sigma * self.overall.sigma
        self.stake_of = -1
        for variant in self.contender.variants:
            special = self._beliefs.get(Scope(variant, ANY))
            self.strengths[variant] = (
                blend(self.overall, special, self._policy.deviation) if special else self.overall
            )

    def allowance(self, number: int) -> float:
        """Return how many matches it may be chosen for at once.

        A version that stays uncertain, because its matches have no results, would else be in all.
        """
        earned = self._policy.most * (number - self.seated) / self.fair
        return min(self._policy.burst, self._allowance + earned)

    def sit_down(self, number: int, category: Category, table: tuple[int, ...]) -> None:
        """Take a seat in a match."""
        self.new = False
        self.tried.add(category.variant)
        self.owed.discard(category.variant)
        self._allowance = self.allowance(number) - 1.0
        self.seated = number
        self.table = frozenset(table)
        self.playing += 1
        self.facing += len(table) - 1
        for version in table:
            if version != self.version:
                self.met[version] = number

    def get_up(self, players: int) -> None:
        """Leave a match that is over."""
        self.playing -= 1
        self.facing -= players - 1
