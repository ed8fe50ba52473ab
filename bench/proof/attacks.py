"""Attacks: bots that want a higher rating than they deserve, and what they gain.

Each ladder is run twice with the same bots and seeds, once with an honest bot of the middle of the
field, and once with the same bot cheating. Those who help it are of other authors as far as the
ladder knows: bots of one author never meet.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.proof.bank import Outcome
from bench.proof.boards import joint_fit
from bench.proof.ladders import OwnLadder
from bench.proof.simulated import Made, SimulatedWorld, outcome_of_games
from bench.proof.truth import overall_lead
from keltis_ladder.ratings.joint.kinds import PLAYERS, kind_number, scope_weights
from keltis_ladder.ratings.joint.numbers import NUMBERS
from keltis_ladder.ratings.joint.standings import rating, standing
from keltis_ladder.ratings.scopes import OVERALL

HONEST: Final = "honest"
THROWN: Final = 6.0  # luck by which a bot that wants to lose plays below itself: as at random
FED: Final = 1.0  # luck that a helper can slip to another at a table of three or four
EARLY: Final = 4  # one match in so many, the first ones, is lost on purpose
HOPELESS: Final = 2.0  # luck behind the best at which somebody leaves

Games = list[list[float]]


@dataclass(frozen=True)
class Table:
    """A match as an attacker sees it; by entrant, or None who does not sit there."""

    kind: int
    bots: Sequence[int]
    attacker: int | None
    helpers: Sequence[int]
    share: float  # of the ladder's matches that are over


def honest(table: Table, games: Games) -> None:
    """Change nothing."""


def weak_friend(table: Table, games: Games) -> None:
    """Let helpers lose to the attacker as high as they can."""
    if table.attacker is not None:
        for game in games:
            for helper in table.helpers:
                game[helper] -= THROWN


def lose_early(table: Table, games: Games) -> None:
    """Lose the first matches on purpose, to be paired with weak opponents."""
    if table.attacker is not None and table.share < 1 / EARLY:
        for game in games:
            game[table.attacker] -= THROWN


def drop_out(table: Table, games: Games) -> None:
    """Leave hopeless games, at the price that the joint rating has for it."""
    _leave(table, games, NUMBERS.forfeit[table.kind // len(PLAYERS)])


def drop_out_cheaply(table: Table, games: Games) -> None:
    """Leave hopeless games for a point less than the last, as ranks have it."""
    _leave(table, games, 1)


def _leave(table: Table, games: Games, points: int) -> None:
    if table.attacker is None:
        return
    for game in games:
        others = [score for entrant, score in enumerate(game) if entrant != table.attacker]
        if game[table.attacker] < max(others) - HOPELESS:
            game[table.attacker] = min(others) - points / NUMBERS.luck[table.kind]


def feed(table: Table, games: Games) -> None:
    """Let helpers slip points to the attacker at tables of three and four."""
    if table.attacker is not None and len(table.bots) > PLAYERS[0]:
        for game in games:
            for helper in table.helpers:
                game[table.attacker] += FED
                game[helper] -= 2 * FED


@dataclass(frozen=True)
class Attack:
    """What somebody tries."""

    change: Callable[[Table, Games], None]
    helpers: int = 0
    chooses: bool = False  # is away whenever it would meet somebody whose style it does not like


ATTACKS: Final[dict[str, Attack]] = {
    HONEST: Attack(honest),
    "a friend loses on purpose": Attack(weak_friend, helpers=1),
    "three friends lose on purpose": Attack(weak_friend, helpers=3),
    "loses its first matches on purpose": Attack(lose_early),
    "drops out of lost games": Attack(drop_out),
    "the same, if it cost only a point": Attack(drop_out_cheaply),
    "is fed points by a friend": Attack(feed, helpers=1),
    "is fed points by three friends": Attack(feed, helpers=3),
    "is away when it dislikes a table": Attack(honest, chooses=True),
}


@dataclass(frozen=True)
class Ending:
    """Where the attacker stands at the end, above where it should."""

    attack: str
    seed: int
    joint: float
    live: float
    places: int  # of the joint rating
    sigma: float  # what the joint rating claims


def attack(name: str, bots: Sequence[Made], matches: int, seed: int) -> Ending:
    """Run a ladder with an attacker."""
    plan, world = ATTACKS[name], SimulatedWorld(f"attacked {seed}", bots)
    true = [overall_lead(world.truth, bot)[0] for bot in range(world.size)]
    order = sorted(range(world.size), key=lambda bot: -true[bot])
    middle = world.size // 2
    attacker = order[middle]
    helpers = order[middle + 1 : middle + 1 + plan.helpers]
    ladder, chance = OwnLadder(seed), random.Random(f"attack/{seed}")
    for bot in range(world.size):
        ladder.enter(bot)
    while len(ladder.outcomes) < matches:
        proposal = ladder.propose()
        bots_there = proposal.versions
        seat = bots_there.index(attacker) if attacker in bots_there else None
        kind = kind_number(proposal.variant, proposal.players)
        if plan.chooses and seat is not None and _dislikes(world, kind, attacker, bots_there):
            ladder.maker.abandoned(proposal)
            continue
        games = world.games(kind, bots_there, chance)
        there = [bots_there.index(helper) for helper in helpers if helper in bots_there]
        plan.change(Table(kind, bots_there, seat, there, len(ladder.outcomes) / matches), games)
        ladder.finish(proposal, outcome_of_games(kind, bots_there, games))
    return _ending(name, seed, attacker, true, ladder)


def _dislikes(world: SimulatedWorld, kind: int, attacker: int, bots: Sequence[int]) -> bool:
    variant = kind // len(PLAYERS)
    return sum(world.between(variant, attacker, bot) for bot in bots if bot != attacker) < 0


def _ending(
    name: str, seed: int, attacker: int, true: Sequence[float], ladder: OwnLadder
) -> Ending:
    size, scope = len(true), scope_weights(OVERALL)
    outcomes: Sequence[Outcome] = ladder.outcomes
    fit = joint_fit(size, outcomes)
    shown = standing(fit, attacker, scope)
    assert shown is not None
    ratings = [rating(fit, bot, scope) or 0.0 for bot in range(size)]
    live = [ladder.book.standing(bot, OVERALL).belief.mu for bot in range(size)]
    return Ending(
        name,
        seed,
        ratings[attacker] - sum(ratings) / size - true[attacker],
        live[attacker] - sum(live) / size - true[attacker],
        sum(other > true[attacker] for other in true)
        - sum(other > ratings[attacker] for other in ratings),
        shown.sigma,
    )


@dataclass(frozen=True)
class Gain:
    """What an attack gains over being honest, and its standard error, in rating points."""

    attack: str
    joint: tuple[float, float]
    live: tuple[float, float]
    places: tuple[float, float]
    sigma: float


def gains_of(endings: Sequence[Ending]) -> list[Gain]:
    """Hold every attack against honest runs of the same ladders."""
    honest_ones = {each.seed: each for each in endings if each.attack == HONEST}
    found = []
    for name in ATTACKS:
        if name == HONEST:
            continue
        pairs = [(each, honest_ones[each.seed]) for each in endings if each.attack == name]
        found.append(
            Gain(
                name,
                _mean([a.joint - b.joint for a, b in pairs]),
                _mean([a.live - b.live for a, b in pairs]),
                _mean([float(a.places - b.places) for a, b in pairs]),
                math.fsum(b.sigma for _, b in pairs) / len(pairs),
            )
        )
    return found


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    count = len(values)
    mean = math.fsum(values) / count
    spread = math.fsum((value - mean) ** 2 for value in values)
    return mean, math.sqrt(spread / max(1, count - 1) / count)
