"""Variants, options, deals and notation: what is accepted, and errors that say what to do."""

import re

import pytest

from keltis_engine import (
    VARIANTS,
    BadDeal,
    BadOption,
    EngineError,
    UnknownNotation,
    UnknownVariant,
    find_variant,
)

EVERY = list(VARIANTS)
YES_OR_NO = [("kartenspiel", "end_card_opens_row"), ("weg-der-steine", "last_clover_turn")]


def test_there_are_four_variants() -> None:
    assert EVERY == ["keltis", "neue-wege", "kartenspiel", "weg-der-steine"]


@pytest.mark.parametrize("id", ["", "Keltis", "keltis ", "das-orakel", "neue_wege"])
def test_an_unknown_variant_is_refused_with_a_list_of_those_that_exist(id: str) -> None:
    choices = "choose from keltis, neue-wege, kartenspiel, weg-der-steine"
    with pytest.raises(UnknownVariant, match=re.escape(f"{id!r}: {choices}")):
        find_variant(id)


def test_every_error_is_an_engine_error_and_a_value_error() -> None:
    for error in (UnknownVariant, BadOption, BadDeal, UnknownNotation):
        assert issubclass(error, EngineError)
    assert issubclass(EngineError, ValueError)


# Options


@pytest.mark.parametrize(
    ("id", "options"),
    [
        ("keltis", {"turn_limit": 1000}),
        ("neue-wege", {"turn_limit": 1000}),
        ("kartenspiel", {"turn_limit": 1000, "end_card_opens_row": 1}),
        ("weg-der-steine", {"turn_limit": 1000, "last_clover_turn": 0}),
    ],
)
def test_options_that_are_not_given_have_their_default(id: str, options: dict[str, int]) -> None:
    assert find_variant(id).options == options
    assert find_variant(id, {}).options == options
    assert find_variant(id).deal(2, 0).reveal()["options"] == options


@pytest.mark.parametrize("id", EVERY)
@pytest.mark.parametrize("limit", [1, 2, 100_000])
def test_a_turn_limit_in_range_is_recorded(id: str, limit: int) -> None:
    state = find_variant(id, {"turn_limit": limit}).deal(2, 0)
    assert state.reveal()["options"]["turn_limit"] == limit


@pytest.mark.parametrize("id", EVERY)
@pytest.mark.parametrize("value", [0, -1, 100_001, 2**64, 1.0, 10.5, "10", "", None, [], "True"])
def test_a_turn_limit_that_is_no_number_in_range_is_refused(id: str, value: object) -> None:
    expected = f"option 'turn_limit' cannot be {value!r}: it takes a whole number from 1 to 100000"
    with pytest.raises(BadOption, match=re.escape(expected)):
        find_variant(id, {"turn_limit": value})


@pytest.mark.parametrize("id", EVERY)
@pytest.mark.parametrize("value", [True, False])
def test_yes_and_no_are_no_turn_limits(id: str, value: bool) -> None:
    with pytest.raises(BadOption, match=f"'turn_limit' cannot be {value}: it takes a whole number"):
        find_variant(id, {"turn_limit": value})


@pytest.mark.parametrize(("id", "name"), YES_OR_NO)
@pytest.mark.parametrize(("value", "recorded"), [(0, 0), (1, 1), (False, 0), (True, 1)])
def test_a_yes_or_no_option_is_recorded_as_0_or_1(
    id: str, name: str, value: int, recorded: int
) -> None:
    ruleset = find_variant(id, {name: value})
    for options in (ruleset.options, ruleset.deal(2, 0).reveal()["options"]):
        assert options[name] == recorded
        assert type(options[name]) is int


@pytest.mark.parametrize("value", [1, True])
def test_an_option_that_came_later_is_recorded_only_where_it_is_not_the_default(
    value: object,
) -> None:
    name = "points_on_end_card"
    default = find_variant("kartenspiel")
    for same in (0, False):
        ruleset = find_variant("kartenspiel", {name: same})
        assert ruleset.options == default.options == ruleset.deal(2, 0).reveal()["options"]
    other = find_variant("kartenspiel", {name: value})
    expected = {**default.options, name: 1}
    assert other.options == expected == other.deal(2, 0).reveal()["options"]
    assert find_variant("kartenspiel", other.options).options == expected
    with pytest.raises(BadOption, match=f"option '{name}' cannot be 2"):
        find_variant("kartenspiel", {name: 2})


@pytest.mark.parametrize(("id", "name"), YES_OR_NO)
@pytest.mark.parametrize("value", [2, -1, "1", "yes", "true", 1.0, 0.0, None, b"1"])
def test_a_yes_or_no_option_refuses_everything_else(id: str, name: str, value: object) -> None:
    expected = f"option {name!r} cannot be {value!r}: it takes a whole number from 0 to 1"
    with pytest.raises(BadOption, match=re.escape(expected)):
        find_variant(id, {name: value})


@pytest.mark.parametrize(
    ("id", "name", "known"),
    [
        ("keltis", "end_card_opens_row", "turn_limit"),
        ("neue-wege", "limit", "turn_limit"),
        ("kartenspiel", "last_clover_turn", "turn_limit, end_card_opens_row, points_on_end_card"),
        ("weg-der-steine", "turn-limit", "turn_limit, last_clover_turn"),
    ],
)
def test_an_unknown_option_is_refused_with_a_list_of_those_that_exist(
    id: str, name: str, known: str
) -> None:
    with pytest.raises(BadOption, match=f"{id} has no option '{name}': it has {known}$"):
        find_variant(id, {name: 1})


# Deals


@pytest.mark.parametrize("id", EVERY)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_seat_0_of_two_to_four_starts_with_nothing_decided(id: str, players: int) -> None:
    state = find_variant(id).deal(players, 11)
    assert (state.players, state.seat, state.turn, state.phase) == (players, 0, 1, "turn")
    assert len(state.scores()) == len(state.breakdown()) == players
    assert state.winners() == list(range(players))


@pytest.mark.parametrize("id", EVERY)
@pytest.mark.parametrize("players", [-1, 0, 1, 5, 2**64])
def test_other_numbers_of_players_are_refused(id: str, players: int) -> None:
    expected = f"{id} cannot be played by {players}: it takes 2 to 4 players"
    with pytest.raises(BadDeal, match=re.escape(expected)):
        find_variant(id).deal(players, 0)


@pytest.mark.parametrize("id", EVERY)
@pytest.mark.parametrize("seed", [-1, 2**128, -(2**64)])
def test_seeds_out_of_range_are_refused(id: str, seed: int) -> None:
    expected = f"seed {seed} is out of range: it must be from 0 to 2**128 - 1"
    with pytest.raises(BadDeal, match=re.escape(expected)):
        find_variant(id).deal(2, seed)


@pytest.mark.parametrize("id", EVERY)
def test_the_same_seed_deals_the_same_game_and_every_bit_of_it_matters(id: str) -> None:
    ruleset = find_variant(id)
    seeds = [0, 1, 2**32, 2**64, 2**127, 2**128 - 1]
    deals = [ruleset.deal(3, seed).reveal() for seed in seeds]
    assert deals == [ruleset.deal(3, seed).reveal() for seed in seeds]
    assert all(deals[a] != deals[b] for a in range(len(seeds)) for b in range(a))


@pytest.mark.parametrize("id", ["keltis", "neue-wege"])
def test_the_tiles_are_shuffled_too(id: str) -> None:
    tiles = [find_variant(id).deal(2, seed).reveal()["tiles"] for seed in range(5)]
    assert all(tiles[a] != tiles[b] for a in range(5) for b in range(a))


def test_options_do_not_change_the_deal() -> None:
    plain = find_variant("kartenspiel").deal(2, 5).reveal()
    other = find_variant("kartenspiel", {"end_card_opens_row": 0, "turn_limit": 9}).deal(2, 5)
    assert {**other.reveal(), "options": None} == {**plain, "options": None}


# Notation


@pytest.mark.parametrize("id", EVERY)
def test_numbers_that_are_no_action_are_refused(id: str) -> None:
    ruleset = find_variant(id)
    for action in (-1, ruleset.actions, 2**70):
        expected = f"{id} has no action {action}: ids go from 0 to {ruleset.actions - 1}"
        with pytest.raises(UnknownNotation, match=re.escape(expected)):
            ruleset.format(action)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lay R11", "'lay R11' is not an action of keltis; did you mean 'lay R1'"),
        ("pass the salt, please", "'pass the salt, please' is not an action of keltis$"),
        ("", "'' is not an action of keltis$"),
    ],
)
def test_a_text_that_is_no_action_is_refused_with_a_guess_where_there_is_one(
    text: str, message: str
) -> None:
    with pytest.raises(UnknownNotation, match=message):
        find_variant("keltis").parse(text)


@pytest.mark.parametrize("text", ["lay R10", "LAY r10", "  lay   R10 "])
def test_case_and_blanks_of_notation_do_not_matter(text: str) -> None:
    ruleset = find_variant("keltis")
    assert ruleset.format(ruleset.parse(text)) == "lay R10"
