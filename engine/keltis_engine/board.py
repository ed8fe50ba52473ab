"""Boards: fields joined by edges, and the figures that walk along them.

The five paths of ``keltis`` and the network of ``neue-wege`` are two boards of this one type.
Field 0 is the start. A set of edges is one integer, a bit for each edge.
"""

from __future__ import annotations

from typing import Final, TypedDict, final

from librt.vecs import vec
from mypy_extensions import i64, u8

from keltis_engine.bits import BIT
from keltis_engine.cards import LETTERS
from keltis_engine.state import FIGURES_IN, LAST_CARD, LIMIT_REACHED

START: Final = 0
FIGURES: Final = 5  # for each seat: the big one, then four small ones
NO_FIGURE: Final = -1
ASK: Final = -2
GOAL_FIGURES: Final = 5  # so many figures in the goal area end the game
ANY_COLOUR: Final = "*"


class FiguresView(TypedDict):
    """Where the figures of a seat stand."""

    big: str
    small: list[str]


@final
class Board:
    """Fields with their names, colours and values, and the edges between them.

    ``colours`` has a letter for each field, ``*`` for a joker. ``goal`` lists the fields of the
    goal area. With ``one_per_path`` a figure shuts the entrance of its path to the owner's
    other figures; then each field but the start has a single edge leading to it.
    """

    def __init__(
        self,
        names: list[str],
        colours: list[str],
        values: list[int],
        edges: list[tuple[str, str]],
        goal: list[str],
        one_per_path: bool,
    ) -> None:
        at = {name: field for field, name in enumerate(names)}
        self.names = names
        self.colours = colours
        self.edge_names = [f"{a}-{b}" for a, b in edges]
        self.values = vec[i64](values)
        self.sources = vec[u8]([at[a] for a, _ in edges])
        self.targets = vec[u8]([at[b] for _, b in edges])
        self.leaving = vec[i64](
            [sum(1 << e for e, (a, _) in enumerate(edges) if a == name) for name in names]
        )
        self.onto = vec[i64](
            [
                sum(
                    1 << e
                    for e, (_, b) in enumerate(edges)
                    if colours[at[b]] in (letter, ANY_COLOUR)
                )
                for letter in LETTERS
            ]
        )
        self.into_goal: i64 = sum(
            1 << e for e, (a, b) in enumerate(edges) if b in goal and a not in goal
        )
        entrances = [
            sum(
                1 << e
                for e, (a, b) in enumerate(edges)
                if one_per_path and a == names[START] and colours[at[b]] == colour
            )
            for colour in colours
        ]
        self.shuts = vec[i64](entrances)

    def open_edges(self, figures: vec[u8], seat: i64) -> i64:
        """Return the edges along which the seat's figures can move."""
        edges: i64 = 0
        shut: i64 = 0
        for k in range(seat * FIGURES, seat * FIGURES + FIGURES):
            field = i64(figures[k])
            edges |= self.leaving[field]
            shut |= self.shuts[field]
        return edges & ~shut

    def figure_score(self, figures: vec[u8], seat: i64) -> i64:
        """Return the value of the seat's figures; the big one counts double."""
        total: i64 = 0
        for k in range(seat * FIGURES, seat * FIGURES + FIGURES):
            total += self.values[i64(figures[k])]
        return total + self.values[i64(figures[seat * FIGURES])]

    def place_tiles(self, fields: vec[u8], order: vec[u8], wish_tile: i64) -> tuple[vec[u8], i64]:
        """Return the tiles by field, and the fields that hold a wish stone."""
        tiles = vec[u8]([0] * len(self.names))
        wish_tiles: i64 = 0
        for k in range(i64(len(fields))):
            field = i64(fields[k])
            tiles[field] = order[k]
            if i64(order[k]) >= wish_tile:
                wish_tiles |= BIT[field]
        return tiles, wish_tiles

    def figure_views(self, figures: vec[u8], players: int) -> list[FiguresView]:
        """Return for each seat the field of its big figure and those of its small ones."""
        return [
            {
                "big": self.names[int(figures[first])],
                "small": sorted(
                    self.names[int(figures[k])] for k in range(first + 1, first + FIGURES)
                ),
            }
            for first in range(0, players * FIGURES, FIGURES)
        ]

    def tile_view(
        self, tiles: vec[u8], wish_tiles: i64, wish_tile: int, names: list[str]
    ) -> dict[str, str]:
        """Return the tiles that lie on the board by field; wish tiles may have been taken."""
        return {
            name: names[int(tiles[field])]
            for field, name in enumerate(self.names)
            if tiles[field] and (tiles[field] < wish_tile or wish_tiles & BIT[field])
        }


def all_at_start(players: int) -> vec[u8]:
    """Return the figures of all seats before the game."""
    return vec[u8]([START] * (players * FIGURES))


def figure_to_move(figures: vec[u8], seat: i64, field: i64) -> i64:
    """Return which figure of the seat leaves the field, or ``ASK`` if the player must say.

    He must where the big figure and a small one stand together.
    """
    small = small_figure(figures, seat, field)
    if i64(figures[seat * FIGURES]) != field:
        return small
    return seat * FIGURES if small == NO_FIGURE else ASK


def figure_named(figures: vec[u8], seat: i64, field: i64, big: bool) -> i64:
    """Return which figure of the seat leaves the field when the player has said which size."""
    return seat * FIGURES if big else small_figure(figures, seat, field)


def small_figure(figures: vec[u8], seat: i64, field: i64) -> i64:
    """Return which of the figures is a small one of the seat on the field, if any."""
    for k in range(seat * FIGURES + 1, seat * FIGURES + FIGURES):
        if i64(figures[k]) == field:
            return k
    return NO_FIGURE


def board_game_ending(in_goal: i64, pile_size: i64) -> str:
    """Return what ended a game on a board."""
    if in_goal == GOAL_FIGURES:
        return FIGURES_IN
    return LIMIT_REACHED if pile_size else LAST_CARD
