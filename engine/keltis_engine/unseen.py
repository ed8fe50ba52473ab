"""Deal anew everything that a seat has not seen: the heart of ``determinize``.

The unseen cards are sorted before they are shuffled. So the result depends on what the seat has
seen and on the random numbers alone, and every arrangement is equally likely.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import append, vec
from mypy_extensions import i64, u8

from keltis_engine.hands import gain, give_up_hidden
from keltis_engine.rng import Rng

_CARD_NUMBERS: Final = 128


def redeal(
    hands: vec[i64], pile: vec[u8], left: vec[u8], removed: vec[u8], seat: i64, rng: Rng
) -> None:
    """Mix the other hands' hidden cards, the draw pile and the cards that left the game."""
    players = i64(len(left))
    unseen = vec[u8](capacity=i64(len(pile)) + i64(len(removed)) + 32)
    sizes = vec[u8]([0] * 4)
    for other in range(players):
        if other != seat:
            before = i64(len(unseen))
            unseen = give_up_hidden(hands, other, unseen)
            sizes[other] = u8(i64(len(unseen)) - before)
    unseen = collect_pile(unseen, pile, left)
    for card in removed:
        unseen = append(unseen, card)

    unseen = in_order(unseen)
    rng.shuffle(unseen)
    at: i64 = 0
    for other in range(players):
        for _ in range(i64(sizes[other])):
            gain(hands, other, i64(unseen[at]))
            at += 1
    at = refill_pile(unseen, at, pile, left)
    for k in range(i64(len(removed))):
        removed[k] = unseen[at]
        at += 1


def collect_pile(unseen: vec[u8], pile: vec[u8], left: vec[u8]) -> vec[u8]:
    """Return ``unseen`` and all cards still in the streams."""
    players = i64(len(left))
    for stream in range(players):
        for k in range(i64(left[stream])):
            unseen = append(unseen, pile[stream + k * players])
    return unseen


def refill_pile(unseen: vec[u8], at: i64, pile: vec[u8], left: vec[u8]) -> i64:
    """Put cards from ``unseen[at]`` on into the streams, and forget those that were drawn."""
    players = i64(len(left))
    for place in range(i64(len(pile))):
        pile[place] = 0
    for stream in range(players):
        for k in range(i64(left[stream])):
            pile[stream + k * players] = unseen[at]
            at += 1
    return at


def in_order(cards: vec[u8]) -> vec[u8]:
    """Return the cards sorted."""
    counts = vec[u8]([0] * _CARD_NUMBERS)
    for card in cards:
        counts[i64(card)] += 1
    result = vec[u8](capacity=i64(len(cards)))
    for number in range(i64(_CARD_NUMBERS)):
        for _ in range(i64(counts[number])):
            result = append(result, u8(number))
    return result
