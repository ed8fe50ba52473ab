"""Positions for the pages of the rules: games of our own bots, stopped half-way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from keltis_bots.greedy import choose
from keltis_engine import SPECTATORS, find_variant
from keltis_engine.rng import Rng

SEED: Final = 7
NAMES: Final = ("alder", "wren")
# Far enough for rows and figures to be on their way, in each game.
DECISIONS: Final = {"keltis": 70, "neue-wege": 70, "kartenspiel": 60, "weg-der-steine": 50}
FEW: Final = 60


@dataclass(frozen=True)
class Position:
    """What onlookers see of a game."""

    view: dict[str, Any]
    decisions: int
    names: tuple[str, ...] = NAMES


@cache
def position(variant: str) -> Position:
    """Return a position of a game, the same each time."""
    state = find_variant(variant).deal(len(NAMES), SEED)
    rng = Rng(SEED)
    decisions = 0
    while decisions < DECISIONS.get(variant, FEW) and not state.over:
        state.apply(choose(state, rng))
        decisions += 1
    return Position(dict(state.view(SPECTATORS)), decisions)
