"""A packed view is the view, byte for byte as msgpack packs it, and tells no more than that."""

from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from librt.strings import BytesWriter

from keltis_engine import POST_GAME, SPECTATORS, VARIANTS, BadViewer, Rng, State, find_variant
from keltis_engine.cards.kinds import KIND_NAMES
from keltis_engine.packing import text, write_array, write_int, write_map
from keltis_engine.play.policies import POLICIES
from keltis_engine.state.views import EVERYTHING
from tests.engine.support.positions import EXAMPLES, TABLES, Game, everything, games, played
from tests.engine.support.situations import kartenspiel, keltis, neue_wege, play, weg_der_steine

ENDINGS = {
    "keltis": ["figures", "last card", "turn limit"],
    "neue-wege": ["figures", "last card", "turn limit"],
    "kartenspiel": ["end cards", "last card", "turn limit"],
    "weg-der-steine": ["last tile", "turn limit"],
}
OPTIONS: dict[str, list[dict[str, int]]] = {
    "keltis": [{}, {"turn_limit": 200}],
    "neue-wege": [{}, {"turn_limit": 70_000}],
    "kartenspiel": [{}, {"end_card_opens_row": 0}, {"points_on_end_card": 1}],
    "weg-der-steine": [{}, {"last_clover_turn": 1}],
}
RED_CARDS = " ".join(2 * [f"R{value}" for value in range(11)])

seeds = st.integers(0, 2**64)


def viewers(state: State) -> list[int | str]:
    everybody: list[int | str] = [*range(state.players), SPECTATORS]
    return [*everybody, POST_GAME] if state.over else everybody


def packed(value: Any) -> bytes:
    data = msgpack.packb(value)
    assert isinstance(data, bytes)
    return data


def revealed(state: State) -> bytes:
    """Return everything as the state writes it; before the end, no viewer may ask for that."""
    out = BytesWriter()
    state.write_view(out, EVERYTHING)
    return out.getvalue()


def assert_packed_views_are_the_views(state: State) -> None:
    for viewer in viewers(state):
        assert state.packed_view(viewer) == packed(state.view(viewer)), (state, viewer)
    assert revealed(state) == packed(state.reveal()), state


# The same bytes


@settings(max_examples=2 * EXAMPLES)
@given(games())
def test_packed_views_are_the_views_in_any_position(game: Game) -> None:
    assert_packed_views_are_the_views(game.position())


@settings(max_examples=EXAMPLES // 4)
@given(games(to_the_end=True))
def test_packed_views_are_the_views_after_the_end(game: Game) -> None:
    state = game.position()
    assert state.over
    assert_packed_views_are_the_views(state)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("option", [0, 1])
@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_packed_views_are_the_views_throughout_a_game(
    variant: str, players: int, option: int, policy: str
) -> None:
    game = Game(variant, players, 17, OPTIONS[variant][option], [(policy, 10_000)])
    for number, state in enumerate(game.states()):
        if number % 5 == option or state.over:
            assert_packed_views_are_the_views(state)


@pytest.mark.parametrize("variant", VARIANTS)
def test_packed_views_are_the_views_in_every_phase_and_with_every_ending(variant: str) -> None:
    missing = phases_with_endings(variant)
    for seed in range(200):
        options = {"turn_limit": 5} if seed % 5 == 4 else {}
        if variant == "weg-der-steine":
            options["last_clover_turn"] = 1
        spells = [("eager" if seed % 2 else "random", 10_000)]
        for state in Game(variant, 2 + seed % 3, seed, options, spells).states():
            if (state.phase, state.ending) in missing:
                missing.remove((state.phase, state.ending))
                assert_packed_views_are_the_views(state)
        if not missing:
            break
    assert missing == set()


def phases_with_endings(variant: str) -> set[tuple[str, str | None]]:
    """Return each phase, after the end and with the final cards once for every ending."""
    return {
        (phase, ending)
        for phase in find_variant(variant).deal(2, 0).game.phases
        for ending in (ENDINGS[variant] if phase in ("over", "final") else [None])
    }


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(keltis(piles=RED_CARDS), id="a discard pile of 22 cards"),
        pytest.param(keltis(hands=["R0 R0 R1 B10 B10", "Y1"]), id="twins in hand"),
        pytest.param(keltis(figures=["big B1, R1, Y1, V1, G1"]), id="a negative score"),
        pytest.param(keltis(points=[127, 255], players=2), id="high points"),
        pytest.param(keltis(figures=["B2, G9, R1", "big V3, Y2, B9"]), id="figures out of order"),
        pytest.param(keltis(tiles={"R3": "wish", "B9": "clover", "Y2": "3"}), id="three tiles"),
        pytest.param(keltis(pile=["", "B3"]), id="an empty stream"),
        pytest.param(
            neue_wege(figures=["10a, 1a, 2a", "big 9b, 10e, 9e"]), id="names that sort as texts"
        ),
        pytest.param(neue_wege(stones=["BBBY", "R"], stacks={"2d": 0}), id="stones of a colour"),
        pytest.param(
            kartenspiel(rows=["R3 R4 P4/R RE P5 P6"], hands=["P0 P10 B5 B5"]), id="points cards"
        ),
        pytest.param(kartenspiel(wishes=[[1, 9], [5]]), id="wish stones"),
        pytest.param(weg_der_steine(middle=" ".join(KIND_NAMES[:50])), id="50 tiles in the middle"),
        pytest.param(weg_der_steine(turn_limit=100_000), id="the highest turn limit"),
    ],
)
def test_packed_views_are_the_views_in_rare_situations(state: State) -> None:
    for turn in (1, 127, 128, 255, 256, 65_535, 65_536, 100_000):
        state.turn = turn
        assert_packed_views_are_the_views(state)


def test_packed_views_are_the_views_when_twins_are_known() -> None:
    state = keltis(hands=["Y1 Y2", "B1 B2"], piles="R5 R5")
    play(state, "discard Y1", "take R", "discard B1", "draw", "discard Y2", "take R")
    assert state.view(1)["hands"][0]["known"] == ["R5", "R5"]
    assert_packed_views_are_the_views(state)


@pytest.mark.parametrize("variant", VARIANTS)
def test_packing_changes_nothing(variant: str) -> None:
    state = played(variant, 3, 5, "random", 60)
    before = everything(state)
    assert state.packed_view(1) == state.packed_view(1)
    assert everything(state) == before


# No more than the view


@settings(max_examples=EXAMPLES)
@given(games(), seeds, seeds)
def test_packed_views_do_not_tell_states_apart_that_differ_in_unseen_cards(
    game: Game, one: int, two: int
) -> None:
    original = game.position()
    for seat in range(game.players):
        for state in (original.determinize(seat, Rng(seed)) for seed in (one, two)):
            assert state.packed_view(seat) == original.packed_view(seat)
            assert state.packed_view(SPECTATORS) == original.packed_view(SPECTATORS)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "viewer", [-2, -1, 2, 3, 4, 1000, 2**31, 2**63, -(2**70), "", "0", "nobody", POST_GAME]
)
def test_who_may_have_no_view_may_have_no_packed_view(variant: str, viewer: int | str) -> None:
    state = played(variant, 2, 1, "eager", 20)
    with pytest.raises(BadViewer) as of_view:
        state.view(viewer)
    with pytest.raises(BadViewer) as of_packed_view:
        state.packed_view(viewer)
    assert str(of_packed_view.value) == str(of_view.value)


# The primitives


@pytest.mark.parametrize("bits", [5, 7, 8, 15, 16, 31, 32, 63])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("beside", [-1, 0, 1])
def test_numbers_have_their_shortest_form(bits: int, sign: int, beside: int) -> None:
    number = max(-(2**63), min(2**63 - 1, sign * 2**bits + beside))
    out = BytesWriter()
    write_int(out, number)
    assert out.getvalue() == packed(number)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 255, 256, 65_535])
def test_lists_and_maps_begin_with_their_size(size: int) -> None:
    array, mapping = BytesWriter(), BytesWriter()
    write_array(array, size)
    write_map(mapping, size)
    packer = msgpack.Packer()
    assert array.getvalue() == packer.pack_array_header(size)
    assert mapping.getvalue() == packer.pack_map_header(size)


@pytest.mark.parametrize("string", ["", "R10", "wish Y", "Grün", "x" * 31])
def test_texts_begin_with_their_length_in_bytes(string: str) -> None:
    assert text(string) == packed(string)


@pytest.mark.parametrize("string", ["x" * 32, "ü" * 16])
def test_a_long_text_is_refused(string: str) -> None:
    with pytest.raises(ValueError, match="is too long to be packed: texts have up to 31 bytes"):
        text(string)
