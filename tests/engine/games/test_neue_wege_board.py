"""The board of ``neue-wege``: its fields, edges and tiles, and what figures on it are worth."""

from collections import Counter

import pytest

from keltis_engine import find_variant
from keltis_engine.cards.kinds import KIND_NAMES
from keltis_engine.table.board import START
from keltis_engine.table.boards import NETWORK, NETWORK_TILE_FIELDS
from tests.engine.support.situations import neue_wege

# By row: its value, the colours of its fields from a on, its tile spots (t) and stacks (S).
ROWS = [
    (1, -4, "R Y * B", "- - - -"),
    (2, -2, "R Y * B", "S t t S"),
    (3, 0, "R Y V G B", "t S t t t"),
    (4, 5, "* V G", "- - -"),
    (5, 3, "* B V G", "t t t t"),
    (6, 6, "G B Y R V", "S t t t S"),
    (7, 8, "G B Y R V", "- - - - -"),
    (8, 7, "G Y R V", "t t t t"),
    (9, 6, "V R G B Y", "t t t t t"),
    (10, 10, "V R G B Y", "- - - - -"),
]

# From where each field can be reached.
REACHED_FROM = {
    "1a": "start", "1b": "start", "1c": "start", "1d": "start",
    "2a": "1a", "2b": "1b", "2c": "1c", "2d": "1d",
    "3a": "2a", "3b": "2b", "3c": "2c", "3d": "2c", "3e": "2d",
    "4a": "3a 3b", "4b": "3b 3c", "4c": "3d 3e",
    "5a": "4a", "5b": "4a 4b", "5c": "4b 4c", "5d": "4c",
    "6a": "5a 5b", "6b": "5b", "6c": "5c", "6d": "5c 5d", "6e": "5d",
    "7a": "6a", "7b": "6b", "7c": "6b 6c", "7d": "6d", "7e": "6e",
    "8a": "7a 7b", "8b": "7b 7c", "8c": "7c 7d", "8d": "7d 7e",
    "9a": "8a", "9b": "8a 8b", "9c": "8b 8c", "9d": "8c 8d", "9e": "8d",
    "10a": "9a", "10b": "9b", "10c": "9c", "10d": "9d", "10e": "9e",
}  # fmt: skip


def test_the_board_has_44_fields_59_edges_and_22_tile_spots() -> None:
    assert len(NETWORK.names) == 1 + 44
    assert len(NETWORK.edge_names) == len(set(NETWORK.edge_names)) == 59
    assert len(set(NETWORK_TILE_FIELDS)) == len(NETWORK_TILE_FIELDS) == 22


@pytest.mark.parametrize(("number", "value", "colours", "marks"), ROWS)
def test_every_field_has_its_colour_value_and_mark(
    number: int, value: int, colours: str, marks: str
) -> None:
    spots = {NETWORK.names[field] for field in NETWORK_TILE_FIELDS}
    stacks = neue_wege().reveal()["stacks"]
    for letter, colour, mark in zip("abcde", colours.split(), marks.split(), strict=False):
        name = f"{number}{letter}"
        field = NETWORK.names.index(name)
        assert (NETWORK.values[field], NETWORK.colours[field]) == (value, colour), name
        assert (name in spots, name in stacks) == (mark == "t", mark == "S"), name


def test_the_edges_lead_to_each_field_from_where_it_can_be_reached() -> None:
    edges = {f"{a}-{field}" for field, sources in REACHED_FROM.items() for a in sources.split()}
    assert set(NETWORK.edge_names) == edges


@pytest.mark.parametrize(
    ("letter", "targets"),
    [
        ("R", "1a 1c"),
        ("Y", "1b 1c"),
        ("V", "1c"),
        ("G", "1c"),
        ("B", "1c 1d"),
    ],
)
def test_a_colour_moves_onto_its_own_fields_and_onto_jokers(letter: str, targets: str) -> None:
    edges = NETWORK.onto["RYVGB".index(letter)] & NETWORK.leaving[START]
    names = [name for e, name in enumerate(NETWORK.edge_names) if edges >> e & 1]
    assert names == [f"start-{target}" for target in targets.split()]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_22_tiles_lie_on_the_spots_and_five_stones_on_each_stack(players: int) -> None:
    view = find_variant("neue-wege").deal(players, 5).reveal()
    assert set(view["tiles"]) == {NETWORK.names[field] for field in NETWORK_TILE_FIELDS}
    wishes = {f"wish {letter}": 1 for letter in "RYVGB"}
    assert Counter(view["tiles"].values()) == {"clover": 5, "drop": 5, "2": 5, "3": 2, **wishes}
    assert view["stacks"] == {"2a": 5, "3b": 5, "6e": 5, "6a": 5, "2d": 5}


@pytest.mark.parametrize(("players", "pile_size", "removed"), [(2, 64, 30), (3, 86, 0), (4, 78, 0)])
def test_the_110_cards_are_dealt_as_in_the_board_game(
    players: int, pile_size: int, removed: int
) -> None:
    view = find_variant("neue-wege").deal(players, 5).reveal()
    assert [seat["size"] for seat in view["hands"]] == [8] * players
    assert (view["pile"]["size"], view["removed"]["size"]) == (pile_size, removed)
    cards = Counter[str](view["removed"]["cards"])
    for place in view["pile"]["cards"] + [seat["cards"] for seat in view["hands"]]:
        cards.update(place)
    assert cards == Counter(KIND_NAMES * 2)


# Scores


@pytest.mark.parametrize(("number", "value"), [(row[0], row[1]) for row in ROWS])
def test_a_figure_is_worth_its_row_and_the_big_one_twice_that_also_below_zero(
    number: int, value: int
) -> None:
    state = neue_wege(figures=[f"{number}b", f"big {number}b"])
    assert [seat["figures"] for seat in state.breakdown()] == [value, 2 * value]


@pytest.mark.parametrize(
    ("stones", "points"),
    [
        ("", -4),
        ("R", -3),
        ("RY", 2),
        ("RYV", 3),
        ("RYVG", 6),
        ("RYVGB", 10),
        ("RR", -3),
        ("RRR", -3 + 10),
        ("RRRRRR", -3 + 10),  # ten for the colour, not for each three
        ("RRRYYY", 2 + 10 + 10),
        ("RRYYVVGGBB", 10),
        ("RRRYYYVVVGGGBBB", 10 + 50),
        ("BBBYYRV", 6 + 10),  # the example of the rule sheet
    ],
)
def test_wish_stones_score_by_different_colours_and_by_three_or_more_of_one(
    stones: str, points: int
) -> None:
    state = neue_wege(stones=["", stones])
    assert [seat["wish_stones"] for seat in state.breakdown()] == [-4, points]


def test_a_score_adds_tiles_figures_and_wish_stones() -> None:
    state = neue_wege(figures=["big 7a, 1b, 4c", "big 1a"], points=[5, 2], stones=["RYV", "B"])
    assert state.breakdown() == [
        {"tiles": 5, "figures": 2 * 8 - 4 + 5, "wish_stones": 3},
        {"tiles": 2, "figures": 2 * -4, "wish_stones": -3},
    ]
    assert state.scores() == [25, -9]
    assert state.winners() == [0]
