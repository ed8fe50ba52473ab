"""How a game of ``keltis`` ends, and what it is worth."""

import pytest

from keltis_engine import IllegalAction
from tests.engine.support.situations import figures, hand, keltis, legal, play

VALUES = [(1, -4), (2, -3), (3, -2), (4, 1), (5, 2), (6, 3), (7, 6), (8, 7), (9, 10)]

# The fifth figure in the goal area


@pytest.mark.parametrize("tile", ["1", "2", "3", "clover", "wish"])
def test_the_fifth_figure_in_the_goal_ends_the_game_without_its_tile_and_without_a_draw(
    tile: str,
) -> None:
    state = keltis(
        hands=["R3", "Y1"],
        figures=["R6, B7", "big R7, Y8, G9"],
        tiles={"R7": tile},
        pile=["G1", "G2"],
    )
    play(state, "lay R3")
    view = state.reveal()
    assert state.over
    assert legal(state) == []
    assert (view["points"], view["wish_stones"], view["tiles"]) == ([0, 0], [0, 0], {"R7": tile})
    assert (hand(state, 0), view["pile"]["size"]) == ("", 2)
    assert figures(state, 0) == "B7, R7"


@pytest.mark.parametrize(
    ("tile", "phase", "points", "wishes"),
    [("2", "draw", 2, 0), ("clover", "clover", 0, 0), ("wish", "draw", 0, 1)],
)
def test_the_fourth_figure_in_the_goal_still_gets_its_tile(
    tile: str, phase: str, points: int, wishes: int
) -> None:
    state = keltis(hands=["R3"], figures=["R6, B7", "Y8, G9"], tiles={"R7": tile})
    play(state, "lay R3")
    view = state.reveal()
    assert (state.phase, view["in_goal"]) == (phase, 4)
    assert (view["points"][0], view["wish_stones"][0]) == (points, wishes)


@pytest.mark.parametrize(
    ("mine", "tiles", "actions"),
    [
        ("R6, B7, G9", {}, ["lay G3", "move R"]),
        ("R6, B7, G8, Y1", {"Y2": "clover"}, ["lay Y3", "clover R"]),
    ],
    ids=["by an end-stone move", "by a clover"],
)
def test_the_fifth_figure_ends_the_game_however_it_moved(
    mine: str, tiles: dict[str, str], actions: list[str]
) -> None:
    state = keltis(hands=["G3 Y3"], figures=[mine, "Y8, G9"], tiles={**tiles, "R7": "3"})
    play(state, *actions)
    assert state.over
    assert state.reveal()["points"] == [0, 0]


@pytest.mark.parametrize(("before", "after"), [("R7", "R8"), ("R8", "R9")])
def test_a_figure_counts_once_when_it_enters_the_goal_area(before: str, after: str) -> None:
    state = keltis(hands=["R3"], figures=[f"{before}, B7", "Y8, G9"])
    play(state, "lay R3")
    assert (state.phase, figures(state, 0)) == ("draw", f"B7, {after}")
    assert state.reveal()["in_goal"] == 4


def test_five_figures_of_one_player_end_the_game_too() -> None:
    state = keltis(hands=["B3"], figures=["big R9, Y9, V8, G7, B6"])
    play(state, "lay B3")
    assert state.over


# The last card


def test_drawing_the_last_card_ends_the_game_at_once() -> None:
    state = keltis(hands=["R3", "Y1"], pile=["G1"])
    play(state, "discard R3", "draw")
    assert state.over
    assert hand(state, 0) == "G1"


def test_taking_from_a_discard_pile_leaves_the_last_card_and_the_game_goes_on() -> None:
    state = keltis(hands=["R3", "Y1"], piles="B2", pile=["G1"])
    play(state, "discard R3", "take B")
    assert (state.phase, state.seat, state.reveal()["pile"]["size"]) == ("turn", 1, 1)


def test_a_seat_whose_own_stream_is_empty_ends_the_game_with_anothers_last_card() -> None:
    state = keltis(hands=["", "Y1"], pile=["G1"], seat=1)
    play(state, "discard Y1", "draw")
    assert state.over
    assert hand(state, 1) == "G1"


# The turn limit


@pytest.mark.parametrize("draw", ["draw", "take B"])
def test_a_turn_limit_of_1_ends_the_game_after_the_first_draw(draw: str) -> None:
    state = keltis(hands=["R3", "Y1"], piles="B2", turn_limit=1)
    play(state, "discard R3")
    assert not state.over
    play(state, draw)
    assert state.over


def test_the_turn_limit_counts_the_turns_of_all_seats() -> None:
    state = keltis(players=3, hands=["R1 R2", "Y1", "V1"], turn_limit=4)
    play(state, "discard R1", "draw", "discard Y1", "draw", "discard V1", "draw")
    assert (state.turn, state.over) == (4, False)
    play(state, "discard R2", "draw")
    assert state.over


def test_nothing_is_legal_once_the_game_is_over() -> None:
    state = keltis(hands=["R3", "Y1"], turn_limit=1)
    play(state, "discard R3", "draw")
    with pytest.raises(IllegalAction, match="the game is over"):
        play(state, "discard Y1")


# Scores


@pytest.mark.parametrize(("stone", "value"), VALUES)
def test_a_figure_is_worth_its_stone_and_the_big_one_twice_that_also_below_zero(
    stone: int, value: int
) -> None:
    state = keltis(figures=[f"V{stone}", f"big V{stone}"])
    assert [seat["figures"] for seat in state.breakdown()] == [value, 2 * value]


def test_figures_at_the_start_are_worth_nothing() -> None:
    assert [seat["figures"] for seat in keltis().breakdown()] == [0, 0]


@pytest.mark.parametrize("path", ["R", "Y", "V", "G", "B"])
def test_all_paths_have_the_same_values(path: str) -> None:
    for stone, value in VALUES:
        assert keltis(figures=[f"{path}{stone}"]).breakdown()[0]["figures"] == value


@pytest.mark.parametrize(
    ("stones", "points"),
    [(0, -4), (1, -3), (2, 2), (3, 3), (4, 6), (5, 10), (6, 10), (7, 10), (8, 10), (9, 10)],
)
def test_wish_stones_score_by_their_number(stones: int, points: int) -> None:
    state = keltis(wishes=[0, stones])
    assert [seat["wish_stones"] for seat in state.breakdown()] == [-4, points]


def test_a_score_adds_tiles_figures_and_wish_stones() -> None:
    state = keltis(figures=["big R7, Y2, B4", "big G1"], points=[5, 2], wishes=[3, 1])
    assert state.breakdown() == [
        {"tiles": 5, "figures": 2 * 6 - 3 + 1, "wish_stones": 3},
        {"tiles": 2, "figures": 2 * -4, "wish_stones": -3},
    ]
    assert state.scores() == [18, -9]
    assert state.winners() == [0]


def test_equal_totals_share_the_win_and_nothing_breaks_the_tie() -> None:
    # 10 points each: from five wish stones, from an end stone, from tiles.
    state = keltis(players=4, figures=["", "Y9"], points=[0, 4, 14, 13], wishes=[5])
    assert state.scores() == [10, 10, 10, 9]
    assert state.winners() == [0, 1, 2]


def test_totals_may_be_negative_and_the_least_bad_one_wins() -> None:
    state = keltis(figures=["big R1", "R1"])
    assert (state.scores(), state.winners()) == ([-12, -8], [1])
