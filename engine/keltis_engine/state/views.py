"""Views: all that one onlooker may know, as plain data.

A view is built by naming what may be seen. It holds nothing but dicts with string keys, lists,
strings, integers, booleans and ``None``, so JSON and msgpack take it as it is. ``None`` stands
where something is hidden from the viewer.

Each part of a view has a twin that writes the same as msgpack, for those who send views.
"""

from __future__ import annotations

from typing import Any, Final, TypedDict

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i64, u8

from keltis_engine.bits import count_of, index_of, members_of
from keltis_engine.cards.hands import cards_in_hand, hand_size, known_cards, write_hand, write_known
from keltis_engine.cards.stacks import cards_of, write_stack
from keltis_engine.cards.streams import stream_cards, write_stream
from keltis_engine.packing import (
    NIL,
    text,
    write_array,
    write_field,
    write_int,
    write_ints,
    write_map,
)
from keltis_engine.state import fields

SPECTATORS: Final = "spectators"
POST_GAME: Final = "post-game"
PACKED_SPECTATORS: Final = text(SPECTATORS)
PACKED_POST_GAME: Final = text(POST_GAME)

PUBLIC: Final = -1  # who sees what is public
EVERYTHING: Final = -2  # who sees all cards

View = dict[str, Any]


class HandView(TypedDict):
    """A hand: its cards to those who may see them, and what everybody knows of it."""

    cards: list[str] | None
    size: int
    known: list[str]


class PileView(TypedDict):
    """A draw pile: the sizes of its streams, and the order of the cards, which is hidden."""

    size: int
    streams: list[int]
    cards: list[list[str]] | None


class RemovedView(TypedDict):
    """The cards that left the game unseen."""

    size: int
    cards: list[str] | None


def viewer_name(viewer: int) -> int | str:
    """Return how a view names the one it is for."""
    if viewer == PUBLIC:
        return SPECTATORS
    return POST_GAME if viewer == EVERYTHING else viewer


def write_viewer_name(out: BytesWriter, viewer: i64) -> None:
    """Write what ``viewer_name`` returns."""
    if viewer == PUBLIC:
        out.write(PACKED_SPECTATORS)
    elif viewer == EVERYTHING:
        out.write(PACKED_POST_GAME)
    else:
        write_int(out, viewer)


def hand_views(hands: vec[i64], viewer: int, players: int, names: dict[int, str]) -> list[HandView]:
    """Return for each seat its hand if the viewer may see it, its size, and what all know."""
    views: list[HandView] = []
    for seat in range(players):
        cards = [names[card] for card in cards_in_hand(hands, seat)]
        views.append(
            {
                "cards": cards if viewer in (seat, EVERYTHING) else None,
                "size": len(cards),
                "known": [names[card] for card in known_cards(hands, seat)],
            }
        )
    return views


def write_hands(
    out: BytesWriter, hands: vec[i64], viewer: i64, players: i64, names: list[bytes]
) -> None:
    """Write what ``hand_views`` returns."""
    write_array(out, players)
    for seat in range(players):
        write_map(out, 3)
        out.write(fields.CARDS)
        if viewer == seat or viewer == EVERYTHING:
            write_hand(out, hands, seat, names)
        else:
            out.write(NIL)
        write_field(out, fields.SIZE, hand_size(hands, seat))
        out.write(fields.KNOWN)
        write_known(out, hands, seat, names)


def stack_views(
    stacks: vec[u8], first: int, letters: list[str], names: dict[int, str]
) -> dict[str, list[str]]:
    """Return neighbouring stacks by their letters, each from the bottom to the top."""
    return {
        letter: [names[card] for card in cards_of(stacks, first + k)]
        for k, letter in enumerate(letters)
    }


def write_stacks(
    out: BytesWriter, stacks: vec[u8], first: i64, letters: list[bytes], names: list[bytes]
) -> None:
    """Write what ``stack_views`` returns."""
    count = i64(len(letters))
    write_map(out, count)
    for k in range(count):
        out.write(letters[k])
        write_stack(out, stacks, first + k, names)


def pile_view(pile: vec[u8], left: vec[u8], viewer: int, names: dict[int, str]) -> PileView:
    """Return the size of the draw pile and its streams, and the cards to whom may see them."""
    streams = [int(size) for size in left]
    cards: list[list[str]] | None = None
    if viewer == EVERYTHING:
        cards = [
            [names[card] for card in stream_cards(pile, left, stream)]
            for stream in range(len(streams))
        ]
    return {"size": sum(streams), "streams": streams, "cards": cards}


def write_pile(
    out: BytesWriter, pile: vec[u8], left: vec[u8], viewer: i64, names: list[bytes]
) -> None:
    """Write what ``pile_view`` returns."""
    size: i64 = 0
    for cards in left:
        size += i64(cards)
    write_map(out, 3)
    write_field(out, fields.SIZE, size)
    out.write(fields.STREAMS)
    write_ints(out, left)
    out.write(fields.CARDS)
    if viewer == EVERYTHING:
        write_array(out, i64(len(left)))
        for stream in range(i64(len(left))):
            write_stream(out, pile, left, stream, names)
    else:
        out.write(NIL)


def removed_view(removed: vec[u8], viewer: int, names: dict[int, str]) -> RemovedView:
    """Return how many cards left the game unseen, and which to whom may see them."""
    return {
        "size": len(removed),
        "cards": [names[int(card)] for card in removed] if viewer == EVERYTHING else None,
    }


def write_removed(out: BytesWriter, removed: vec[u8], viewer: i64, names: list[bytes]) -> None:
    """Write what ``removed_view`` returns."""
    size = i64(len(removed))
    write_map(out, 2)
    write_field(out, fields.SIZE, size)
    out.write(fields.CARDS)
    if viewer == EVERYTHING:
        write_array(out, size)
        for card in removed:
            out.write(names[i64(card)])
    else:
        out.write(NIL)


def counts_view(counts: vec[u8], first: int, names: list[str]) -> dict[str, int]:
    """Return neighbouring counts by their names."""
    return {name: int(counts[first + k]) for k, name in enumerate(names)}


def write_counts(out: BytesWriter, counts: vec[u8], first: i64, names: list[bytes]) -> None:
    """Write what ``counts_view`` returns."""
    size = i64(len(names))
    write_map(out, size)
    for k in range(size):
        write_field(out, names[k], i64(counts[first + k]))


def names_of(members: i64, names: list[str]) -> list[str]:
    """Return the names of the members of a set."""
    return [names[k] for k in members_of(members)]


def write_names_of(out: BytesWriter, members: i64, names: list[bytes]) -> None:
    """Write what ``names_of`` returns."""
    write_array(out, count_of(members))
    while members:
        bit = members & -members
        members ^= bit
        out.write(names[index_of(bit)])
