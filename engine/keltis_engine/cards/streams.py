"""The draw pile, dealt as one stream of cards for each seat.

The shuffled pile is dealt round the table, so stream *i* holds its cards *i*, *i + n*, ... A
seat draws from its own stream and, when that is empty, from the fullest other one. For a
shuffled pile this is the same game as one common pile, but in a match over several rotations
the luck of one seat does not depend on what the others chose.
"""

from __future__ import annotations

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i64, u8

from keltis_engine.packing import write_array


def stream_sizes(cards: int, players: int) -> vec[u8]:
    """Return how many cards of a pile go to each stream."""
    return vec[u8]([(cards - seat + players - 1) // players for seat in range(players)])


def stream_for(left: vec[u8], seat: i64) -> i64:
    """Return the stream that a seat draws from; among equally full ones the next clockwise."""
    if left[seat]:
        return seat
    players = i64(len(left))
    fullest = seat
    for distance in range(i64(1), players):
        other = seat + distance
        if other >= players:
            other -= players
        if left[other] > left[fullest]:
            fullest = other
    return fullest


def next_card(pile: vec[u8], left: vec[u8], seat: i64) -> i64:
    """Return the card that a seat would draw."""
    stream = stream_for(left, seat)
    return i64(pile[stream + (i64(left[stream]) - 1) * i64(len(left))])


def draw(pile: vec[u8], left: vec[u8], seat: i64) -> i64:
    """Take the card that a seat draws."""
    stream = stream_for(left, seat)
    below = left[stream] - 1
    left[stream] = below
    return i64(pile[stream + i64(below) * i64(len(left))])


def stream_cards(pile: vec[u8], left: vec[u8], stream: i64) -> list[int]:
    """Return the cards of a stream in the order in which they will be drawn."""
    players = i64(len(left))
    return [int(pile[stream + k * players]) for k in range(i64(left[stream]) - 1, -1, -1)]


def write_stream(
    out: BytesWriter, pile: vec[u8], left: vec[u8], stream: i64, names: list[bytes]
) -> None:
    """Write the names of ``stream_cards``."""
    players = i64(len(left))
    size = i64(left[stream])
    write_array(out, size)
    for k in range(size - 1, i64(-1), i64(-1)):
        out.write(names[i64(pile[stream + k * players])])
