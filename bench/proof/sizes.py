"""How much ``bench.ratings.coverage`` plays: for a test, by default, and in hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.proof.players import EVERYBODY, STYLES
from bench.proof.truth import Effort

HELD: Final = range(len(STYLES), len(EVERYBODY))


@dataclass(frozen=True)
class Size:
    """Fields, ladders and matches."""

    name: str
    fields: tuple[tuple[range, Effort], ...]  # of real bots; made-up ones are like the last
    ladders: int  # of each real field and way to make tables
    simulated: tuple[tuple[int, int], ...]  # bots of made-up fields, and ladders of each
    matches: tuple[int, ...]  # after which everybody is held against the truth
    attacked: int  # ladders for each attack
    attack_bots: int
    attack_matches: int


QUICK: Final = Size(
    "quick", ((HELD[:5], Effort(1, 4)), (range(8), Effort(1, 4))), 1, ((10, 1),), (30, 60), 1, 8, 60
)
USUAL: Final = Size(
    "default",
    ((HELD, Effort(16, 140)), (range(20), Effort(16, 140)), (range(50), Effort(6, 120))),
    2,
    ((50, 3), (200, 1)),
    (300, 1000, 3000),
    8,
    40,
    1500,
)
LONG: Final = Size(
    "long",
    ((HELD, Effort(80, 800)), (range(20), Effort(80, 800)), (range(50), Effort(24, 600))),
    10,
    ((20, 16), (50, 16), (200, 8)),
    (100, 300, 1000, 3000),
    40,
    40,
    3000,
)
