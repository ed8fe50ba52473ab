"""Later games against the first one of the same deal.

The order of the entrants is drawn at random for each match of the ladder. So which of the games
of a deal comes first is random, too: each is equally likely, whatever seats are worth, however
lucky the deal is for each of them and of who the others are. A bot that does better in the later
ones, again and again, has learnt something in the first.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from keltis_ladder.audit.evidence import UNIT, Contrast
from keltis_ladder.match.rotation import seat_of

# Points by which the lead of a game usually varies: a measure, on which validity does not depend.
SPREADS: Final = {"keltis": 14, "neue-wege": 14, "kartenspiel": 14, "weg-der-steine": 10}
USUAL: Final = 14


def by_lot(versions: Sequence[int], match: str) -> tuple[int, ...]:
    """Return the entrants of a match in an order drawn by its id, which is random itself."""
    order = list(versions)
    random.Random(match).shuffle(order)
    return tuple(order)


def margins(variant: str, games: Sequence[Sequence[int]], position: int) -> list[int]:
    """Return by how much an entrant was ahead of the mean of the others, game by game.

    ``games`` has the scores by seat, the game that was played first at the beginning.
    """
    players = len(games)
    unit = SPREADS.get(variant, USUAL) * (players - 1)
    result = []
    for rotation, scores in enumerate(games):
        own = scores[seat_of(position, rotation, players)]
        result.append((players * own - sum(scores)) * UNIT // unit)
    return result


def contrast(values: Sequence[int]) -> Contrast:
    """Return how much better the later values are than the first, in the mean.

    Had another game been the first, it would be another number; these have the mean zero and lie
    in a known range, so that by Hoeffding's lemma the bets of ``evidence`` are fair. Rounding
    favours the bot.
    """
    others = len(values) - 1
    total = sum(values) - len(values) * values[0]
    width = len(values) * (max(values) - min(values))
    return Contrast(total // others, -(-width * width // (4 * others * others)))
