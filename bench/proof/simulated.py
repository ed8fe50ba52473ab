"""Made-up bots with the measured skills, luck and interplay of the real ones.

A bot is a mixture of two real ones, which keeps means and covariances of everything that was
measured. Interplay is *style*: by variant, the plane that most of what pairs have beyond skills
lies in. At a table everybody gains by its style from each other, shared by the number of players;
so the company at the table matters, as it does in the real games.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench.proof.bank import Outcome
from bench.proof.ladders import run
from bench.proof.truth import KindTruth, Matrix, Truth, field_mean
from bench.proof.worlds import same
from keltis_ladder.match.results import rank_by
from keltis_ladder.match.rotation import seat_of
from keltis_ladder.ratings.joint.kinds import KINDS, PLAYERS, VARIANTS, kind_number
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.scores import TWELFTHS
from keltis_ladder.ratings.normal import cdf

ROUNDS: Final = 200  # of the power method
CLONES: Final = 8  # one bot in so many is a copy of the one before it


@dataclass(frozen=True)
class Made:
    """A made-up bot."""

    skills: tuple[float, ...]  # by kind, in luck
    styles: tuple[tuple[float, float], ...]  # by variant: a point of the plane


def interplay(truth: KindTruth) -> list[tuple[float, float]]:
    """Return each bot's place in the plane that explains most of what pairs have beyond skills.

    What two have between them is the cross product of their places.
    """
    size = len(truth.leads)
    level = [sum(row) / size for row in truth.leads]
    beyond = [
        [0.0 if i == j else truth.leads[i][j] - level[i] + level[j] for j in range(size)]
        for i in range(size)
    ]
    chance = random.Random(size)
    one = [chance.gauss(0.0, 1.0) for _ in range(size)]
    other = one
    strength = 0.0
    for _ in range(ROUNDS):
        other = _unit(_times(beyond, one))
        one = [-value for value in _times(beyond, other)]
        strength = math.sqrt(math.fsum(value * value for value in one))
        one = _unit(one)
    # Luck alone gives such a matrix planes of about this strength.
    noise = 2.0 * math.sqrt(2.0 * (size - 1) / truth.seats * size)
    # Squares of singular values add up; both coordinates take the root of what is left.
    scale = max(0.0, strength * strength - noise * noise) ** 0.25
    return [(scale * x, scale * y) for x, y in zip(other, one, strict=True)]


def _times(matrix: Matrix, values: Sequence[float]) -> list[float]:
    return [math.fsum(a * b for a, b in zip(row, values, strict=True)) for row in matrix]


def _unit(values: Sequence[float]) -> list[float]:
    length = math.sqrt(math.fsum(value * value for value in values))
    return [value / length for value in values]


def real_ones(truth: Truth) -> list[Made]:
    """Return the real bots as they were measured."""
    size = len(truth[0].leads)
    planes = [interplay(truth[kind_number(variant, PLAYERS[0])]) for variant in VARIANTS]
    return [
        Made(
            tuple(truth[kind].lead(bot) for kind in range(len(KINDS))),
            tuple(plane[bot] for plane in planes),
        )
        for bot in range(size)
    ]


def mixed(bots: Sequence[Made], count: int, seed: int) -> list[Made]:
    """Return new bots like these, and clones among them."""
    chance = random.Random(seed)
    centre = [sum(bot.skills[k] for bot in bots) / len(bots) for k in range(len(KINDS))]
    made: list[Made] = []
    while len(made) < count:
        if len(made) % CLONES == CLONES - 1:
            made.append(made[-1])
            continue
        one, other = chance.sample(bots, 2)
        angle = chance.uniform(0.0, math.pi / 2)
        left, right = math.cos(angle), math.sin(angle)
        made.append(
            Made(
                tuple(
                    mid + left * (a - mid) + right * (b - mid)
                    for mid, a, b in zip(centre, one.skills, other.skills, strict=True)
                ),
                tuple(
                    (left * a[0] + right * b[0], left * a[1] + right * b[1])
                    for a, b in zip(one.styles, other.styles, strict=True)
                ),
            )
        )
    return made


class SimulatedWorld:
    """Made-up bots; ``strength`` is how many times as strong their interplay is as was measured."""

    def __init__(self, name: str, bots: Sequence[Made], strength: float = 1.0) -> None:
        self.name = name
        self.bots = bots
        self.strength = strength
        self.truth: Truth = {kind: self._truth(kind) for kind in range(len(KINDS))}

    @property
    def size(self) -> int:
        """How many bots there are."""
        return len(self.bots)

    def clones(self) -> list[tuple[int, int]]:
        """Return pairs of the same skills and style."""
        return same([repr(bot) for bot in self.bots])

    def between(self, variant: int, one: int, other: int) -> float:
        """Return what one gains by its style from another when two play, in luck."""
        a, b = self.bots[one].styles[variant], self.bots[other].styles[variant]
        return self.strength * (a[0] * b[1] - a[1] * b[0])

    def _truth(self, kind: int) -> KindTruth:
        variant, players = kind // len(PLAYERS), KINDS[kind].players
        count = range(len(self.bots))
        skill = [bot.skills[kind] for bot in self.bots]
        own = [[self.between(variant, i, j) for j in count] for i in count]
        company = [field_mean(row, place) * (players - 2) for place, row in enumerate(own)]
        leads = [
            [
                0.0
                if i == j
                else skill[i] - skill[j] + (2 * own[i][j] + company[i] - company[j]) / players
                for j in count
            ]
            for i in count
        ]
        game = 1.0 / math.sqrt(2.0 * (players + _seat_luck(kind) ** 2))
        shares = [[cdf(game * lead) for lead in row] for row in leads]
        firsts = [[cdf(lead / math.sqrt(2.0)) for lead in row] for row in leads]
        return KindTruth(leads, shares, firsts, 0.0, players)

    def ladder(self, tables: str, matches: int, seed: int) -> list[Outcome]:
        """Draw the matches of a ladder."""
        chance = random.Random(f"{self.name}/{seed}")
        return run(
            tables,
            self.size,
            matches,
            seed,
            lambda variant, bots, number: self.draw(variant, bots, chance),
        )

    def draw(self, variant: str, bots: Sequence[int], chance: random.Random) -> Outcome:
        """Draw a match."""
        kind = kind_number(variant, len(bots))
        return outcome_of_games(kind, bots, self.games(kind, bots, chance))

    def games(self, kind: int, bots: Sequence[int], chance: random.Random) -> list[list[float]]:
        """Draw the games of a match: what each entrant makes of them, in luck."""
        players, place = len(bots), kind // len(PLAYERS)
        seat_luck, game_luck = _seat_luck(kind), math.sqrt(players)
        seats = [chance.gauss(0.0, seat_luck) for _ in bots]
        level = [
            self.bots[bot].skills[kind]
            + sum(self.between(place, bot, other) for other in bots if other != bot) / players
            for bot in bots
        ]
        return [
            [
                level[entrant]
                + seats[seat_of(entrant, rotation, players)]
                + chance.gauss(0.0, game_luck)
                for entrant in range(players)
            ]
            for rotation in range(players)
        ]


def _seat_luck(kind: int) -> float:
    """Return the luck of a seat's cards, which rotations even out, in luck of a match.

    It is what makes single games less certain than the match that they belong to.
    """
    return math.sqrt(max(0.0, 0.5 / NUMBERS.slope[kind] ** 2 - KINDS[kind].players))


def outcome_of_games(kind: int, bots: Sequence[int], games: Sequence[Sequence[float]]) -> Outcome:
    """Return a match of which everybody's score in each game is given, the won game included."""
    players = range(len(bots))
    wins = [sum(game[entrant] == max(game) for game in games) for entrant in players]
    scores = [
        round(TWELFTHS * NUMBERS.luck[kind] * math.fsum(game[entrant] for game in games))
        for entrant in players
    ]
    win = TWELFTHS * NUMBERS.win[kind // len(PLAYERS)]
    points = [score - win * won for score, won in zip(scores, wins, strict=True)]
    ahead = tuple(
        tuple(float(sum(game[one] > game[other] for game in games)) for other in players)
        for one in players
    )
    ranks = rank_by(list(zip(wins, points, strict=True)))
    return Outcome(KINDS[kind].variant, tuple(bots), tuple(ranks), tuple(scores), ahead)
