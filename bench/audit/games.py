"""Matches for the benchmark of the audit: honest players, and one that knows the hidden cards."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from keltis_bots.greedy import choose
from keltis_bots.search_playouts import advised, worth_of
from keltis_engine import Rng, Ruleset, State
from keltis_engine.play.policies import eager
from keltis_ladder.audit.foresight import CANDIDATES, foresight

MISTAKES: Final = 10  # one decision in so many is random, for the opponents
DRAWS: Final = ("draw", "reveal")


@dataclass(frozen=True)
class Sample:
    """A match of two: what one of them had in the game of each seat."""

    leads: tuple[int, int]
    wins: tuple[float, float]
    foresights: tuple[int, int]  # in thousandths, as the audit has them


# Players of very different strength and style: mistakes, one decision in so many, and whether
# the others are those of the eager policy instead of the greedy one.
STYLES: Final = ((0, False), (20, False), (8, False), (4, False), (0, True), (6, True))


def play_styles(ruleset: Ruleset, seed: int, seated: Sequence[int]) -> tuple[int, ...]:
    """Play one game of players from ``STYLES``; return the scores by seat."""
    state = ruleset.deal(len(seated), seed)
    chance = random.Random(f"{seed}/{seated}")
    rng = Rng(chance.getrandbits(63))
    while not state.over:
        mistakes, is_eager = STYLES[seated[int(state.seat)]]
        if mistakes and chance.randrange(mistakes) == 0:
            action = chance.choice(state.legal_actions())
        else:
            action = eager(state, rng) if is_eager else choose(state, rng)
        state.apply(action)
    return tuple(int(score) for score in state.scores())


def knowing(state: State) -> int:
    """Return what somebody plays who sees all cards and expects everybody to be greedy."""
    candidates = advised(state, CANDIDATES)
    worth = worth_of(state, candidates)
    return candidates[worth.index(max(worth))]


def knows_now(state: State, only_draws: bool) -> bool:
    """Say whether a decision is one that the cheater uses its knowledge for."""
    legal = state.legal_actions()
    return len(legal) > 1 and (
        not only_draws or any(state.notation[action] in DRAWS for action in legal)
    )


def play(
    ruleset: Ruleset, seed: int, hero: int, cheats: bool, only_draws: bool, chance: random.Random
) -> tuple[list[int], list[int]]:
    """Play one game of two; return its decisions and scores. Others than the hero err at times."""
    state = ruleset.deal(2, seed)
    rng = Rng(chance.getrandbits(63))
    actions = []
    while not state.over:
        seat = int(state.seat)
        if seat != hero and chance.randrange(MISTAKES) == 0:
            action = chance.choice(state.legal_actions())
        elif seat == hero and cheats and knows_now(state, only_draws):
            action = knowing(state)
        else:
            action = choose(state, rng)
        actions.append(action)
        state.apply(action)
    return actions, [int(score) for score in state.scores()]


def sample(
    ruleset: Ruleset, seed: int, cheats: bool, only_draws: bool = False, look: bool = True
) -> Sample:
    """Play a match; the hero cheats in the game of the second entry if it cheats at all.

    Which seat that is, a coin says. ``look`` is whether its decisions are looked at, too.
    """
    chance = random.Random(f"{seed}/{cheats}/{only_draws}")
    first = chance.randrange(2)
    leads, wins, found = [], [], []
    for game, hero in enumerate((first, 1 - first)):
        knows = cheats and game == 1
        actions, scores = play(ruleset, seed, hero, knows, only_draws, chance)
        lead = scores[hero] - scores[1 - hero]
        leads.append(lead)
        wins.append(1.0 if lead > 0 else 0.5 if lead == 0 else 0.0)
        found.append(foresight(ruleset, 2, seed, actions, [hero])[hero] if look else 0)
    return Sample((leads[0], leads[1]), (wins[0], wins[1]), (found[0], found[1]))
