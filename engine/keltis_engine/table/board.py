"""Boards: fields joined by edges, and the figures that walk along them.

The five paths of ``keltis`` and the network of ``neue-wege`` are two boards of this one type.
Field 0 is the start. A set of edges is one integer, a bit for each edge.
"""

from __future__ import annotations

from typing import Final, TypedDict, final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i64, u8

from keltis_engine.bits import BIT
from keltis_engine.cards.kinds import LETTERS
from keltis_engine.packing import texts, write_array, write_map
from keltis_engine.state import fields
from keltis_engine.state.state import FIGURES_IN, LAST_CARD, LIMIT_REACHED

START: Final = 0
FIGURES: Final = 5  # for each seat: the big one, then four small ones
NO_FIGURE: Final = -1
ASK: Final = -2
GOAL_FIGURES: Final = 5  # so many figures in the goal area end the game
ANY_COLOUR: Final = "*"
END_OF_ORDER: Final = 1_000  # above every number that orders figures


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
        self.packed_names = texts(names)
        self.packed_edges = texts(self.edge_names)
        self.packed_in_order = texts(sorted(names))
        self.places = vec[u8]([sorted(names).index(name) for name in names])  # in that order
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
            if tile_lies(tiles, wish_tiles, wish_tile, field)
        }

    def write_figures(self, out: BytesWriter, figures: vec[u8], players: i64) -> None:
        """Write what ``figure_views`` returns."""
        write_array(out, players)
        for seat in range(players):
            write_map(out, 2)
            out.write(fields.BIG)
            out.write(self.packed_names[i64(figures[seat * FIGURES])])
            out.write(fields.SMALL)
            self.write_small_figures(out, figures, seat * FIGURES)

    def write_small_figures(self, out: BytesWriter, figures: vec[u8], first: i64) -> None:
        """Write the fields of a seat's small figures, ordered by their names.

        Each round writes the figure that comes next after the last one. The numbers that are
        compared have the place of the field's name first, then the figure.
        """
        write_array(out, FIGURES - 1)
        last: i64 = -1
        for _ in range(i64(FIGURES - 1)):
            following: i64 = END_OF_ORDER
            for k in range(i64(1), i64(FIGURES)):
                number = i64(self.places[i64(figures[first + k])]) * FIGURES + k
                if last < number < following:
                    following = number
            out.write(self.packed_in_order[following // FIGURES])
            last = following

    def write_tiles(
        self,
        out: BytesWriter,
        tiles: vec[u8],
        wish_tiles: i64,
        wish_tile: i64,
        names: list[bytes],
    ) -> None:
        """Write what ``tile_view`` returns."""
        count: i64 = 0
        for field in range(i64(len(tiles))):
            if tile_lies(tiles, wish_tiles, wish_tile, field):
                count += 1
        write_map(out, count)
        for field in range(i64(len(tiles))):
            if tile_lies(tiles, wish_tiles, wish_tile, field):
                out.write(self.packed_names[field])
                out.write(names[i64(tiles[field])])


def tile_lies(tiles: vec[u8], wish_tiles: i64, wish_tile: i64, field: i64) -> bool:
    """Return whether a tile lies on a field; a wish tile may have been taken."""
    tile = i64(tiles[field])
    return tile != 0 and (tile < wish_tile or wish_tiles & BIT[field] != 0)


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
