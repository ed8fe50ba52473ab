"""Ladders whose truth is known, and matchmakers to run them, for ``bench.matchmaking.policies``."""

from __future__ import annotations

import random
import statistics
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from keltis_ladder.match.orders import Order
from keltis_ladder.matchmaking import Category, Contender, Matchmaker, Policy, category_of
from keltis_ladder.matchmaking.kind_shares import CategoryShares
from keltis_ladder.ratings.model import MU, PRIOR, SIGMA, TAU, noise_of
from keltis_ladder.ratings.scopes import ANY, OVERALL, Scope
from keltis_ladder.ratings.skill import Belief, rate

SEED: Final = 2026
BOTS: Final = 50
DEVIATION: Final = SIGMA / 6  # of a bot's skill in a variant from its skill overall
REFEREES: Final = 8

OURS: Final = "ours"
BUSY: Final = f"ours, {REFEREES} referees"
NEAREST: Final = "nearest ratings"
RANDOM: Final = "random tables"


@dataclass(frozen=True)
class Setting:
    """A kind of ladder."""

    name: str
    policy: Policy
    deviation: float


SETTINGS: Final = [
    Setting("one variant, two players", Policy(variants={"keltis": 1.0}, players={2: 1.0}), 0.0),
    Setting("four variants, two to four players", Policy(), DEVIATION),
]


@dataclass
class World:
    """The bots, how good they really are, and what their ratings say."""

    skills: list[dict[str, float]]  # by bot, then by variant
    chance: random.Random
    beliefs: defaultdict[Scope, dict[int, Belief]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def truth(self) -> list[float]:
        """Return the skills overall."""
        return [statistics.fmean(skills.values()) for skills in self.skills]

    def rating(self, bot: int, scope: Scope = OVERALL) -> Belief:
        """Return what is believed of a bot."""
        return self.beliefs[scope].get(bot, PRIOR)

    def play(self, category: Category, bots: Sequence[int], scopes: Sequence[Scope]) -> None:
        """Play a match, and rate it in these scopes."""
        noise = noise_of(category.variant, category.players)
        shown = [
            self.skills[bot][category.variant] + self.chance.gauss(0.0, noise.beta) for bot in bots
        ]
        ranks = ranks_of(shown, noise.margin)
        for scope in scopes:
            after = rate([self.rating(bot, scope) for bot in bots], ranks, noise, TAU)
            self.beliefs[scope].update(zip(bots, after, strict=True))


def make_world(setting: Setting, number: int, bots: int = BOTS) -> World:
    """Make a ladder's bots; the same for every matchmaker."""
    chance = random.Random(f"{SEED}/{setting.name}/{number}")
    skills = []
    for _ in range(bots):
        skill = chance.gauss(MU, SIGMA)
        skills.append(
            {
                variant: skill + chance.gauss(0.0, setting.deviation)
                for variant in setting.policy.variants
            }
        )
    return World(skills, chance)


def ranks_of(shown: Sequence[float], margin: float) -> list[int]:
    """Return the ranks of performances; neighbours closer than the margin draw."""
    order = sorted(range(len(shown)), key=lambda k: -shown[k])
    ranks = [1] * len(shown)
    for place in range(1, len(order)):
        better, worse = order[place - 1], order[place]
        drawn = shown[better] - shown[worse] <= margin
        ranks[worse] = ranks[better] if drawn else place + 1
    return ranks


def kendall(ratings: Sequence[float], truth: Sequence[float]) -> float:
    """Return how far two orders agree: 1 if in all pairs, -1 if in none."""
    worse: list[float] = []
    balance = 0
    for k in sorted(range(len(truth)), key=truth.__getitem__):
        balance += bisect_left(worse, ratings[k]) - (len(worse) - bisect_right(worse, ratings[k]))
        insort(worse, ratings[k])
    return balance / (len(truth) * (len(truth) - 1) / 2)


class Ours:
    """The matchmaker of the ladder. With more referees, results come in that many matches later."""

    def __init__(
        self, setting: Setting, world: World, number: int, referees: int = 1, bots: int = BOTS
    ) -> None:
        self.world = world
        self.referees = referees
        self.policy = setting.policy
        self.maker = Matchmaker(setting.policy, seed=number)
        self.tables: list[Order] = []
        for bot in range(bots):
            self.enter(bot)

    def enter(self, bot: int) -> None:
        """Let a bot in, as an author's only one."""
        variants, players = tuple(self.policy.variants), tuple(self.policy.players)
        self.maker.enter(Contender(bot, bot, bot, False, variants, players), {})

    def step(self) -> Order:
        """Propose a match, and finish the oldest one if all referees are at work."""
        proposal = self.maker.propose()
        assert proposal is not None
        self.tables.append(proposal)
        if len(self.maker.running) == self.referees:
            oldest = self.maker.running[0]
            scopes = (Scope(oldest.variant, ANY), OVERALL)
            self.world.play(category_of(oldest), oldest.versions, scopes)
            rated = {
                bot: {scope: self.world.rating(bot, scope) for scope in scopes}
                for bot in oldest.versions
            }
            self.maker.finished(oldest, rated)
        return proposal


class Plain:
    """Keeps to the shares of the categories, and chooses tables in a simple way."""

    def __init__(self, setting: Setting, world: World, number: int, nearest: bool) -> None:
        self.world = world
        self.nearest = nearest
        self.chance = random.Random(number)
        self.shares = CategoryShares()
        self.shares.change(setting.policy.shares(setting.policy.categories()))
        self.bots = list(range(BOTS))
        self.tables: list[Order] = []

    def enter(self, bot: int) -> None:
        """Let a bot in."""
        self.bots.append(bot)

    def step(self) -> Order:
        """Play one match."""
        category = self.shares.lagging()[0]
        self.shares.take(category)
        table = self.chance.sample(self.bots, category.players)
        if self.nearest:
            focus = table[0]
            others = [bot for bot in self.bots if bot != focus]
            self.chance.shuffle(others)  # those with the same rating come in any order
            own = self.world.rating(focus).mu
            others.sort(key=lambda bot: abs(self.world.rating(bot).mu - own))
            table[1:] = others[: category.players - 1]
        self.world.play(category, table, (OVERALL,))
        self.tables.append(Order(category.variant, tuple(table)))
        return self.tables[-1]


Driver = Ours | Plain


def make_driver(kind: str, setting: Setting, world: World, number: int) -> Driver:
    """Return the matchmaker of this name."""
    if kind in (RANDOM, NEAREST):
        return Plain(setting, world, number, nearest=kind == NEAREST)
    return Ours(setting, world, number, REFEREES if kind == BUSY else 1)
