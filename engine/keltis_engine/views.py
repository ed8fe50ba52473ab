"""Views: all that one onlooker may know, as plain data.

A view is built by naming what may be seen. It holds nothing but dicts with string keys, lists,
strings, integers, booleans and ``None``, so JSON and msgpack take it as it is. ``None`` stands
where something is hidden from the viewer.
"""

from __future__ import annotations

from typing import Any, Final, TypedDict

from librt.vecs import vec
from mypy_extensions import i64, u8

from keltis_engine.bits import members_of
from keltis_engine.hands import cards_in_hand, known_cards
from keltis_engine.stacks import cards_of
from keltis_engine.streams import stream_cards

SPECTATORS: Final = "spectators"
POST_GAME: Final = "post-game"

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


def stack_views(
    stacks: vec[u8], first: int, letters: list[str], names: dict[int, str]
) -> dict[str, list[str]]:
    """Return neighbouring stacks by their letters, each from the bottom to the top."""
    return {
        letter: [names[card] for card in cards_of(stacks, first + k)]
        for k, letter in enumerate(letters)
    }


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


def removed_view(removed: vec[u8], viewer: int, names: dict[int, str]) -> RemovedView:
    """Return how many cards left the game unseen, and which to whom may see them."""
    return {
        "size": len(removed),
        "cards": [names[int(card)] for card in removed] if viewer == EVERYTHING else None,
    }


def names_of(members: i64, names: list[str]) -> list[str]:
    """Return the names of the members of a set."""
    return [names[k] for k in members_of(members)]
