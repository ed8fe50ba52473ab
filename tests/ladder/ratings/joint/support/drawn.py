"""Ladders drawn from the model: skills, pairs and luck are what it believes they are."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from keltis_ladder.ratings.joint.fit import Member
from keltis_ladder.ratings.joint.kinds import KINDS
from keltis_ladder.ratings.joint.numbers import NUMBERS, Numbers
from keltis_ladder.ratings.joint.statistics import Match

COUNT = len(KINDS)
ALL_KINDS = frozenset(range(COUNT))


def newcomers(count: int) -> list[Member]:
    return [Member(version, None, ALL_KINDS) for version in range(count)]


def root(covariance: list[float]) -> list[list[float]]:
    """Cholesky's: what turns independent numbers into such as vary together."""
    found = [[0.0] * COUNT for _ in range(COUNT)]
    for i in range(COUNT):
        for j in range(i + 1):
            left = covariance[COUNT * i + j] - sum(found[i][k] * found[j][k] for k in range(j))
            found[i][j] = math.sqrt(left) if i == j else left / found[j][j]
    return found


@dataclass
class Drawn:
    """What is true of a ladder, and what was played on it."""

    seed: int
    members: list[Member]
    numbers: Numbers = NUMBERS
    skills: dict[int, list[float]] = field(default_factory=dict)
    effects: dict[tuple[int, int, int], float] = field(default_factory=dict)
    matches: list[Match] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        new, step = root(self.numbers.covariance()), root(self.numbers.step_covariance())
        for member in self.members:
            before = member.predecessor
            start = [0.0] * COUNT if before is None else self.skills[before]
            drawn = self._vary(new if before is None else step)
            self.skills[member.version] = [a + b for a, b in zip(start, drawn, strict=True)]

    def _vary(self, widths: list[list[float]]) -> list[float]:
        plain = [self.rng.gauss(0, 1) for _ in range(COUNT)]
        return [sum(a * b for a, b in zip(row, plain, strict=True)) for row in widths]

    def effect(self, kind: int, one: int, other: int) -> float:
        """What a pair has beyond its skills; the other way round it is the opposite."""
        if one > other:
            return -self.effect(kind, other, one)
        key = kind, one, other
        if key not in self.effects:
            self.effects[key] = self.rng.gauss(0, self.numbers.pair[kind])
        return self.effects[key]

    def lead(self, kind: int, one: int, other: int) -> float:
        """By how much one is truly ahead of another."""
        gap = self.skills[one][kind] - self.skills[other][kind]
        return gap + self.effect(kind, one, other)

    def play(self, kind: int, versions: Sequence[int]) -> Match:
        """Play a match. At a table of two the pair's effect is exact, at others spread over it."""
        count = KINDS[kind].players
        unit = 12 * count * self.numbers.luck[kind]
        made = []
        for one in versions:
            effects = sum(self.effect(kind, one, other) for other in versions if other != one)
            made.append(self.skills[one][kind] + effects / count + self.rng.gauss(0, 1))
        match = Match(kind, tuple(versions), tuple(round(unit * score) for score in made))
        self.matches.append(match)
        return match

    def play_at_random(self, matches: int, kinds: Sequence[int] = range(COUNT)) -> "Drawn":
        versions = [member.version for member in self.members]
        for number in range(matches):
            kind = kinds[number % len(kinds)]
            self.play(kind, self.rng.sample(versions, KINDS[kind].players))
        return self
