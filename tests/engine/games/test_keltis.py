"""The rules of ``keltis``: turns, moves and tiles. Endings and scores have their own file."""

from collections import Counter

import pytest

from keltis_engine import IllegalAction, find_variant
from keltis_engine.cards.kinds import KIND_NAMES
from tests.engine.support.situations import figures, hand, keltis, legal, pile, play, row

# Material and set-up


@pytest.mark.parametrize(("players", "pile_size", "removed"), [(2, 64, 30), (3, 86, 0), (4, 78, 0)])
def test_110_cards_each_kind_twice_eight_each_and_30_left_out_for_two(
    players: int, pile_size: int, removed: int
) -> None:
    view = find_variant("keltis").deal(players, 7).reveal()
    assert [seat["size"] for seat in view["hands"]] == [8] * players
    assert (view["pile"]["size"], view["removed"]["size"]) == (pile_size, removed)
    cards = Counter[str](view["removed"]["cards"])
    for place in view["pile"]["cards"] + [seat["cards"] for seat in view["hands"]]:
        cards.update(place)
    assert cards == Counter(KIND_NAMES * 2)
    assert cards.total() == 110


@pytest.mark.parametrize("seed", range(3))
def test_25_path_tiles_lie_on_the_dark_stones_and_the_end_stones(seed: int) -> None:
    tiles = find_variant("keltis").deal(2, seed).reveal()["tiles"]
    spots = {"R": "35679", "Y": "24679", "V": "23579", "G": "24579", "B": "34679"}
    assert set(tiles) == {path + stone for path, stones in spots.items() for stone in stones}
    assert Counter(tiles.values()) == {"wish": 9, "clover": 9, "1": 2, "2": 3, "3": 2}


def test_seat_0_starts_and_the_seats_follow_clockwise() -> None:
    state = keltis(players=3, hands=["R1 R2", "Y1", "V1"])
    turns = []
    for card in ("R1", "Y1", "V1", "R2"):
        turns.append(state.seat)
        play(state, f"discard {card}", "draw")
    assert turns == [0, 1, 2, 0]


# A turn


def test_every_card_may_be_discarded_also_one_that_fits() -> None:
    state = keltis(hands=["R3 B2"], rows=["B5 B4"])
    assert legal(state) == ["lay R3", "lay B2", "discard R3", "discard B2"]


def test_a_card_that_does_not_fit_can_only_be_discarded() -> None:
    state = keltis(hands=["B7"], rows=["B5 B4"])
    assert legal(state) == ["discard B7"]


def test_rows_belong_to_one_player_and_one_colour() -> None:
    state = keltis(hands=["R7 B7", "R7 B7"], rows=["B5 B4"], figures=["B2"])
    assert legal(state, "lay") == ["lay R7"]
    play(state, "discard R7", "draw")
    assert legal(state, "lay") == ["lay R7", "lay B7"]


def test_a_laid_card_leaves_the_hand_for_the_row_and_one_card_is_drawn() -> None:
    state = keltis(hands=["R3 B2"], figures=["R1"], pile=["G9", "Y1"])
    play(state, "lay R3")
    assert (state.phase, hand(state, 0), row(state, 0, "R")) == ("draw", "B2", "R3")
    play(state, "draw")
    assert (state.phase, state.seat, hand(state, 0)) == ("turn", 1, "G9 B2")


def test_only_the_top_card_of_a_pile_can_be_taken_and_all_know_who_has_it() -> None:
    state = keltis(hands=["R3"], piles="B2 B9")
    play(state, "discard R3", "take B")
    assert (hand(state, 0), pile(state, "B")) == ("B9", "B2")
    assert state.view(1)["hands"][0]["known"] == ["B9"]


# Closed piles


def test_the_pile_of_the_discarded_card_is_closed_this_turn_older_cards_included() -> None:
    state = keltis(hands=["R3"], piles="R7 R8 B2")
    play(state, "discard R3")
    assert legal(state) == ["draw", "take B"]


def test_a_pile_closed_by_one_seat_is_open_for_the_next() -> None:
    state = keltis(hands=["R3", "Y1"], piles="R7")
    play(state, "discard R3", "draw", "discard Y1")
    assert legal(state) == ["draw", "take R"]
    play(state, "take R")
    assert (hand(state, 1), pile(state, "R")) == ("R3", "R7")


def test_laying_a_card_closes_no_pile() -> None:
    state = keltis(hands=["R3"], figures=["R1"], piles="R7")
    play(state, "lay R3")
    assert legal(state) == ["draw", "take R"]


def test_empty_piles_cannot_be_taken_from() -> None:
    state = keltis(hands=["R3"])
    play(state, "discard R3")
    assert legal(state) == ["draw"]


# Which figure enters


@pytest.mark.parametrize(
    ("choice", "after"), [("small", "R1"), ("big", "big R1")], ids=["small", "big"]
)
def test_the_player_chooses_the_big_figure_or_a_small_one_to_enter(choice: str, after: str) -> None:
    state = keltis(hands=["R3"])
    play(state, "lay R3")
    assert (state.phase, legal(state)) == ("figure", ["small", "big"])
    assert state.reveal()["entering"] == "start-R1"
    play(state, choice)
    assert (state.phase, figures(state, 0)) == ("draw", after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("big B2", "big B2, R1"),
        ("Y1, V1, G1, B1", "big R1, B1, G1, V1, Y1"),
    ],
    ids=["only small ones left", "only the big one left"],
)
def test_nothing_is_asked_when_only_one_sort_of_figure_is_at_the_start(
    before: str, after: str
) -> None:
    state = keltis(hands=["R3"], figures=[before])
    play(state, "lay R3")
    assert (state.phase, figures(state, 0)) == ("draw", after)


@pytest.mark.parametrize("card", ["R0", "R5", "R10"])
def test_a_card_moves_the_figure_of_its_path_by_one_stone_whatever_its_value(card: str) -> None:
    state = keltis(hands=[card], figures=["big R4, B2"])
    play(state, f"lay {card}")
    assert (state.phase, figures(state, 0)) == ("draw", "big R5, B2")


def test_figures_of_different_players_share_a_stone() -> None:
    state = keltis(hands=["R3"], figures=["R1", "big R2"])
    play(state, "lay R3")
    assert (figures(state, 0), figures(state, 1)) == ("R2", "big R2")


# The end stone


def test_on_the_end_stone_another_figure_must_move_from_the_start_onto_free_paths_only() -> None:
    state = keltis(hands=["R3"], figures=["R9, B4"])
    play(state, "lay R3")
    assert state.phase == "move"
    assert legal(state) == ["move Y", "move V", "move G", "move B"]  # no R, and no "stay"


@pytest.mark.parametrize(
    ("action", "phase", "after"),
    [("move B", "draw", "B5, R9"), ("move Y", "figure", "B4, R9")],
)
def test_an_end_stone_move_goes_one_stone_or_lets_a_figure_enter(
    action: str, phase: str, after: str
) -> None:
    state = keltis(hands=["R3"], figures=["R9, B4"])
    play(state, "lay R3", action)
    assert (state.phase, figures(state, 0)) == (phase, after)


def test_with_all_figures_out_only_those_before_their_end_stone_can_move() -> None:
    state = keltis(hands=["R3"], figures=["big R9, Y9, V6, G1, B2"])
    play(state, "lay R3")
    assert legal(state) == ["move V", "move G", "move B"]


def test_a_figure_that_came_without_a_card_is_moved_by_the_first_card_of_its_colour() -> None:
    state = keltis(hands=["R3"], rows=[""], figures=["big R2"])
    play(state, "lay R3")
    assert (state.phase, figures(state, 0)) == ("draw", "big R3")


def test_the_end_stone_rule_holds_even_with_an_empty_row() -> None:
    state = keltis(hands=["R3"], rows=[""], figures=["big R9, B1"])
    play(state, "lay R3")
    assert state.phase == "move"
    assert "move R" not in legal(state)


# Tiles

TILE_EFFECTS = [("2", "draw", 2, 0), ("clover", "clover", 0, 0), ("wish", "draw", 0, 1)]


@pytest.mark.parametrize(("tile", "phase", "points", "wishes"), TILE_EFFECTS)
@pytest.mark.parametrize(
    ("before", "tiles", "actions"),
    [
        ("B3", {}, ["lay B1"]),
        ("B3, R9", {}, ["lay R3", "move B"]),
        ("B3, Y1", {"Y2": "clover"}, ["lay Y3", "clover B"]),
    ],
    ids=["by a card", "by an end-stone move", "by a clover"],
)
def test_a_tile_works_however_the_figure_got_there(
    before: str,
    tiles: dict[str, str],
    actions: list[str],
    tile: str,
    phase: str,
    points: int,
    wishes: int,
) -> None:
    state = keltis(hands=["B1 R3 Y3"], figures=[before], tiles={**tiles, "B4": tile})
    play(state, *actions)
    view = state.reveal()
    assert state.phase == phase
    assert (view["points"][0], view["wish_stones"][0]) == (points, wishes)
    assert ("B4" in view["tiles"]) == (tile != "wish")


def test_points_tiles_pay_every_visitor_and_the_big_figure_does_not_double_them() -> None:
    state = keltis(hands=["R3", "R5"], figures=["big R4", "R4"], tiles={"R5": "3"})
    play(state, "lay R3", "draw", "lay R5", "draw")
    assert state.reveal()["points"] == [3, 3]
    assert state.reveal()["tiles"] == {"R5": "3"}


def test_a_wish_stone_is_taken_by_the_first_visitor_only() -> None:
    state = keltis(hands=["R3", "R5"], figures=["R4", "R4"], tiles={"R5": "wish"})
    play(state, "lay R3", "draw", "lay R5")
    assert state.phase == "draw"
    assert state.reveal()["wish_stones"] == [1, 0]
    assert state.reveal()["tiles"] == {}


def test_a_clover_stays_for_the_next_visitor() -> None:
    state = keltis(hands=["R3", "R5"], figures=["R4", "R4"], tiles={"R5": "clover"})
    play(state, "lay R3", "stay", "draw", "lay R5")
    assert (state.seat, state.phase) == (1, "clover")


def test_a_clover_move_is_free_to_use_any_own_figure_or_none() -> None:
    # No row of any other colour is needed, and R9 cannot move.
    state = keltis(hands=["B3"], figures=["R9, G2, B3"], tiles={"B4": "clover"})
    play(state, "lay B3")
    assert legal(state) == ["clover Y", "clover V", "clover G", "clover B", "stay"]


@pytest.mark.parametrize(
    ("actions", "phase", "after"),
    [
        (["stay"], "draw", "B4, G2"),
        (["clover B"], "draw", "B5, G2"),
        (["clover G"], "draw", "B4, G3"),
        (["clover Y"], "figure", "B4, G2"),
        (["clover Y", "small"], "draw", "B4, G2, Y1"),
        (["clover Y", "big"], "draw", "big Y1, B4, G2"),
    ],
)
def test_what_a_clover_moves(actions: list[str], phase: str, after: str) -> None:
    state = keltis(hands=["B3"], figures=["G2, B3"], tiles={"B4": "clover"})
    play(state, "lay B3", *actions)
    assert (state.phase, figures(state, 0)) == (phase, after)


def test_clovers_chain_and_the_turn_still_has_one_draw() -> None:
    tiles = {"R5": "clover", "R6": "clover", "B3": "clover", "B4": "2"}
    state = keltis(hands=["R3"], figures=["R4, B2"], tiles=tiles)
    steps = []
    for action in ("lay R3", "clover R", "clover B", "clover B"):
        play(state, action)
        steps.append((state.phase, figures(state, 0)))
    assert steps == [
        ("clover", "B2, R5"),
        ("clover", "B2, R6"),
        ("clover", "B3, R6"),
        ("draw", "B4, R6"),
    ]
    assert state.reveal()["points"] == [2, 0]
    play(state, "draw")
    assert (state.seat, state.phase) == (1, "turn")


def test_an_end_stone_move_may_land_on_a_clover_and_go_on() -> None:
    state = keltis(hands=["R3"], figures=["R9, Y1"], tiles={"Y2": "clover"})
    play(state, "lay R3", "move Y", "clover Y")
    assert (state.phase, figures(state, 0)) == ("draw", "R9, Y3")


# Refusals


def test_an_illegal_action_names_seat_phase_and_choices_and_changes_nothing() -> None:
    state = keltis(hands=["R3"], rows=["R5 R4"])
    before = state.reveal()
    with pytest.raises(IllegalAction) as refused:
        play(state, "lay B2")
    assert str(refused.value) == (
        "'lay B2' (46) is not legal: seat 0 has to decide 'turn' and may choose lay R3, discard R3"
    )
    assert state.reveal() == before
