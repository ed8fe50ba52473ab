"""The rules of ``neue-wege``: moves, tiles, dropping and drawing cards, and endings."""

import pytest

from tests.engine.support.situations import figures, hand, legal, neue_wege, pile, play, row

DROP = {"6b": "drop"}  # a figure on 5b gets there with a blue card


def test_the_route_of_the_rule_sheet_ends_with_an_open_row_of_10() -> None:
    state = neue_wege(
        hands=["R3 G2 B10 B3 B4 B10", "Y1 Y2 Y3 Y4"],
        figures=["2a"],
        tiles={"3a": "3", "5b": "wish V", "6b": "drop"},
        pile=["V1 V2 V3 V4 V5", "G5 G6 G7 G8 G9"],
    )
    play(state, "lay R3", "move 2a-3a", "draw", "discard Y1", "draw")
    assert state.reveal()["points"] == [3, 0]
    play(state, "lay G2", "move 3a-4a", "draw", "discard Y2", "draw")
    assert figures(state, 0) == "4a"
    play(state, "lay B10", "move 4a-5b", "draw", "discard Y3", "draw")
    assert state.reveal()["wish_stones"][0] == {"R": 0, "Y": 0, "V": 1, "G": 0, "B": 0}
    play(state, "lay B3", "move 5b-6b")
    assert (row(state, 0, "B"), state.phase) == ("B10 B3", "drop")
    play(state, "drop row B")
    assert (row(state, 0, "B"), pile(state, "B"), figures(state, 0)) == ("B10", "B3", "6b")
    play(state, "draw", "discard Y4", "draw")
    assert legal(state, "lay B") == ["lay B4", "lay B10"]


# Moving


@pytest.mark.parametrize(
    ("before", "card", "moves"),
    [
        ("", "R3", "start-1a start-1c"),
        ("", "V3", "start-1c"),
        ("", "G3", "start-1c"),
        ("4a, 3b", "B3", "start-1c start-1d 3b-4a 4a-5a 4a-5b"),
        ("4a, 3b", "V3", "start-1c 3b-4a 3b-4b 4a-5a"),
        ("9b, 10b", "R3", "start-1a start-1c 9b-10b"),
    ],
)
def test_a_card_moves_any_own_figure_onto_its_colour_or_a_joker(
    before: str, card: str, moves: str
) -> None:
    state = neue_wege(hands=[card], figures=[before])
    play(state, f"lay {card}")
    assert state.phase == "move"
    assert legal(state) == [f"move {edge}" for edge in moves.split()]


def test_a_card_that_moves_no_figure_can_only_be_discarded() -> None:
    state = neue_wege(hands=["R3 Y3 V3"], figures=["big 1a, 1a, 1a, 1a, 1a"])
    assert legal(state) == ["lay R3", "discard R3", "discard Y3", "discard V3"]


def test_a_figure_on_an_end_field_gives_no_extra_move() -> None:
    state = neue_wege(hands=["R3 B3"], figures=["big 10b, 10b, 10d, 10d, 1a"])
    assert legal(state, "lay") == ["lay R3"]
    play(state, "lay R3")
    assert legal(state) == ["move 1a-2a"]


def test_a_card_that_would_move_a_figure_must_fit_its_row_too() -> None:
    state = neue_wege(hands=["R9"], rows=["R8 R5"], figures=["1a"])
    assert legal(state) == ["discard R9"]


@pytest.mark.parametrize(
    ("before", "phase", "choices"),
    [
        ("big 3a, 3a", "figure", ["small", "big"]),
        ("3a, 3a", "draw", ["draw"]),
        ("big 3a", "draw", ["draw"]),
        ("big 3a, 2a", "draw", ["draw"]),
    ],
)
def test_the_figure_is_asked_for_only_where_the_big_one_and_a_small_one_stand_together(
    before: str, phase: str, choices: list[str]
) -> None:
    state = neue_wege(hands=["G3"], figures=[before])
    play(state, "lay G3", "move 3a-4a")
    assert (state.phase, legal(state)) == (phase, choices)


@pytest.mark.parametrize(("choice", "after"), [("small", "big 3a, 4a"), ("big", "big 4a, 3a")])
def test_the_named_figure_moves_and_the_other_stays(choice: str, after: str) -> None:
    state = neue_wege(hands=["G3"], figures=["big 3a, 3a"])
    play(state, "lay G3", "move 3a-4a", choice)
    assert figures(state, 0) == after


def test_own_and_other_figures_share_a_field() -> None:
    state = neue_wege(hands=["G3"], figures=["3a, 4a", "big 4a"])
    play(state, "lay G3", "move 3a-4a")
    assert (figures(state, 0), figures(state, 1)) == ("4a, 4a", "big 4a")


# Tiles and stacks


def test_points_tiles_pay_every_visitor_and_the_big_figure_does_not_double_them() -> None:
    state = neue_wege(hands=["R3", "R4"], figures=["big 2a", "2a"], tiles={"3a": "2"})
    play(state, "lay R3", "move 2a-3a", "draw", "lay R4", "move 2a-3a")
    assert state.reveal()["points"] == [2, 2]
    assert state.reveal()["tiles"] == {"3a": "2"}


def test_a_clover_moves_along_any_edge_whatever_its_colour_also_from_the_start() -> None:
    state = neue_wege(hands=["R3"], figures=["2a, 6b"], tiles={"3a": "clover"})
    play(state, "lay R3", "move 2a-3a")
    edges = "start-1a start-1b start-1c start-1d 3a-4a 6b-7b 6b-7c"
    assert legal(state) == [f"clover {edge}" for edge in edges.split()] + ["stay"]


@pytest.mark.parametrize(
    ("actions", "phase", "after"),
    [
        (["stay"], "draw", "3a"),
        (["clover 3a-4a"], "draw", "4a"),
        (["clover start-1a"], "figure", "3a"),
        (["clover start-1a", "small"], "draw", "1a, 3a"),
        (["clover start-1d", "big"], "draw", "big 1d, 3a"),
    ],
)
def test_what_a_clover_moves(actions: list[str], phase: str, after: str) -> None:
    state = neue_wege(hands=["R3"], figures=["2a"], tiles={"3a": "clover"})
    play(state, "lay R3", "move 2a-3a", *actions)
    assert (state.phase, figures(state, 0)) == (phase, after)
    assert state.reveal()["tiles"] == {"3a": "clover"}


def test_clovers_chain_and_may_end_on_a_drop_tile() -> None:
    tiles = {"5b": "clover", "3a": "clover", "6b": "drop"}
    state = neue_wege(hands=["B3"], figures=["4a, 2a"], tiles=tiles)
    play(state, "lay B3", "move 4a-5b", "clover 2a-3a", "clover 5b-6b")
    assert (state.phase, figures(state, 0)) == ("drop", "3a, 6b")


def test_a_wish_tile_is_taken_by_the_first_visitor_only() -> None:
    state = neue_wege(hands=["R3", "R4"], figures=["2a", "2a"], tiles={"3a": "wish G"})
    play(state, "lay R3", "move 2a-3a", "draw", "lay R4", "move 2a-3a")
    assert [stones["G"] for stones in state.reveal()["wish_stones"]] == [1, 0]
    assert state.reveal()["tiles"] == {}


@pytest.mark.parametrize(
    ("field", "source", "card", "letter"),
    [
        ("2a", "1a", "R3", "R"),
        ("2d", "1d", "B3", "B"),
        ("3b", "2b", "Y3", "Y"),
        ("6a", "5a", "G3", "G"),
        ("6e", "5d", "V3", "V"),
    ],
)
def test_a_stack_gives_a_stone_of_its_colour_while_it_lasts(
    field: str, source: str, card: str, letter: str
) -> None:
    for before, after, stones in ((5, 4, 1), (1, 0, 1), (0, 0, 0)):
        state = neue_wege(hands=[card], figures=[source], stacks={field: before})
        play(state, f"lay {card}", f"move {source}-{field}")
        assert state.phase == "draw"
        assert state.reveal()["stacks"][field] == after
        assert state.reveal()["wish_stones"][0][letter] == stones


def test_a_stack_gives_its_stone_to_a_figure_moved_by_a_clover_too() -> None:
    state = neue_wege(hands=["R3"], figures=["2a, 1d"], tiles={"3a": "clover"})
    play(state, "lay R3", "move 2a-3a", "clover 1d-2d")
    assert state.reveal()["wish_stones"][0]["B"] == 1


# Dropping a card


def test_a_drop_tile_offers_the_last_card_of_each_row_each_card_in_hand_and_to_keep() -> None:
    state = neue_wege(hands=["B3 R1 Y2"], rows=["R5 R4 V9"], figures=["5b"], tiles=DROP)
    play(state, "lay B3", "move 5b-6b")
    rows = ["drop row R", "drop row V", "drop row B"]
    assert legal(state) == [*rows, "drop hand R1", "drop hand Y2", "keep"]


@pytest.mark.parametrize(
    ("action", "rows", "cards", "piles", "draws"),
    [
        ("keep", ("R5 R4", "B3"), "Y2", ("", ""), 1),
        ("drop row R", ("R5", "B3"), "Y2", ("R4", ""), 1),
        ("drop row B", ("R5 R4", ""), "Y2", ("", "B3"), 1),
        ("drop hand Y2", ("R5 R4", "B3"), "", ("", ""), 2),
    ],
)
def test_what_a_drop_does(
    action: str, rows: tuple[str, str], cards: str, piles: tuple[str, str], draws: int
) -> None:
    state = neue_wege(hands=["B3 Y2"], rows=["R5 R4"], figures=["5b"], tiles=DROP)
    play(state, "lay B3", "move 5b-6b", action)
    assert (row(state, 0, "R"), row(state, 0, "B")) == rows
    assert (pile(state, "R"), pile(state, "B")) == piles
    assert (hand(state, 0), state.phase, state.reveal()["draws"]) == (cards, "draw", draws)
    assert (figures(state, 0), state.reveal()["tiles"]) == ("6b", DROP)
    play(state, *["draw"] * draws)
    assert (state.phase, state.seat) == ("turn", 1)


@pytest.mark.parametrize(
    ("before", "fitting"),
    [
        ("R10 R3", "R0 R5 R10"),
        ("R10 R10 R3", "R0 R5"),
        ("R6 R4 R1", "R0"),
        ("R7", "R0 R5 R10"),
    ],
)
def test_a_drop_from_a_row_works_its_direction_out_again(before: str, fitting: str) -> None:
    cards = "R0 R5" if before.count("R10") == 2 else "R0 R5 R10"
    state = neue_wege(
        hands=[f"B3 {cards}", "Y1"], rows=[before], figures=["5b, 1a"], tiles=DROP,
        pile=["Y5 Y6", "Y7 Y8"],
    )  # fmt: skip
    play(state, "lay B3", "move 5b-6b", "drop row R", "draw", "discard Y1", "draw")
    assert legal(state, "lay R") == [f"lay {card}" for card in fitting.split()]


# Drawing


@pytest.mark.parametrize(
    ("action", "sources"),
    [
        ("keep", ["draw", "take R", "take Y", "take B"]),
        ("drop row R", ["draw", "take Y", "take B"]),
        ("drop row B", ["draw", "take R", "take Y"]),
        ("drop hand Y2", ["draw", "take R", "take B"]),
    ],
)
def test_the_pile_of_the_dropped_card_is_closed_older_cards_included(
    action: str, sources: list[str]
) -> None:
    state = neue_wege(hands=["B3 Y2"], rows=["R5 R4"], figures=["5b"], tiles=DROP, piles="R9 Y9 B9")
    play(state, "lay B3", "move 5b-6b", action)
    assert legal(state) == sources


def test_after_a_drop_from_the_hand_the_pile_stays_closed_for_both_draws() -> None:
    state = neue_wege(hands=["B3 Y2", "G1"], figures=["5b"], tiles=DROP, piles="Y9 R8 R9")
    play(state, "lay B3", "move 5b-6b", "drop hand Y2", "take R")
    assert (state.seat, legal(state)) == (0, ["draw", "take R"])
    assert state.reveal()["draws"] == 1
    play(state, "take R")
    assert (state.seat, hand(state, 0)) == (1, "R8 R9")
    play(state, "discard G1")
    assert legal(state) == ["draw", "take Y"]


def test_a_discard_closes_its_pile_and_is_followed_by_one_draw() -> None:
    state = neue_wege(hands=["Y2", "G1"], piles="Y9 R9")
    play(state, "discard Y2")
    assert legal(state) == ["draw", "take R"]
    play(state, "take R")
    assert state.seat == 1


def test_the_turn_after_a_double_draw_has_one_draw_again() -> None:
    state = neue_wege(hands=["B3 Y2", "G1"], figures=["5b"], tiles=DROP)
    play(state, "lay B3", "move 5b-6b", "drop hand Y2", "draw", "draw", "discard G1", "draw")
    assert (state.seat, state.phase) == (0, "turn")


# Endings


@pytest.mark.parametrize("tile", ["2", "clover", "drop", "wish R"])
def test_the_fifth_figure_in_rows_8_to_10_ends_the_game_without_its_tile_and_without_a_draw(
    tile: str,
) -> None:
    state = neue_wege(
        hands=["G3"], figures=["7a, 9b", "big 8a, 8a, 10c"], tiles={"8a": tile}, pile=["Y1", "Y2"]
    )
    play(state, "lay G3", "move 7a-8a")
    view = state.reveal()
    assert state.over
    assert (view["points"], view["tiles"], view["pile"]["size"]) == ([0, 0], {"8a": tile}, 2)
    assert set(view["wish_stones"][0].values()) == {0}


def test_the_fourth_figure_in_the_goal_still_gets_its_tile() -> None:
    state = neue_wege(hands=["G3"], figures=["7a, 9b", "big 8a, 10c"], tiles={"8a": "2"})
    play(state, "lay G3", "move 7a-8a")
    assert (state.phase, state.reveal()["points"]) == ("draw", [2, 0])


@pytest.mark.parametrize(
    ("mine", "card", "edge", "others"),
    [
        ("6a", "G3", "6a-7a", "9a, 8a, 8a, 10c"),
        ("8a", "R3", "8a-9b", "9a, 8a, 10c"),
        ("9b", "R3", "9b-10b", "9a, 8a, 10c"),
    ],
)
def test_only_the_step_from_row_7_to_row_8_counts(
    mine: str, card: str, edge: str, others: str
) -> None:
    state = neue_wege(hands=[card], figures=[mine, others])
    play(state, f"lay {card}", f"move {edge}")
    assert (state.phase, state.reveal()["in_goal"]) == ("draw", 4)


def test_a_clover_may_bring_the_fifth_figure_into_the_goal() -> None:
    state = neue_wege(
        hands=["R3"], figures=["2a, 7a", "9a, 8a, 8a, 10c"], tiles={"3a": "clover", "8a": "3"}
    )
    play(state, "lay R3", "move 2a-3a", "clover 7a-8a")
    assert (state.over, state.reveal()["points"]) == (True, [0, 0])


def test_drawing_the_last_card_ends_the_game() -> None:
    state = neue_wege(hands=["R3", "Y1"], pile=["G1"])
    play(state, "discard R3", "draw")
    assert state.over


def test_the_last_card_drawn_first_of_two_ends_the_game_there() -> None:
    state = neue_wege(hands=["B3 Y2"], figures=["5b"], tiles=DROP, piles="R9", pile=["G1"])
    play(state, "lay B3", "move 5b-6b", "drop hand Y2", "draw")
    assert state.over
    assert hand(state, 0) == "G1"


def test_the_last_card_may_be_drawn_second_of_two() -> None:
    state = neue_wege(hands=["B3 Y2"], figures=["5b"], tiles=DROP, piles="R9", pile=["G1"])
    play(state, "lay B3", "move 5b-6b", "drop hand Y2", "take R")
    assert (state.phase, state.seat) == ("draw", 0)
    play(state, "draw")
    assert (state.over, hand(state, 0)) == (True, "R9 G1")


def test_a_turn_limit_of_1_ends_the_game_after_all_draws_of_the_first_turn() -> None:
    state = neue_wege(hands=["B3 Y2"], figures=["5b"], tiles=DROP, turn_limit=1)
    play(state, "lay B3", "move 5b-6b", "drop hand Y2", "draw")
    assert not state.over
    play(state, "draw")
    assert state.over


def test_the_turn_limit_counts_the_turns_of_all_seats() -> None:
    state = neue_wege(players=3, hands=["R1", "Y1", "V1"], turn_limit=3)
    play(state, "discard R1", "draw", "discard Y1", "draw")
    assert (state.turn, state.over) == (3, False)
    play(state, "discard V1", "draw")
    assert state.over
