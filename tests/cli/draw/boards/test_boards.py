"""Boards fit the terminal, whatever happens in the game."""

import pytest
from rich.cells import cell_len

from keltis_cli.draw.boards.boards import draw
from keltis_cli.draw.look import LETTERS, MARKS, SEAT_MARKS, SYMBOLS, Look
from keltis_engine import SPECTATORS
from tests.cli.support.helpers import ALL_VARIANTS, states

TABLES = [(variant, players) for variant in ALL_VARIANTS for players in (2, 3, 4)]
POLICY_SEEDS = [("random", 1), ("eager", 2), ("eager", 3)]


@pytest.mark.parametrize(("variant", "players"), TABLES)
@pytest.mark.parametrize("look", [Look(), Look(ascii=True)], ids=["symbols", "ascii"])
def test_every_board_is_at_most_80_wide_and_24_high(variant: str, players: int, look: Look) -> None:
    for policy, seed in POLICY_SEEDS:
        for state in states(variant, players, seed, policy)[::9]:
            for view in (state.view(0), state.view(SPECTATORS), state.reveal()):
                lines = draw(view, look).plain.split("\n")
                assert len(lines) <= 24
                assert max(cell_len(line) for line in lines) <= 80, "\n".join(lines)


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_players_can_have_names_instead_of_seats(variant: str, players: int) -> None:
    names = ["seat 1", "two  blanks", "a-bot-with-a-name-longer-than-any-room", "d"][:players]
    for state in states(variant, players, 2, "eager")[::9]:
        view = state.view(SPECTATORS)
        lines = draw(view, Look(), names).plain.split("\n")
        assert max(cell_len(line) for line in lines) <= 80, "\n".join(lines)
        text = "\n".join(lines)
        for seat, name in enumerate(names):
            assert f"{SEAT_MARKS[seat]} {name[:10]}" in text
        assert "seat 0" not in text
        if view["phase"] != "over":
            assert f" {names[view['seat']][:6]}" in lines[0]


@pytest.mark.parametrize("variant", ALL_VARIANTS)
def test_ascii_boards_are_ascii(variant: str) -> None:
    for state in states(variant, 4, 5, "eager")[::7]:
        assert draw(state.view(1), Look(ascii=True)).plain.isascii()


def test_a_board_longer_than_any_real_one_still_fits() -> None:
    view = states("keltis", 2, 1, "eager")[0].view(0)
    view["rows"][0]["R"] = [f"R{value}" for value in range(11) for _ in range(2)]
    board = draw(view, Look()).plain
    assert "R@ 0 … " in board
    assert "10 (22)" in board
    assert max(cell_len(line) for line in board.split("\n")) <= 80


def test_every_sign_takes_one_cell_and_no_two_colours_share_one() -> None:
    signs = [*SYMBOLS.values(), *(sign for pair in MARKS.values() for sign in pair)]
    assert {sign for sign in signs if cell_len(sign) != 1 or len(sign) != 1} == set()
    assert len(set(SYMBOLS.values())) == len(LETTERS)


def test_the_symbols_are_in_the_oldest_character_set_of_terminals() -> None:
    # cp437 maps the symbols below 32 to control codes; Python's codec leaves them out.
    below_32 = "☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼"
    for symbol in SYMBOLS.values():
        assert symbol in below_32 or symbol.encode("cp437")


def test_a_keltis_board_shows_tiles_figures_rows_piles_and_hands() -> None:
    view = states("keltis", 2, 1, "eager")[0].view(0)
    view["tiles"] = {"R3": "clover", "V5": "wish", "B9": "3"}
    view["figures"][0] = {"big": "R3", "small": ["V5", "start", "start", "start"]}
    view["rows"][0]["R"] = ["R3", "R5"]
    view["piles"]["Y"] = ["Y1", "Y2"]
    view["closed"] = ["Y"]
    view["hands"][0]["cards"] = ["G10", "B0"]
    view["hands"][1]["known"] = ["V7"]
    lines = draw(view, Look()).plain.split("\n")
    board = "\n".join(lines)
    assert any(line.startswith("  -2  ♣ A") for line in lines)
    assert any("○ a" in line for line in lines)
    assert any(line.startswith("  10║") and "+3" in line for line in lines)
    assert "start  aaa Bbbbb" in board
    assert "R@ 3 5" in board
    assert "☼2×2 closed" in board
    assert "hand A ♦10 ≈0" in board
    assert "hand B 8 cards, seen: ▲7" in board


def test_a_neue_wege_board_shows_paths_stacks_and_coloured_wish_stones() -> None:
    view = states("neue-wege", 2, 1, "eager")[0].view(0)
    view["tiles"] = {"5b": "wish V", "3c": "drop"}
    view["stacks"]["2a"] = 4
    view["figures"][1] = {"big": "4a", "small": ["4a", "4a", "4a", "4a"]}
    view["wish_stones"][0] = {"R": 0, "Y": 2, "V": 0, "G": 0, "B": 1}
    board = draw(view, Look()).plain
    assert "≈○▲" in board
    assert "▲↓" in board
    assert "@■4" in board
    assert "*  Bb4" in board
    assert "○ ☼2 ≈1" in board
    assert "\\   /   \\   /   \\   /   \\   /" in board


def test_colours_end_where_their_card_ends() -> None:
    for variant in ALL_VARIANTS:
        board = draw(states(variant, 2, 4, "eager")[40].view(0), Look())
        coloured = [
            board.plain[span.start : span.end] for span in board.spans if " on " in str(span.style)
        ]
        assert coloured
        assert max(len(text) for text in coloured) <= 3
        assert not board.style
