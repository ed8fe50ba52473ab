"""The hands of all players, and what everybody knows of them.

A card kind exists at most twice, so a hand is two sets: the kinds held, and those held twice.
Two more sets say the same of the cards that everybody saw the player take from a discard pile
and that he has not played since. Kinds from 64 on (points cards) live in a second bank.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i64, u8

from keltis_engine.bits import BIT, count_of, index_of, members_of
from keltis_engine.packing import write_array

WORDS: Final = 8  # for each seat: two banks of four sets
BANK: Final = 4
TWICE: Final = 1  # behind the kinds held
KNOWN: Final = 2
KNOWN_TWICE: Final = 3


def empty_hands(players: int) -> vec[i64]:
    """Return hands without cards."""
    return vec[i64]([0] * (players * WORDS))


def held(hands: vec[i64], seat: i64) -> i64:
    """Return the kinds below 64 that the seat holds."""
    return hands[seat * WORDS]


def held_twice(hands: vec[i64], seat: i64) -> i64:
    """Return the kinds below 64 that the seat holds twice."""
    return hands[seat * WORDS + TWICE]


def held_points(hands: vec[i64], seat: i64) -> i64:
    """Return the kinds from 64 on that the seat holds, counted from 64."""
    return hands[seat * WORDS + BANK]


def gain(hands: vec[i64], seat: i64, card: i64) -> None:
    """Take a card that only its new owner sees."""
    at = seat * WORDS + (card >> 6) * BANK
    bit = BIT[card & 63]
    hands[at + TWICE] |= hands[at] & bit
    hands[at] |= bit


def gain_openly(hands: vec[i64], seat: i64, card: i64) -> None:
    """Take a card that everybody sees."""
    gain(hands, seat, card)
    at = seat * WORDS + (card >> 6) * BANK
    bit = BIT[card & 63]
    hands[at + KNOWN_TWICE] |= hands[at + KNOWN] & bit
    hands[at + KNOWN] |= bit


def lose(hands: vec[i64], seat: i64, card: i64) -> None:
    """Play a card; if one of its kind was known to be there, that one has gone."""
    at = seat * WORDS + (card >> 6) * BANK
    bit = BIT[card & 63]
    if hands[at + TWICE] & bit:
        hands[at + TWICE] ^= bit
    else:
        hands[at] ^= bit
    if hands[at + KNOWN] & bit:
        if hands[at + KNOWN_TWICE] & bit:
            hands[at + KNOWN_TWICE] ^= bit
        else:
            hands[at + KNOWN] ^= bit


def cards_in_hand(hands: vec[i64], seat: i64) -> list[int]:
    """Return the cards of a hand, ascending, twins side by side."""
    at = seat * WORDS
    return _listed(hands, at, 0) + _listed(hands, at + BANK, 64)


def known_cards(hands: vec[i64], seat: i64) -> list[int]:
    """Return the cards of a hand that everybody knows, ascending."""
    at = seat * WORDS + KNOWN
    return _listed(hands, at, 0) + _listed(hands, at + BANK, 64)


def _listed(hands: vec[i64], at: i64, first: int) -> list[int]:
    once = [first + k for k in members_of(hands[at])]
    return sorted(once + [first + k for k in members_of(hands[at + 1])])


def hand_size(hands: vec[i64], seat: i64) -> i64:
    """Return how many cards a hand has."""
    return _listed_size(hands, seat * WORDS)


def write_hand(out: BytesWriter, hands: vec[i64], seat: i64, names: list[bytes]) -> None:
    """Write the names of ``cards_in_hand``."""
    _write_listed(out, hands, seat * WORDS, names)


def write_known(out: BytesWriter, hands: vec[i64], seat: i64, names: list[bytes]) -> None:
    """Write the names of ``known_cards``."""
    _write_listed(out, hands, seat * WORDS + KNOWN, names)


def _listed_size(hands: vec[i64], at: i64) -> i64:
    return (
        count_of(hands[at])
        + count_of(hands[at + TWICE])
        + count_of(hands[at + BANK])
        + count_of(hands[at + BANK + TWICE])
    )


def _write_listed(out: BytesWriter, hands: vec[i64], at: i64, names: list[bytes]) -> None:
    write_array(out, _listed_size(hands, at))
    for bank in range(i64(2)):
        kinds = hands[at + bank * BANK]
        twice = hands[at + bank * BANK + TWICE]
        while kinds:
            bit = kinds & -kinds
            kinds ^= bit
            name = names[bank * 64 + index_of(bit)]
            out.write(name)
            if twice & bit:
                out.write(name)


def give_up_hidden(hands: vec[i64], seat: i64, counts: vec[u8]) -> i64:
    """Take every card that is not known to all out of a hand, count each, return how many."""
    total: i64 = 0
    for bank in range(i64(2)):
        at = seat * WORDS + bank * BANK
        once = hands[at] & ~hands[at + KNOWN] | hands[at + TWICE] & ~hands[at + KNOWN_TWICE]
        twice = hands[at + TWICE] & ~hands[at + KNOWN]
        hands[at] = hands[at + KNOWN]
        hands[at + TWICE] = hands[at + KNOWN_TWICE]
        while once:
            bit = once & -once
            copies: i64 = 2 if twice & bit else 1
            counts[bank * 64 + index_of(bit)] += u8(copies)
            total += copies
            once ^= bit
    return total
