"""What a player must not know he cannot find out, and ``determinize`` guesses it fairly."""

import itertools
import json
from collections import Counter
from statistics import mean
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_engine import POST_GAME, SPECTATORS, VARIANTS, BadViewer, Rng, State
from keltis_engine.play.policies import POLICIES
from tests.engine.support.positions import (
    EXAMPLES,
    TABLES,
    Game,
    box,
    everything,
    games,
    material_of,
    played,
)

PLAIN = (dict, list, str, int, bool, type(None))

seeds = st.integers(0, 2**64)


def viewers(state: State) -> list[int | str]:
    return [*range(state.players), SPECTATORS]


# Views are plain data


@settings(max_examples=EXAMPLES)
@given(games())
def test_views_survive_json_and_msgpack(game: Game) -> None:
    state = game.position()
    for view in [state.reveal(), *(state.view(viewer) for viewer in viewers(state))]:
        assert json.loads(json.dumps(view, allow_nan=False)) == view
        assert msgpack.unpackb(msgpack.packb(view)) == view
        assert_plain(view)


def assert_plain(value: Any) -> None:
    assert type(value) in PLAIN
    if isinstance(value, dict):
        assert all(type(key) is str for key in value)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            assert_plain(item)


@settings(max_examples=EXAMPLES)
@given(games())
def test_a_view_is_nobody_elses_to_change(game: Game) -> None:
    state = game.position()
    before = everything(state)
    for viewer in viewers(state):
        view = state.view(viewer)
        destroy(state.view(viewer))
        assert state.view(viewer) == view
    destroy(state.reveal())
    destroy(state.breakdown())
    state.scores().clear()
    state.legal_actions().clear()
    assert everything(state) == before


def destroy(value: Any) -> None:
    if isinstance(value, dict | list):
        for item in list(value.values() if isinstance(value, dict) else value):
            destroy(item)
        value.clear()


# Views show no hidden card


@settings(max_examples=EXAMPLES)
@given(games())
def test_a_view_is_the_whole_without_what_is_hidden_from_the_viewer(game: Game) -> None:
    state = game.position()
    for viewer in viewers(state):
        whole = state.reveal()
        whole["viewer"] = viewer
        whole["pile"]["cards"] = None
        if "hands" in whole:
            whole["removed"]["cards"] = None
            for seat, hand in enumerate(whole["hands"]):
                hand["cards"] = hand["cards"] if seat == viewer else None
        assert state.view(viewer) == whole


@settings(max_examples=EXAMPLES)
@given(games(), seeds, seeds)
def test_states_that_differ_in_unseen_cards_cannot_be_told_apart(
    game: Game, one: int, two: int
) -> None:
    original = game.position()
    for seat in range(game.players):
        states = [original, *(original.determinize(seat, Rng(seed)) for seed in (one, two))]
        for state in states[1:]:
            assert state.view(seat) == original.view(seat)
            assert state.view(SPECTATORS) == original.view(SPECTATORS)
            assert (state.seat, state.phase, state.over) == (
                original.seat,
                original.phase,
                original.over,
            )
            if original.seat == seat:
                assert state.legal_actions() == original.legal_actions()


@settings(max_examples=EXAMPLES)
@given(games(to_the_end=True), st.integers(0, 400))
def test_all_cards_are_shown_only_after_the_end(game: Game, decisions: int) -> None:
    for number, state in enumerate(game.states()):
        if state.over:
            assert state.view(POST_GAME) == state.reveal()
            assert material_of(state.view(POST_GAME)) == box(game.variant)
        elif number == decisions:
            with pytest.raises(BadViewer, match="this game is not over yet"):
                state.view(POST_GAME)


@pytest.mark.parametrize("seat", [-1, 2, 3, 4, 1000, "nobody", "", "0", -(2**70)])
def test_nobody_sits_elsewhere(seat: int | str) -> None:
    state = played("keltis", 2, 1, "eager", 20)
    with pytest.raises(
        BadViewer, match=r"views are for seats 0 to 1, 'spectators' and 'post-game'"
    ):
        state.view(seat)


@pytest.mark.parametrize("seat", [2**31, 2**63, 2**70])
def test_nobody_sits_far_away(seat: int) -> None:
    state = played("keltis", 2, 1, "eager", 20)
    with pytest.raises(BadViewer, match="nobody sits at"):
        state.view(seat)
    with pytest.raises(BadViewer, match="nobody sits at"):
        state.determinize(seat, Rng(1))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seat", [-1, 3, 4])
def test_only_seats_can_guess(variant: str, seat: int) -> None:
    with pytest.raises(BadViewer, match=f"nobody sits at {seat}"):
        played(variant, 3, 1, "eager", 20).determinize(seat, Rng(1))


@settings(max_examples=EXAMPLES)
@given(games(), seeds, seeds, st.sampled_from(list(POLICIES)))
def test_policies_do_not_look_at_hidden_cards(
    game: Game, guess: int, luck: int, policy: str
) -> None:
    state = game.position()
    if not state.over:
        other = state.determinize(state.seat, Rng(guess))
        choose = POLICIES[policy]
        assert choose(state, Rng(luck)) == choose(other, Rng(luck))


# Determinize


@settings(max_examples=EXAMPLES)
@given(games(), seeds)
def test_determinize_keeps_every_card_and_leaves_the_original_alone(game: Game, seed: int) -> None:
    original = game.position()
    before = everything(original)
    for seat in range(game.players):
        guess = original.determinize(seat, Rng(seed))
        assert material_of(guess.reveal()) == box(game.variant)
        assert guess.breakdown() == original.breakdown()
        play_on(guess, game.variant, seed)
    assert everything(original) == before


def play_on(state: State, variant: str, seed: int) -> None:
    """Play to the end; everything has to stay in order."""
    rng = Rng(seed)
    while not state.over:
        state.apply(POLICIES["random" if rng.below(2) else "eager"](state, rng))
    assert material_of(state.view(POST_GAME)) == box(variant)


@settings(max_examples=EXAMPLES)
@given(games(), seeds)
def test_determinize_respects_every_card_that_was_seen(game: Game, seed: int) -> None:
    state = game.position()
    if game.variant == "weg-der-steine":
        return
    for seat in range(game.players):
        hands = state.reveal()["hands"]
        guessed = state.determinize(seat, Rng(seed)).reveal()["hands"]
        for other, (hand, guess) in enumerate(zip(hands, guessed, strict=True)):
            assert len(guess["cards"]) == len(hand["cards"])
            assert guess["known"] == hand["known"]
            assert Counter(hand["known"]) <= Counter(guess["cards"])
            if other == seat:
                assert guess["cards"] == hand["cards"]


@settings(max_examples=EXAMPLES // 4)
@given(games(to_the_end=True))
def test_known_cards_are_those_taken_openly_and_not_played_since(game: Game) -> None:
    if game.variant == "weg-der-steine":
        return
    known = [Counter[str]() for _ in range(game.players)]
    before: State | None = None
    for state in game.states():
        if before is not None:
            follow_openly(known[int(before.seat)], before, state)
        for hand, expected in zip(state.view(SPECTATORS)["hands"], known, strict=True):
            assert Counter(hand["known"]) == expected
        before = state.copy()


def follow_openly(known: Counter[str], before: State, after: State) -> None:
    """Keep the record of one hand as anybody at the table could, from what is public."""
    seat = before.seat
    was, now = (Counter(s.reveal()["hands"][seat]["cards"]) for s in (before, after))
    piles = [sum(map(len, s.view(SPECTATORS)["piles"].values())) for s in (before, after)]
    if piles[1] < piles[0]:
        known.update(now - was)
    for card, count in (was - now).items():
        known[card] = max(0, known[card] - count)


@settings(max_examples=EXAMPLES)
@given(games(), seeds, seeds)
def test_determinize_depends_on_the_view_and_the_random_numbers_alone(
    game: Game, one: int, two: int
) -> None:
    state = game.position()
    for seat in range(game.players):
        guess = state.determinize(seat, Rng(two)).reveal()
        assert state.determinize(seat, Rng(two)).reveal() == guess
        other = state.determinize(seat, Rng(one))
        assert other.determinize(seat, Rng(two)).reveal() == guess


# Every arrangement is equally likely. The seeds are fixed: these pass or fail for ever.


def test_all_orders_of_four_tiles_are_equally_likely() -> None:
    state = played("weg-der-steine", 2, 3, "eager", 0)
    rng = Rng(3)
    while state.view(SPECTATORS)["pile"]["size"] > 4:
        state.apply(POLICIES["eager"](state, rng))
    orders = Counter(hidden_tiles(state.determinize(0, rng)) for _ in range(2400))
    all_orders = list(itertools.permutations(hidden_tiles(state)))
    assert set(orders) == set(all_orders)
    chi_square = sum((orders[order] - 100) ** 2 / 100 for order in all_orders)
    assert 7.5 < chi_square < 52  # 23 degrees of freedom: one time in a thousand outside


def hidden_tiles(state: State) -> tuple[str, ...]:
    return tuple(tile for stream in state.reveal()["pile"]["cards"] for tile in stream)


@pytest.mark.parametrize(
    ("variant", "players"), [table for table in TABLES if table[0] != "weg-der-steine"]
)
def test_every_unseen_card_is_as_likely_in_every_unseen_place(variant: str, players: int) -> None:
    state = played(variant, players, 11, "random", 100)
    rounds = 600
    rng = Rng(5)
    found: Counter[tuple[str, str]] = Counter()
    for _ in range(rounds):
        places = unseen_places(state.determinize(1, rng).reveal(), 1)
        found.update((place, card) for place, cards in places.items() for card in cards)
    places = unseen_places(state.reveal(), 1)
    unseen = Counter(c for place, cards in places.items() if "next" not in place for c in cards)
    for place, cards in places.items():
        share = len(cards) / unseen.total()
        if 0 < share < 1:
            # The mean of the squared deviations is 1 but for chance. Judged together, because
            # single counts of a few cards stray further than a normal distribution would.
            squares = [
                (found[place, card] - rounds * copies * share) ** 2
                / (rounds * copies * share * (1 - share))
                for card, copies in unseen.items()
            ]
            assert abs(mean(squares) - 1) < 5 * (2 / len(squares)) ** 0.5


def unseen_places(view: dict[str, Any], seat: int) -> dict[str, list[str]]:
    places = {
        f"hand {k}": list((Counter(hand["cards"]) - Counter(hand["known"])).elements())
        for k, hand in enumerate(view["hands"])
        if k != seat
    }
    places |= {f"stream {k}": cards for k, cards in enumerate(view["pile"]["cards"])}
    places |= {f"next of stream {k}": cards[:1] for k, cards in enumerate(view["pile"]["cards"])}
    return places | {"removed": view["removed"]["cards"]}
