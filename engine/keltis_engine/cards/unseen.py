"""Deal anew everything that a seat has not seen: the tools of ``determinize``.

The unseen cards are sorted before they are shuffled. So the result depends on what the seat has
seen and on the random numbers alone, and every arrangement is equally likely.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import i64, u8

_CARD_NUMBERS: Final = 128
_NONE: Final = vec[u8]([0] * _CARD_NUMBERS)  # a slice of it is the fastest new vector


def no_counts() -> vec[u8]:
    """Return a zero for each card number."""
    return _NONE[:]


def no_cards(places: i64) -> vec[u8]:
    """Return so many empty places."""
    return _NONE[:places]


def count_pile(counts: vec[u8], pile: vec[u8], left: vec[u8]) -> None:
    """Count all cards still in the streams."""
    players = i64(len(left))
    for stream in range(players):
        for k in range(i64(left[stream])):
            counts[i64(pile[stream + k * players])] += 1


def refill_pile(unseen: vec[u8], at: i64, pile: vec[u8], left: vec[u8]) -> i64:
    """Put cards from ``unseen[at]`` on into the streams."""
    players = i64(len(left))
    for stream in range(players):
        for k in range(i64(left[stream])):
            pile[stream + k * players] = unseen[at]
            at += 1
    return at


def in_order(counts: vec[u8], total: i64) -> vec[u8]:
    """Return the cards that were counted, sorted; there are at most two of a kind."""
    result = _NONE[: total + 1]
    at: i64 = 0
    number: i64 = 0
    while at < total:
        # Both are written whatever the count: a branch would be a guess, often a wrong one.
        result[at] = u8(number)
        result[at + 1] = u8(number)
        at += i64(counts[number])
        number += 1
    return result[:total]
