"""How a game of ``kartenspiel`` ends, the final cards, and what it is worth."""

import pytest

from keltis_engine.games.kartenspiel import KartenspielState
from tests.engine.support.situations import hand, kartenspiel, legal, play, row

# Four rows with an end card; the next one ends the game.
FOUR_ENDED = ["R5 RE Y6 YE", "RE V7 VE"]


def final_order(state: KartenspielState) -> list[int]:
    """Return the seats in the order in which they are asked for final cards; all lay none."""
    seats = []
    while not state.over:
        assert state.phase == "final"
        seats.append(int(state.seat))
        play(state, "done")
    assert legal(state) == []
    return seats


# Five end cards


def test_the_fifth_row_with_an_end_card_ends_the_game_without_a_draw() -> None:
    state = kartenspiel(hands=["BE", "B1"], rows=FOUR_ENDED, pile=["G1", "G2"])
    play(state, "lay BE")
    assert (state.phase, state.seat) == ("final", 1)
    assert (hand(state, 0), state.reveal()["pile"]["size"]) == ("", 2)


def test_the_fourth_row_with_an_end_card_does_not() -> None:
    state = kartenspiel(hands=["BE"], rows=["R5 RE Y6 YE", "RE"])
    play(state, "lay BE")
    assert state.phase == "draw"


def test_a_row_with_two_end_cards_counts_once() -> None:
    state = kartenspiel(hands=["YE BE", "B1"], rows=FOUR_ENDED)
    play(state, "lay YE")
    assert (state.phase, state.reveal()["ended_rows"]) == ("draw", 4)
    play(state, "draw", "discard B1", "draw", "lay BE")
    assert state.phase == "final"


def test_laying_a_number_card_beside_four_ended_rows_goes_on() -> None:
    state = kartenspiel(hands=["B3"], rows=FOUR_ENDED)
    play(state, "lay B3")
    assert state.phase == "draw"


# The last card


def test_drawing_the_last_card_leads_to_the_final_cards_and_it_may_be_one_of_them() -> None:
    state = kartenspiel(hands=["R3", "B1"], pile=["G1"])
    play(state, "discard R3", "draw")
    assert (state.phase, state.seat) == ("final", 1)
    play(state, "done")
    assert legal(state) == ["add G1", "done"]


def test_the_last_card_drawn_first_of_two_leaves_no_second_draw() -> None:
    state = kartenspiel(hands=["R3 B3", "B1"], piles="Y8", pile=["G1"])
    play(state, "pair R3 B3", "draw")
    assert (state.phase, state.seat, hand(state, 0)) == ("final", 1, "G1")


def test_the_last_card_may_be_drawn_second_of_two() -> None:
    state = kartenspiel(hands=["R3 B3", "B1"], piles="Y8", pile=["G1"])
    play(state, "pair R3 B3", "take Y", "draw")
    assert (state.phase, state.seat, hand(state, 0)) == ("final", 1, "Y8 G1")


def test_taking_from_a_discard_pile_leaves_the_last_card_and_the_game_goes_on() -> None:
    state = kartenspiel(hands=["R3", "B1"], piles="Y8", pile=["G1"])
    play(state, "discard R3", "take Y")
    assert (state.phase, state.seat) == ("turn", 1)


# The turn limit


@pytest.mark.parametrize(
    ("actions", "draws"), [("discard R3", ["take Y"]), ("pair R3 B3", ["draw", "take Y"])]
)
def test_a_turn_limit_of_1_leads_to_the_final_cards_after_the_draws_of_the_first_turn(
    actions: str, draws: list[str]
) -> None:
    state = kartenspiel(hands=["R3 B3", "B1"], piles="Y8", turn_limit=1)
    play(state, actions)
    for draw in draws:
        assert state.phase == "draw"
        play(state, draw)
    assert (state.phase, state.seat) == ("final", 1)
    assert final_order(state) == [1, 0]


def test_the_turn_limit_counts_the_turns_of_all_seats() -> None:
    state = kartenspiel(players=3, hands=["R1", "Y1", "V1"], turn_limit=2)
    play(state, "discard R1", "draw")
    assert state.phase == "turn"
    play(state, "discard Y1", "draw")
    assert final_order(state) == [2, 0, 1]


# The final cards


@pytest.mark.parametrize(
    ("players", "ender", "order"),
    [(2, 0, [1, 0]), (2, 1, [0, 1]), (3, 1, [2, 0, 1]), (4, 2, [3, 0, 1, 2]), (4, 3, [0, 1, 2, 3])],
)
@pytest.mark.parametrize("ending", ["end card", "last card", "turn limit"])
def test_final_cards_go_clockwise_from_the_left_of_the_one_who_ended_the_game_and_he_is_last(
    players: int, ender: int, order: list[int], ending: str
) -> None:
    hands = ["BE" if seat == ender else "" for seat in range(players)]
    if ending == "end card":
        state = kartenspiel(players=players, hands=hands, rows=FOUR_ENDED, seat=ender)
        play(state, "lay BE")
    elif ending == "last card":
        state = kartenspiel(players=players, hands=hands, pile=["G1"], seat=ender)
        play(state, "discard BE", "draw")
    else:
        state = kartenspiel(players=players, hands=hands, turn_limit=1, seat=ender)
        play(state, "discard BE", "draw")
    assert state.reveal()["ended_by"] == ender
    assert final_order(state) == order


@pytest.mark.parametrize(
    ("actions", "seat"),
    [
        ([], 1),
        (["add B1"], 1),
        (["add B1", "add B2"], 0),  # two are enough
        (["add B1", "done"], 0),
        (["done"], 0),
    ],
)
def test_each_player_may_lay_up_to_two_final_cards(actions: list[str], seat: int) -> None:
    state = kartenspiel(hands=["YE", "B1 B2 B3"], rows=["R5 RE GE", "RE VE"])
    play(state, "lay YE", *actions)
    assert (state.phase, state.seat) == ("final", seat)


def test_the_second_final_card_may_build_on_the_first() -> None:
    state = kartenspiel(hands=["BE", "G5 G6 P5 P9"], rows=FOUR_ENDED)
    play(state, "lay BE")
    assert legal(state) == ["add G5", "add G6", "add P5", "add P9", "done"]
    play(state, "add G5")
    assert legal(state) == ["add G6", "add P5", "add P9", "add P5 on G", "done"]
    play(state, "add P5 on G")
    assert row(state, 1, "G") == "G5 P5"


def test_final_cards_go_into_colour_rows_and_the_points_row() -> None:
    state = kartenspiel(hands=["R3", "R0 P10"], pile=["G1"])
    play(state, "discard R3", "draw", "add R0", "add P10")
    assert (row(state, 1, "R"), hand(state, 1)) == ("R0", "")
    assert state.reveal()["points_rows"][1] == ["P10"]


def test_final_cards_follow_the_row_rules() -> None:
    state = kartenspiel(hands=["BE", "G8 G2 R5 V9"], rows=["R5 RE Y6 YE", "RE V7 VE G6 G4"])
    play(state, "lay BE")
    assert legal(state) == ["add G2", "done"]


def test_final_cards_are_no_pairs_and_nothing_is_drawn_or_discarded() -> None:
    state = kartenspiel(hands=["BE", "G3 B3"], rows=FOUR_ENDED, piles="Y3")
    play(state, "lay BE")
    assert legal(state) == ["add G3", "add B3", "done"]
    play(state, "add G3", "add B3", "done")
    assert state.over
    assert state.reveal()["wish_stones"] == [[], []]


def test_end_cards_among_the_final_cards_have_no_further_effect() -> None:
    state = kartenspiel(
        players=3, hands=["", "GE VE BE", "YE BE"], rows=["R5 RE Y6 YE GE"], pile=["G1"]
    )
    state.seat = 2
    play(state, "discard BE", "draw")  # the last card; three rows have ended
    play(state, "done")
    play(state, "add GE", "add VE")  # the fifth of them
    assert (state.phase, state.seat) == ("final", 2)
    play(state, "add YE", "done")
    assert state.over
    assert [seat["rows"] for seat in state.breakdown()] == [-3 - 3 - 4, -4 - 4, -4]


def test_the_option_against_opening_with_an_end_card_binds_the_final_cards_too() -> None:
    state = kartenspiel(hands=["R3", "BE B4 YE"], pile=["G1"], end_card_opens_row=0)
    play(state, "discard R3", "draw")
    assert legal(state) == ["add B4", "done"]
    play(state, "add B4")
    assert legal(state) == ["add BE", "done"]


def test_a_player_without_a_fitting_card_can_only_be_done() -> None:
    state = kartenspiel(hands=["BE", "R7"], rows=FOUR_ENDED)
    play(state, "lay BE")
    assert legal(state) == ["done"]


# Scores

LONG_ROW = "R0 R1 R2 R3 R3 R4 R4 R5 R5 R6 R6 R7 R7 R8 R9 R10 RE RE"


@pytest.mark.parametrize(
    ("cards", "points"),
    [(0, 0), (1, -4), (2, -3), (3, -2), (4, 1), (5, 2), (6, 3), (7, 6), (8, 7), (9, 10)]
    + [(cards, 10) for cards in range(10, 19)],
)
def test_a_row_scores_by_its_number_of_cards(cards: int, points: int) -> None:
    state = kartenspiel(rows=["", " ".join(LONG_ROW.split()[:cards])])
    assert [seat["rows"] for seat in state.breakdown()] == [0, points]


def test_end_cards_and_points_cards_count_for_the_length_of_a_row() -> None:
    assert kartenspiel(rows=["R5 P5/R RE RE"]).breakdown()[0]["rows"] == 1


@pytest.mark.parametrize(
    ("stones", "points"),
    [(0, -4), (1, -1), (2, 0), (3, 4), (4, 6), (5, 10), (6, 10), (7, 10), (8, 10), (9, 10)],
)
def test_wish_stones_score_by_their_number(stones: int, points: int) -> None:
    state = kartenspiel(wishes=[[], range(9, 9 - stones, -1)])
    assert [seat["wish_stones"] for seat in state.breakdown()] == [-4, points]


@pytest.mark.parametrize("cards", range(12))
def test_the_points_row_scores_one_point_for_each_card(cards: int) -> None:
    state = kartenspiel(rows=[" ".join(f"P{value}" for value in range(cards))])
    assert state.breakdown()[0]["points_row"] == cards


def test_a_score_adds_all_rows_the_points_row_and_wish_stones() -> None:
    state = kartenspiel(rows=["R3 R4 R5 R6 Y9 P1 P2", "B1"], wishes=[[1, 4, 9], [2]])
    assert state.breakdown() == [
        {"rows": 1 - 4, "points_row": 2, "wish_stones": 4},
        {"rows": -4, "points_row": 0, "wish_stones": -1},
    ]
    assert state.scores() == [3, -5]
    assert state.winners() == [0]
