"""The rules of ``kartenspiel``: turns, rows, pairs and draws."""

from collections import Counter

import pytest

from keltis_engine import find_variant
from tests.engine.support.situations import hand, kartenspiel, legal, pile, play, row

# Material


@pytest.mark.parametrize(("players", "pile_size", "removed"), [(2, 55, 30), (3, 77, 0), (4, 69, 0)])
def test_101_cards_eight_each_and_30_left_out_for_two(
    players: int, pile_size: int, removed: int
) -> None:
    view = find_variant("kartenspiel").deal(players, 2).reveal()
    assert [seat["size"] for seat in view["hands"]] == [8] * players
    assert (view["pile"]["size"], view["removed"]["size"]) == (pile_size, removed)
    cards = Counter[str](view["removed"]["cards"])
    for place in view["pile"]["cards"] + [seat["cards"] for seat in view["hands"]]:
        cards.update(place)
    once = {f"{c}{value}": 1 for c in "RYVGB" for value in (0, 1, 2, 8, 9, 10)}
    twice = {f"{c}{value}": 2 for c in "RYVGB" for value in (3, 4, 5, 6, 7, "E")}
    assert cards == once | twice | {f"P{value}": 1 for value in range(11)}
    assert cards.total() == 101


def test_the_wish_stones_1_to_9_lie_open() -> None:
    view = find_variant("kartenspiel").deal(4, 2).reveal()
    assert view["wish_row"] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert view["wish_stones"] == [[], [], [], []]


# A: discard one card


@pytest.mark.parametrize(
    ("card", "letter"), [("R3", "R"), ("BE", "B"), ("G10", "G"), ("P0", "P"), ("P10", "P")]
)
def test_a_card_is_discarded_on_the_pile_of_its_colour_or_of_points_cards(
    card: str, letter: str
) -> None:
    state = kartenspiel(hands=[card])
    assert f"discard {card}" in legal(state)
    play(state, f"discard {card}")
    assert (pile(state, letter), hand(state, 0), state.phase) == (card, "", "draw")


@pytest.mark.parametrize(
    ("card", "sources"),
    [
        ("R3", ["draw", "take B", "take P"]),
        ("RE", ["draw", "take B", "take P"]),
        ("P3", ["draw", "take R", "take B"]),
    ],
)
def test_the_pile_of_the_discarded_card_is_closed_this_turn_older_cards_included(
    card: str, sources: list[str]
) -> None:
    state = kartenspiel(hands=[card], piles="R7 R8 B2 P9")
    play(state, f"discard {card}")
    assert legal(state) == sources


def test_a_pile_closed_by_one_seat_is_open_for_the_next() -> None:
    state = kartenspiel(hands=["R3", "Y1"])
    play(state, "discard R3", "draw", "discard Y1")
    assert legal(state) == ["draw", "take R"]


# B: pairs


@pytest.mark.parametrize(
    ("cards", "pairs"),
    [
        ("R3 B3", ["R3 B3"]),
        ("R3 R3", ["R3 R3"]),  # twins
        ("B7 B7 Y7", ["Y7 B7", "B7 B7"]),
        ("R5 P5", ["R5 P5"]),  # a points card as partner
        ("R4 R4 B4 P4", ["R4 R4", "R4 B4", "R4 P4", "B4 P4"]),
        ("R1 Y1 V9 G9", ["R1 Y1", "V9 G9"]),
        ("Y8 B8 P8", ["Y8 B8", "Y8 P8", "B8 P8"]),
        ("R0 B0 P0", []),  # there is no wish stone 0 or 10
        ("R10 B10 P10", []),
        ("RE BE", []),  # end cards have no value
        ("RE RE", []),
        ("R5 B6", []),
        ("P5 P6", []),
        ("R5", []),
        ("P5", []),
    ],
)
def test_which_cards_are_pairs(cards: str, pairs: list[str]) -> None:
    assert legal(kartenspiel(hands=[cards]), "pair") == [f"pair {pair}" for pair in pairs]


def test_a_turn_offers_laying_then_discarding_then_pairs_and_nothing_else() -> None:
    state = kartenspiel(hands=["Y4 B4 B4 P4"])
    lay = ["lay Y4", "lay B4", "lay P4"]
    discard = ["discard Y4", "discard B4", "discard P4"]
    pairs = ["pair Y4 B4", "pair Y4 P4", "pair B4 B4", "pair B4 P4"]
    assert legal(state) == lay + discard + pairs


@pytest.mark.parametrize("owner", [0, 1])
def test_no_pair_without_its_wish_stone_whoever_took_it(owner: int) -> None:
    taken = [[3], []] if owner == 0 else [[], [3]]
    state = kartenspiel(hands=["R3 B3 R4 B4"], wishes=taken)
    assert legal(state, "pair") == ["pair R4 B4"]


@pytest.mark.parametrize(
    ("pair", "piles"),
    [
        ("R3 B3", {"R": "R3", "B": "B3"}),
        ("R3 R3", {"R": "R3 R3"}),
        ("R3 P3", {"R": "R3", "P": "P3"}),
    ],
)
def test_a_pair_is_discarded_for_the_wish_stone_of_its_value_and_two_draws(
    pair: str, piles: dict[str, str]
) -> None:
    state = kartenspiel(hands=[f"{pair} Y9"], pile=["G1 G2 G8", "V1 V2"])
    play(state, f"pair {pair}")
    assert {letter: pile(state, letter) for letter in piles} == piles
    assert state.reveal()["wish_stones"] == [[3], []]
    assert state.reveal()["wish_row"] == [1, 2, 4, 5, 6, 7, 8, 9]
    play(state, "draw")
    assert (state.phase, state.seat) == ("draw", 0)
    play(state, "draw")
    assert (state.phase, state.seat, hand(state, 0)) == ("turn", 1, "Y9 G1 G2")


@pytest.mark.parametrize(
    ("pair", "sources"),
    [
        ("R3 B3", ["draw", "take Y", "take P"]),
        ("R3 R3", ["draw", "take Y", "take B", "take P"]),
        ("B3 P3", ["draw", "take R", "take Y"]),
    ],
)
def test_the_piles_of_a_pair_are_closed_for_both_draws_older_cards_included(
    pair: str, sources: list[str]
) -> None:
    state = kartenspiel(hands=[pair], piles="R7 B7 P7 Y7 Y8")
    play(state, f"pair {pair}")
    assert legal(state) == sources
    play(state, "take Y")
    assert (state.seat, legal(state)) == (0, sources)
    play(state, "take Y")
    assert (state.seat, hand(state, 0)) == (1, "Y7 Y8")


def test_the_sources_of_the_two_draws_are_chosen_one_at_a_time() -> None:
    state = kartenspiel(hands=["R3 B3"], piles="Y8", pile=["G1 G2", "V1"])
    play(state, "pair R3 B3", "draw")
    assert legal(state) == ["draw", "take Y"]
    play(state, "take Y")
    assert hand(state, 0) == "Y8 G1"


def test_the_turn_after_a_pair_has_one_draw_again() -> None:
    state = kartenspiel(hands=["R3 B3", "Y1"])
    play(state, "pair R3 B3", "draw", "draw", "discard Y1", "draw")
    assert (state.seat, state.phase) == (0, "turn")


# C: number cards and end cards

NUMBERS = "R2 R3 R6 R9"


@pytest.mark.parametrize(
    ("rows", "fitting"),
    [
        ("", "R2 R3 R6 R9 RE"),
        ("R5", "R2 R3 R6 R9 RE"),
        ("R5 R4", "R2 R3 RE"),
        ("R4 R5", "R6 R9 RE"),
        ("R5 RE", "RE"),  # no number card follows an end card
        ("RE", "RE"),  # not even on an end card that opened the row
        ("R5 R4 RE", "RE"),
    ],
)
def test_what_fits_into_a_row(rows: str, fitting: str) -> None:
    state = kartenspiel(hands=[f"{NUMBERS} RE"], rows=[rows])
    assert legal(state, "lay") == [f"lay {card}" for card in fitting.split()]


@pytest.mark.parametrize("rows", ["R5 R4 RE RE", "RE RE"])
def test_the_second_end_card_closes_the_row(rows: str) -> None:
    state = kartenspiel(hands=[f"{NUMBERS} P4 Y1"], rows=[rows])
    assert legal(state, "lay") == ["lay Y1", "lay P4"]  # P4 into the points row


@pytest.mark.parametrize(
    ("option", "rows", "fitting"),
    [
        (1, "", "R2 RE YE"),
        (0, "", "R2"),
        (0, "R5", "R2 RE"),
        (0, "R5 RE", "RE"),
        (0, "Y5 YE R7 R5", "R2 RE YE"),
    ],
)
def test_an_end_card_may_open_a_row_unless_the_option_forbids_it(
    option: int, rows: str, fitting: str
) -> None:
    state = kartenspiel(hands=["R2 RE YE"], rows=[rows], end_card_opens_row=option)
    assert legal(state, "lay") == [f"lay {card}" for card in fitting.split()]


def test_rows_belong_to_one_player() -> None:
    state = kartenspiel(hands=["Y1", "R6"], rows=["R5 RE"])
    play(state, "discard Y1", "draw")
    assert legal(state, "lay") == ["lay R6"]


# D: points cards


@pytest.mark.parametrize(
    ("rows", "cards", "layings"),
    [
        ("", "P5", ["P5"]),  # not on an empty row
        ("R5", "P5", ["P5", "P5 on R"]),
        ("R5", "P6", ["P6"]),  # another value
        ("R5 R6", "P5", ["P5"]),  # not the last number card
        ("R5 R6", "P6", ["P6", "P6 on R"]),
        ("R5 RE", "P5", ["P5"]),  # not after an end card
        ("RE", "P5", ["P5"]),
        ("R5 Y9 Y5 B5 BE", "P5", ["P5", "P5 on R", "P5 on Y"]),
        ("R0 B10", "P0 P10", ["P0", "P10", "P0 on R", "P10 on B"]),
        ("R5 P5/R R6", "P6", ["P6", "P6 on R"]),
    ],
)
def test_where_a_points_card_may_be_laid(rows: str, cards: str, layings: list[str]) -> None:
    state = kartenspiel(hands=[cards], rows=[rows])
    assert legal(state, "lay") == [f"lay {laying}" for laying in layings]


@pytest.mark.parametrize(
    ("rows", "cards", "layings"),
    [
        ("R5 RE", "P5", ["P5", "P5 on R"]),
        ("R5 RE", "P6 R5 R6", ["P6"]),  # another value; a number card never
        ("R3 R5 RE", "P3 P5", ["P3", "P5", "P5 on R"]),
        ("RE", "P5", ["P5"]),  # there is no number card
        ("R5 RE RE", "P5", ["P5"]),  # the second end card closes the row
        ("R0 RE", "P0", ["P0", "P0 on R"]),
        ("R5 Y9 Y5 B5 BE", "P5", ["P5", "P5 on R", "P5 on Y", "P5 on B"]),
    ],
)
def test_a_points_card_may_follow_an_end_card_if_the_option_allows_it(
    rows: str, cards: str, layings: list[str]
) -> None:
    state = kartenspiel(hands=[cards], rows=[rows], points_on_end_card=1)
    assert legal(state, "lay") == [f"lay {laying}" for laying in layings]


def test_after_a_points_card_on_an_end_card_only_the_second_end_card_follows() -> None:
    state = kartenspiel(hands=["P5 RE R5 R6", "Y1"], rows=["R4 R5 RE"], points_on_end_card=1)
    assert state.reveal()["ended_rows"] == 1
    play(state, "lay P5 on R", "draw", "discard Y1", "draw")
    assert state.reveal()["rows"][0]["R"] == ["R4", "R5", "RE", "P5"]
    red = [text for text in legal(state, "lay") if text[4] == "R" or text.endswith("on R")]
    assert red == ["lay RE"]
    play(state, "lay RE", "draw")
    assert state.reveal()["ended_rows"] == 1  # the row had ended before
    assert state.reveal()["rows"][0]["R"] == ["R4", "R5", "RE", "P5", "RE"]


def test_the_points_row_takes_points_cards_in_any_order() -> None:
    state = kartenspiel(rows=["P3 P5 P2 P8"])
    assert state.reveal()["points_rows"] == [["P3", "P5", "P2", "P8"], []]
    assert state.breakdown()[0]["points_row"] == 4


def test_a_points_card_lengthens_the_row_and_scores_no_point_itself() -> None:
    state = kartenspiel(hands=["P6"], rows=["R4 R5 R6"])
    assert (state.breakdown()[0]["rows"], state.breakdown()[0]["points_row"]) == (-2, 0)
    play(state, "lay P6 on R")
    assert row(state, 0, "R") == "R4 R5 R6 P6"
    assert (state.breakdown()[0]["rows"], state.breakdown()[0]["points_row"]) == (1, 0)


@pytest.mark.parametrize(
    ("rows", "fitting"),
    [
        ("R5 P5/R", "R4 R5 R6 RE"),  # the direction stays open
        ("R7 R5 P5/R", "R4 R5 RE"),
        ("R3 R5 P5/R", "R5 R6 RE"),
        ("R9 R8 P8/R R5 R3", "RE"),  # 9 8 8 5 3 of the rule sheet
    ],
)
def test_a_points_card_does_not_change_the_direction_of_a_row(rows: str, fitting: str) -> None:
    state = kartenspiel(hands=["R4 R5 R6 RE"], rows=[rows])
    assert legal(state, "lay") == [f"lay {card}" for card in fitting.split()]


def test_the_first_other_value_after_a_points_card_fixes_the_direction() -> None:
    state = kartenspiel(hands=["R6 R4 R5 R7", "Y1"], rows=["R5 P5/R"])
    play(state, "lay R6", "draw", "discard Y1", "draw")
    assert legal(state, "lay R") == ["lay R7"]


def test_one_card_is_drawn_after_laying_and_no_pile_is_closed() -> None:
    state = kartenspiel(hands=["R6", "Y1"], piles="R3")
    play(state, "lay R6")
    assert legal(state) == ["draw", "take R"]
    play(state, "take R")
    assert (state.seat, state.phase) == (1, "turn")
