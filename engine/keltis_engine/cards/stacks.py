"""Stacks of cards side by side: discard piles, and the rows before each player.

All stacks of a game lie in one vector, so a copy of the game copies them at once. Each has 32
places: its height, then its cards from the bottom to the top.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i64, u8

from keltis_engine.packing import write_array

PLACES: Final = 32


def empty_stacks(count: int) -> vec[u8]:
    """Return that many empty stacks."""
    return vec[u8]([0] * (count * PLACES))


def height(stacks: vec[u8], stack: i64) -> i64:
    """Return how many cards the stack has."""
    return i64(stacks[stack * PLACES])


def filled(stacks: vec[u8], stack: i64) -> i64:
    """Return 1 if the stack has cards, 0 if not."""
    return (i64(stacks[stack * PLACES]) + PLACES - 1) >> 5


def top(stacks: vec[u8], stack: i64) -> i64:
    """Return the top card of a stack that has one."""
    base = stack * PLACES
    return i64(stacks[base + i64(stacks[base])])


def push(stacks: vec[u8], stack: i64, card: i64) -> None:
    """Put a card on top."""
    base = stack * PLACES
    size = i64(stacks[base]) + 1
    stacks[base] = u8(size)
    stacks[base + size] = u8(card)


def pop(stacks: vec[u8], stack: i64) -> i64:
    """Take the top card off a stack that has one."""
    base = stack * PLACES
    size = i64(stacks[base])
    card = i64(stacks[base + size])
    stacks[base + size] = 0
    stacks[base] = u8(size - 1)
    return card


def cards_of(stacks: vec[u8], stack: i64) -> list[int]:
    """Return the cards of a stack from the bottom to the top."""
    base = stack * PLACES
    return [int(stacks[base + k]) for k in range(1, i64(stacks[base]) + 1)]


def write_stack(out: BytesWriter, stacks: vec[u8], stack: i64, names: list[bytes]) -> None:
    """Write the names of ``cards_of``."""
    base = stack * PLACES
    size = i64(stacks[base])
    write_array(out, size)
    for k in range(base + 1, base + size + 1):
        out.write(names[i64(stacks[k])])
