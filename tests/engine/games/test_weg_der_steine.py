"""The rules of ``weg-der-steine``."""

from collections import Counter

import pytest

from keltis_engine import find_variant
from keltis_engine.cards.kinds import KIND_NAMES
from keltis_engine.games.weg_der_steine import SYMBOLS
from tests.engine.support.situations import legal, play, row, weg_der_steine

# Material


@pytest.mark.parametrize("players", [2, 3, 4])
def test_55_tiles_all_face_down(players: int) -> None:
    view = find_variant("weg-der-steine").deal(players, 3).reveal()
    tiles = [tile for stream in view["pile"]["cards"] for tile in stream]
    assert sorted(tiles) == sorted(KIND_NAMES)
    assert (len(tiles), view["middle"], view["revealed"]) == (55, [], None)


@pytest.mark.parametrize(
    ("letter", "wishes", "clovers", "bonus_1", "bonus_3"),
    [
        ("R", "4 7", "5 8", "6", "2"),
        ("Y", "6 8", "1 7", "4", "3"),
        ("V", "1 4", "2 9", "5", "7"),
        ("G", "6 9", "3 4", "1", "5"),
        ("B", "2 3", "5 6", "9", "8"),
    ],
)
def test_each_tile_gives_what_its_symbol_says(
    letter: str, wishes: str, clovers: str, bonus_1: str, bonus_3: str
) -> None:
    for value in ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]:
        tile = letter + value
        state = weg_der_steine(middle=tile)
        play(state, f"take {tile}")
        expected = {
            "wish_stones": [int(value in wishes.split()), 0],
            "bonus": [1 if value == bonus_1 else 3 if value == bonus_3 else 0, 0],
            "seat": 0 if value in clovers.split() else 1,
        }
        assert {key: state.reveal()[key] for key in expected} == expected, tile


def test_symbols_are_ten_wish_stones_ten_clovers_and_five_of_each_bonus() -> None:
    assert Counter(SYMBOLS.values()) == {"wish": 10, "clover": 10, "1": 5, "3": 5}


# A turn


def test_at_first_there_is_nothing_but_to_reveal() -> None:
    assert legal(weg_der_steine()) == ["reveal"]


def test_a_turn_reveals_a_tile_or_takes_one_from_the_middle_that_fits() -> None:
    state = weg_der_steine(rows=["G8 G5"], middle="G7 G9 G2 R1")
    assert legal(state) == ["reveal", "take R1", "take G2"]


@pytest.mark.parametrize(
    ("decision", "mine", "middle"), [("keep", "R3", []), ("leave", "", ["R3"])]
)
def test_a_revealed_tile_is_kept_or_left_face_up(
    decision: str, mine: str, middle: list[str]
) -> None:
    state = weg_der_steine(face_down=["R3", "B1"])
    play(state, "reveal")
    assert (state.phase, state.reveal()["revealed"]) == ("revealed", "R3")
    assert legal(state) == ["keep", "leave"]
    play(state, decision)
    assert (state.phase, state.seat) == ("turn", 1)
    assert (row(state, 0, "R"), state.reveal()["middle"]) == (mine, middle)


def test_a_revealed_tile_that_does_not_fit_can_only_be_left() -> None:
    state = weg_der_steine(rows=["G8 G5"], face_down=["G7", "B1"])
    play(state, "reveal")
    assert legal(state) == ["leave"]


def test_a_tile_taken_from_the_middle_is_gone_for_the_others() -> None:
    state = weg_der_steine(middle="R3 B0")
    play(state, "take R3")
    assert (state.seat, legal(state)) == (1, ["reveal", "take B0"])


# Clovers


def test_a_clover_kept_gives_another_turn_at_once_and_it_may_be_the_next_clover() -> None:
    state = weg_der_steine(middle="Y7", face_down=["R5 B0", "B1 B2"])
    play(state, "reveal", "keep")
    assert (state.phase, state.seat, state.turn) == ("turn", 0, 2)
    play(state, "take Y7")
    assert (state.phase, state.seat, state.turn) == ("turn", 0, 3)
    play(state, "reveal", "keep")
    assert (state.phase, state.seat, state.turn) == ("turn", 1, 4)


def test_a_clover_left_gives_nothing_and_works_for_whoever_takes_it_later() -> None:
    state = weg_der_steine(face_down=["R5", "B1"])
    play(state, "reveal", "leave")
    assert state.seat == 1
    play(state, "take R5")
    assert (state.phase, state.seat) == ("turn", 1)


def test_the_extra_turn_cannot_be_declined() -> None:
    state = weg_der_steine(middle="R5 B0", face_down=["G1", "G2"])
    play(state, "take R5")
    assert legal(state) == ["reveal", "take B0"]


# The end


@pytest.mark.parametrize("decision", ["keep", "leave"])
def test_the_turn_that_reveals_the_last_tile_is_finished_and_ends_the_game(decision: str) -> None:
    state = weg_der_steine(middle="B0", face_down=["R3"])
    play(state, "reveal")
    assert not state.over
    play(state, decision)
    assert state.over
    assert legal(state) == []


def test_a_clover_kept_on_the_last_turn_gives_no_further_turn() -> None:
    state = weg_der_steine(middle="B0", face_down=["R5"])
    play(state, "reveal", "keep")
    assert state.over


def test_with_the_option_a_clover_on_the_last_turn_lets_the_player_take_or_pass() -> None:
    state = weg_der_steine(rows=["G8 G6"], middle="B0 G7 G2", face_down=["R5"], last_clover_turn=1)
    play(state, "reveal", "keep")
    assert (state.phase, state.seat, state.turn) == ("last-turn", 0, 2)
    assert legal(state) == ["last G2", "last B0", "pass"]


@pytest.mark.parametrize(
    ("action", "phase"), [("last B0", "over"), ("last Y7", "last-turn"), ("pass", "over")]
)
def test_with_the_option_only_another_clover_prolongs_the_last_turn(
    action: str, phase: str
) -> None:
    state = weg_der_steine(middle="B0 Y7", face_down=["R5"], last_clover_turn=1)
    play(state, "reveal", "keep", action)
    assert (state.phase, state.seat) == (phase, 0)


def test_with_the_option_a_last_clover_that_is_left_ends_the_game() -> None:
    state = weg_der_steine(middle="B0", face_down=["R5"], last_clover_turn=1)
    play(state, "reveal", "leave")
    assert state.over


def test_with_the_option_nothing_that_fits_leaves_only_to_pass() -> None:
    state = weg_der_steine(rows=["G8 G6"], middle="G7", face_down=["R5"], last_clover_turn=1)
    play(state, "reveal", "keep")
    assert legal(state) == ["pass"]


def test_the_option_changes_nothing_before_the_last_tile() -> None:
    state = weg_der_steine(middle="R5 B0", face_down=["G1", "G2"], last_clover_turn=1)
    play(state, "take R5")
    assert (state.phase, legal(state)) == ("turn", ["reveal", "take B0"])


@pytest.mark.parametrize("decision", ["keep", "leave"])
@pytest.mark.parametrize("option", [0, 1])
def test_a_turn_limit_of_1_ends_the_game_after_the_first_turn(decision: str, option: int) -> None:
    state = weg_der_steine(face_down=["R3 R4", "B1"], turn_limit=1, last_clover_turn=option)
    play(state, "reveal")
    assert not state.over
    play(state, decision)
    assert state.over


def test_the_turn_limit_counts_the_extra_turns_of_clovers() -> None:
    state = weg_der_steine(middle="R5 R8 R0 R9", turn_limit=3)
    play(state, "take R5", "take R8")
    assert (state.seat, state.turn, state.over) == (0, 3, False)
    play(state, "take R9")
    assert state.over


def test_the_turn_limit_counts_the_last_turns_of_clovers_too() -> None:
    state = weg_der_steine(middle="Y7 B5", face_down=["R5"], turn_limit=2, last_clover_turn=1)
    play(state, "reveal", "keep", "last Y7")
    assert state.over


# Scores


@pytest.mark.parametrize(
    ("tiles", "points"),
    [(0, 0), (1, -4), (2, -3), (3, 2), (4, 3), (5, 6), (6, 10), (7, 10), (8, 10), (11, 10)],
)
def test_rows_score_by_their_length(tiles: int, points: int) -> None:
    state = weg_der_steine(rows=["", " ".join(f"V{value}" for value in range(tiles))])
    assert [seat["rows"] for seat in state.breakdown()] == [0, points]


@pytest.mark.parametrize(
    ("tiles", "points"),
    [
        ("", -4),
        ("R4", -3),
        ("R4 R7", 2),
        ("R4 R7 Y6", 3),
        ("R4 R7 Y6 Y8", 6),
        ("R4 R7 Y6 Y8 V1", 10),
        ("R4 R7 Y6 Y8 V1 V4", 10),
        ("R4 R7 Y6 Y8 V1 V4 G6 G9 B2 B3", 10),
    ],
)
def test_wish_stones_score_by_their_number(tiles: str, points: int) -> None:
    state = weg_der_steine(rows=["", tiles])
    assert [seat["wish_stones"] for seat in state.breakdown()] == [-4, points]


def test_the_example_of_the_rule_sheet_is_worth_21() -> None:
    # Two blue, four yellow, three pink, five brown; three wish stones; bonuses 3 + 1 + 3 + 3.
    tiles = "B2 B4  Y2 Y3 Y4 Y5  V1 V4 V7  R0 R1 R2 R3 R9"
    state = weg_der_steine(rows=[tiles])
    assert state.breakdown()[0] == {"rows": -3 + 3 + 2 + 6, "wish_stones": 3, "bonus": 10}
    assert state.scores()[0] == 21
