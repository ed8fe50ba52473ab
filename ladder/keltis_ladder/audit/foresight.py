"""Foresight: how well decisions fit the cards that nobody could know yet.

At each decision of a bot we play every candidate to the end several times: with the draw pile as
it lies, and with its cards shuffled. Who knows nothing of the pile finds the best action as often
for the one as for the others. This says far more than the result of a game, in which luck drowns a
few better decisions. It is only a score: what makes the test fair is that later games are compared
with the first one of the same deal (``rotations``), which knowledge cannot have reached.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from librt.vecs import vec
from mypy_extensions import u8

from keltis_bots.search_playouts import advised, worth_of
from keltis_engine import Ruleset, State
from keltis_ladder.audit.evidence import UNIT

SHUFFLED: Final = 3  # piles that the true one is compared with
CANDIDATES: Final = 6  # the most appealing actions, and the one that was chosen
SPREAD: Final = 7  # hits by which the foresight of an honest game usually varies


def foresight(
    ruleset: Ruleset, players: int, seed: int, actions: Sequence[int], seats: Sequence[int]
) -> dict[int, int]:
    """Return the foresight of seats in a game, in thousandths of a usual spread."""
    state = ruleset.deal(players, seed)
    chance = random.Random(f"{seed}/{len(actions)}")
    hits = dict.fromkeys(seats, 0)
    for action in actions:
        seat = int(state.seat)
        if seat in hits and len(state.legal_actions()) > 1:
            hits[seat] += _excess(state, action, chance)
        state.apply(action)
    share = (SHUFFLED + 1) * SPREAD
    return {seat: found * UNIT // share for seat, found in hits.items()}


def _excess(state: State, action: int, chance: random.Random) -> int:
    """Return how much more often an action is best for the true pile, times all piles."""
    candidates = advised(state, CANDIDATES)
    if action not in candidates:
        candidates.append(action)
    chosen = candidates.index(action)
    best = []
    for pile in range(SHUFFLED + 1):
        worth = worth_of(state if pile == 0 else shuffled(state, chance), candidates)
        best.append(int(worth[chosen] == max(worth)))
    return len(best) * best[0] - sum(best)


def shuffled(state: State, chance: random.Random) -> State:
    """Return a copy of which the face-down pile lies in another order."""
    copy = state.copy()
    holder: Any = getattr(copy, "table", copy)  # the tile game has no table of cards
    players = len(holder.left)
    places = [
        stream + k * players for stream in range(players) for k in range(int(holder.left[stream]))
    ]
    pile = [int(card) for card in holder.pile]
    cards = [pile[place] for place in places]
    chance.shuffle(cards)
    for place, card in zip(places, cards, strict=True):
        pile[place] = card
    holder.pile = vec[u8]([u8(card) for card in pile])
    return copy
