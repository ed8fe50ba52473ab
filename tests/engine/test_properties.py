"""What must hold in every position of every game, reached by random and eager play."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_engine import VARIANTS, IllegalAction, Rng, State, UnknownNotation, find_variant
from keltis_engine.play.policies import POLICIES
from tests.engine.support.positions import (
    EXAMPLES,
    TABLES,
    Game,
    box,
    everything,
    games,
    material_of,
)

OUT_OF_RANGE = [-1, -(2**31), -(2**63), -(2**70), 1000, 2**15, 2**16, 2**31, 2**63, 2**64, 2**70]
NOT_INTEGERS = [1.5, 1.0, "1", b"1", None, [1], (1,), 1j, object()]


class Index:
    """An integer of another library, such as numpy's."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def after(state: State, action: Any) -> dict[str, Any]:
    """Return everything about the state that the action leads to."""
    copy = state.copy()
    copy.apply(action)
    return everything(copy)


# What is in the box stays on the table


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_no_card_tile_or_stone_is_lost_or_doubled(game: Game) -> None:
    for state in game.states():
        assert material_of(state.reveal()) == box(game.variant)


# Legal is what can be done, and nothing else can


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_legal_actions_ascend_and_are_there_until_the_end(game: Game) -> None:
    ids = range(game.ruleset.actions)
    for state in game.states():
        legal = state.legal_actions()
        assert legal == sorted(set(legal))
        assert all(type(action) is int and action in ids for action in legal)
        assert bool(legal) is not state.over
        assert state.over is (state.phase == "over")


@settings(max_examples=EXAMPLES)
@given(games())
def test_apply_accepts_exactly_the_legal_actions(game: Game) -> None:
    state = game.position()
    before = everything(state)
    legal = state.legal_actions()
    for action in range(game.ruleset.actions):
        assert state.is_legal(action) is (action in legal)
        if action in legal:
            assert after(state, action) != before
        else:
            with pytest.raises(IllegalAction):
                state.apply(action)
            assert state.legal_actions() == legal
    assert everything(state) == before


@settings(max_examples=EXAMPLES)
@given(games(), st.sampled_from([*OUT_OF_RANGE, "the number of actions"]))
def test_ids_that_no_action_has_are_refused(game: Game, chosen: int | str) -> None:
    action = chosen if isinstance(chosen, int) else game.ruleset.actions
    state = game.position()
    before = everything(state)
    for given_as in (action, Index(action)):
        with pytest.raises(IllegalAction, match=re.escape(f"there is no action {action}: ids go")):
            state.apply(given_as)
    assert everything(state) == before


@settings(max_examples=EXAMPLES)
@given(games(), st.sampled_from(NOT_INTEGERS))
def test_what_is_no_integer_is_a_type_error(game: Game, value: Any) -> None:
    state = game.position()
    before = everything(state)
    with pytest.raises(TypeError):
        state.apply(value)
    assert everything(state) == before


@settings(max_examples=EXAMPLES)
@given(games())
def test_an_object_with_an_index_is_that_integer(game: Game) -> None:
    state = game.position()
    for action in state.legal_actions():
        assert after(state, Index(action)) == after(state, action)


@pytest.mark.parametrize("action", [0, 1])
@pytest.mark.parametrize("variant", VARIANTS)
def test_true_is_one_and_false_is_zero(variant: str, action: int) -> None:
    games = (Game(variant, 2, seed, {}, [("random", 500)]) for seed in range(100))
    state = next(s for game in games for s in game.states() if action in s.legal_actions())
    assert after(state, bool(action)) == after(state, action)


@settings(max_examples=EXAMPLES)
@given(games())
def test_a_refusal_names_the_action_and_what_is_legal_instead(game: Game) -> None:
    state = game.position()
    legal = state.legal_actions()
    illegal = next(a for a in range(game.ruleset.actions) if a not in legal)
    with pytest.raises(IllegalAction) as caught:
        state.apply(illegal)
    message = str(caught.value)
    assert message.startswith(f"{game.ruleset.format(illegal)!r} ({illegal}) is not legal: ")
    if state.over:
        assert message.endswith("the game is over")
    else:
        assert f"seat {state.seat} has to decide {state.phase!r} and may choose " in message
        assert message.endswith(", ".join(game.ruleset.format(a) for a in legal))


# States are independent


@settings(max_examples=EXAMPLES)
@given(games(), st.sampled_from(list(POLICIES)))
def test_a_copy_and_its_original_go_their_own_ways(game: Game, policy: str) -> None:
    original = game.position()
    copy = original.copy()
    before = everything(original)
    assert everything(copy) == before
    play_on(copy, policy)
    assert everything(original) == before
    copy = original.copy()
    play_on(original, policy)
    assert everything(copy) == before


def play_on(state: State, policy: str, seed: int = 1) -> None:
    rng = Rng(seed)
    while not state.over:
        state.apply(POLICIES[policy](state, rng))


# The end, and what it is worth


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_scores_are_the_sum_of_their_parts_and_the_highest_wins(game: Game) -> None:
    for state in game.states():
        scores = state.scores()
        assert scores == [sum(parts.values()) for parts in state.breakdown()]
        assert scores == [state.score(seat) for seat in range(game.players)]
        assert state.winners() == [k for k in range(game.players) if scores[k] == max(scores)]


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True))
def test_every_game_ends_within_its_turn_limit(game: Game) -> None:
    limit = game.options["turn_limit"]
    turn = 1
    for state in game.states():
        assert state.turn in (turn, turn + 1)
        turn = int(state.turn)
        assert turn <= limit
    assert game.position().over


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_a_limit_of_so_many_turns_gives_so_many(variant: str, players: int, limit: int) -> None:
    spells = [("random", 10_000)]
    end = Game(variant, players, 5, {"turn_limit": limit}, spells).position()
    assert end.over
    assert end.turn == limit


# What an action brings


def gained(state: State, action: int) -> Counter[str]:
    """Return the cards that the seat has after an action, in hand or turned up, and had not."""
    copy = state.copy()
    copy.apply(action)
    return visible_to_owner(copy, state.seat) - visible_to_owner(state, state.seat)


def visible_to_owner(state: State, seat: int) -> Counter[str]:
    view = state.reveal()
    if view["variant"] == "weg-der-steine":
        return Counter([view["revealed"]] if view["revealed"] else [])
    return Counter(view["hands"][seat]["cards"])


@settings(max_examples=EXAMPLES)
@given(games())
def test_the_outcome_foretold_is_what_the_action_brings(game: Game) -> None:
    state = game.position()
    for action in state.legal_actions():
        card = state.outcome(action)
        assert gained(state, action) == Counter([] if card is None else [card])
        draws = game.ruleset.format(action).split()[0] in ("draw", "reveal")
        takes = state.phase == "draw"
        assert (card is not None) is (draws or takes)


# Notation


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_action_has_its_own_notation(variant: str) -> None:
    ruleset = find_variant(variant)
    texts = [ruleset.format(action) for action in range(ruleset.actions)]
    assert len({text.casefold() for text in texts}) == ruleset.actions
    for action, text in enumerate(texts):
        assert text.isascii()
        assert ruleset.parse(text) == action
        assert ruleset.parse(text.upper()) == action
        assert ruleset.parse(text.lower()) == action
        assert ruleset.parse("  " + text.swapcase().replace(" ", " \t ") + "\n") == action


@pytest.mark.parametrize(
    ("variant", "text", "near"),
    [
        ("keltis", "lay R11", "'lay R1'"),
        ("keltis", "discrad B7", "'discard B7'"),
        ("neue-wege", "move 3a-4b", "'move 3b-4b'"),
        ("neue-wege", "drop G5", "'drop hand G5'"),
        ("kartenspiel", "pair R3 Y4", "'pair R3 Y3'"),
        ("kartenspiel", "lay P5 in R", "'lay P5 on R'"),
        ("weg-der-steine", "revael", "'reveal'"),
    ],
)
def test_a_misspelt_notation_is_answered_with_near_ones(variant: str, text: str, near: str) -> None:
    with pytest.raises(UnknownNotation) as caught:
        find_variant(variant).parse(text)
    message = str(caught.value)
    assert message.startswith(f"{text!r} is not an action of {variant}; did you mean ")
    assert near in message


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("text", ["", " ", "0", "xyzzy", "\0", "ß" * 50])
def test_what_is_like_no_notation_is_refused_all_the_same(variant: str, text: str) -> None:
    with pytest.raises(UnknownNotation, match=f"is not an action of {variant}$"):
        find_variant(variant).parse(text)


@pytest.mark.parametrize("variant", VARIANTS)
def test_format_refuses_ids_that_no_action_has(variant: str) -> None:
    ruleset = find_variant(variant)
    for action in (-1, ruleset.actions, 2**63, 2**70):
        with pytest.raises(UnknownNotation, match=f"ids go from 0 to {ruleset.actions - 1}"):
            ruleset.format(action)
