"""A ladder of bots whose skills are known: they perform as the model says they do.

``python -m tests.ladder.ratings.support.simulated`` makes the calibration table of
docs/readers/ratings.md.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from keltis_ladder.ratings.model import MU, SIGMA, SUCCESSION, TAU, noise_of, start_of
from keltis_ladder.ratings.refit import Played, refit
from keltis_ladder.ratings.skill import Belief, rate

VARIANT = "keltis"
NEIGHBOURS = 10


@dataclass
class Ladder:
    """Skills, live ratings and matches so far."""

    seed: int
    tau: float = TAU
    skills: dict[int, float] = field(default_factory=dict)
    predecessors: dict[int, int | None] = field(default_factory=dict)
    live: dict[int, Belief] = field(default_factory=dict)
    played: list[Played] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def add(self, predecessor: int | None = None) -> int:
        """Let a bot arrive, or its next version."""
        version = len(self.skills)
        if predecessor is None:
            self.skills[version] = self.rng.gauss(MU, SIGMA)
            self.live[version] = start_of(None)
        else:
            self.skills[version] = self.rng.gauss(self.skills[predecessor], SUCCESSION)
            self.live[version] = start_of(self.live[predecessor])
        self.predecessors[version] = predecessor
        return version

    def pair(self, among: Sequence[int], players: int = 2) -> list[int]:
        """Choose entrants: nine times in ten those who are rated alike."""
        one = self.rng.choice(among)
        others = [version for version in among if version != one]
        if self.rng.random() < 0.9:
            others.sort(key=lambda version: abs(self.live[version].mu - self.live[one].mu))
            del others[max(NEIGHBOURS, players - 1) :]
        return [one, *self.rng.sample(others, players - 1)]

    def play(self, versions: Sequence[int]) -> None:
        """Play a match and rate it."""
        noise = noise_of(VARIANT, len(versions))
        performed = [self.rng.gauss(self.skills[version], noise.beta) for version in versions]
        order = sorted(range(len(versions)), key=lambda k: -performed[k])
        ranks = [1] * len(versions)
        for place in range(1, len(order)):
            close = performed[order[place - 1]] - performed[order[place]] <= noise.margin
            ranks[order[place]] = ranks[order[place - 1]] if close else place + 1
        match = f"{len(self.played):06}"
        self.played.append(Played(match, tuple(versions), tuple(ranks), VARIANT, len(versions)))
        after = rate([self.live[version] for version in versions], ranks, noise, self.tau)
        self.live.update(zip(versions, after, strict=True))


def grow(seed: int, versions: int, matches: int, players: Sequence[int], tau: float) -> Ladder:
    """Let versions arrive one by one, every third as the successor of one that then retires."""
    ladder = Ladder(seed, tau)
    active = [ladder.add() for _ in range(4)]
    for number in range(matches):
        if len(ladder.skills) < versions and number % (matches // (2 * versions)) == 0:
            if len(ladder.skills) % 3:
                active.append(ladder.add())
            else:
                old = active.pop(ladder.rng.randrange(len(active)))
                active.append(ladder.add(old))
        ladder.play(ladder.pair(active, ladder.rng.choice(players)))
    return ladder


def errors(beliefs: dict[int, Belief], skills: dict[int, float]) -> dict[int, float]:
    """How far the means are off, but for what they have in common: the scale has no zero."""
    found = {version: beliefs[version].mu - skill for version, skill in skills.items()}
    shift = math.fsum(found.values()) / len(found)
    return {version: error - shift for version, error in found.items()}


def covered(beliefs: dict[int, Belief], skills: dict[int, float]) -> float:
    """The share of skills that lie in their 95 % intervals."""
    off = errors(beliefs, skills)
    inside = sum(abs(error) <= 1.96 * beliefs[version].sigma for version, error in off.items())
    return inside / len(off)


def covered_gaps(beliefs: dict[int, Belief], skills: dict[int, float]) -> float:
    """The share of neighbours in the rating whose difference lies in its 95 % interval."""
    order = sorted(skills, key=lambda version: beliefs[version].mu)
    inside = 0
    for one, other in pairwise(order):
        gap = beliefs[other].mu - beliefs[one].mu - (skills[other] - skills[one])
        inside += abs(gap) <= 1.96 * math.hypot(beliefs[one].sigma, beliefs[other].sigma)
    return inside / (len(order) - 1)


def mean_square(values: Sequence[float]) -> float:
    return math.fsum(value * value for value in values) / len(values)


def rank_correlation(one: dict[int, float], other: dict[int, float]) -> float:
    """Spearman's: 1 if both put the versions in the same order."""
    places = {version: place for place, version in enumerate(sorted(one, key=one.__getitem__))}
    squares = sum(
        (places[version] - place) ** 2
        for place, version in enumerate(sorted(other, key=other.__getitem__))
    )
    return 1 - 6 * squares / (len(one) * (len(one) ** 2 - 1))


def calibration(versions: int, matches: int, players: Sequence[int], seeds: int) -> list[str]:
    """Lines of a table: how exact and how honest ratings are, by drift, and the refit's."""
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(seeds):
        for tau in (0.0, SIGMA / 400, SIGMA / 200, SIGMA / 100, SIGMA / 50):
            ladder = grow(seed, versions, matches, players, tau)
            rows.setdefault(f"live, tau {tau:.3f}", []).append(_judge(ladder.live, ladder.skills))
            if tau == TAU:
                found = refit(ladder.played, ladder.predecessors)
                rows.setdefault("refit", []).append(_judge(found.beliefs, ladder.skills))
    lines = []
    for name, judged in rows.items():
        off, near, far = (math.fsum(column) / seeds for column in zip(*judged, strict=True))
        cells = [f"{versions}", f"{matches}", "/".join(map(str, players)), name]
        lines.append(f"| {' | '.join([*cells, f'{off:.2f}', f'{near:.1%}', f'{far:.1%}'])} |")
    return lines


def _judge(beliefs: dict[int, Belief], skills: dict[int, float]) -> tuple[float, float, float]:
    off = math.sqrt(mean_square(list(errors(beliefs, skills).values())))
    return off, covered_gaps(beliefs, skills), covered(beliefs, skills)


if __name__ == "__main__":
    print("| versions | matches | players | rating | error | gaps covered | skills covered |")
    print("|---" * 7 + "|")
    for size in ((60, 2000), (150, 10_000), (150, 30_000)):
        for seats in ((2,), (4,)):
            print("\n".join(calibration(*size, seats, seeds=6)), flush=True)
