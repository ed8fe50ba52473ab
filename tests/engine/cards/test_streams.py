"""The draw pile: one stream of cards for each seat, and whose is next when one is empty."""

import pytest
from librt.vecs import vec
from mypy_extensions import u8

from keltis_engine import find_variant
from keltis_engine.cards.streams import (
    draw,
    next_card,
    stream_cards,
    stream_for,
    stream_sizes,
)
from tests.engine.support.situations import hand, keltis, play


@pytest.mark.parametrize(
    ("variant", "players", "sizes"),
    [
        ("keltis", 2, [32, 32]),
        ("keltis", 3, [29, 29, 28]),
        ("keltis", 4, [20, 20, 19, 19]),
        ("neue-wege", 2, [32, 32]),
        ("neue-wege", 3, [29, 29, 28]),
        ("neue-wege", 4, [20, 20, 19, 19]),
        ("kartenspiel", 2, [28, 27]),
        ("kartenspiel", 3, [26, 26, 25]),
        ("kartenspiel", 4, [18, 17, 17, 17]),
        ("weg-der-steine", 2, [28, 27]),
        ("weg-der-steine", 3, [19, 18, 18]),
        ("weg-der-steine", 4, [14, 14, 14, 13]),
    ],
)
def test_the_pile_is_dealt_round_the_table(variant: str, players: int, sizes: list[int]) -> None:
    pile = find_variant(variant).deal(players, 1).reveal()["pile"]
    assert pile["streams"] == sizes
    assert [len(cards) for cards in pile["cards"]] == sizes
    assert pile["size"] == sum(sizes)


@pytest.mark.parametrize(
    ("cards", "players", "sizes"),
    [(0, 3, [0, 0, 0]), (1, 3, [1, 0, 0]), (2, 3, [1, 1, 0]), (3, 3, [1, 1, 1]), (5, 2, [3, 2])],
)
def test_the_first_streams_get_what_does_not_divide(
    cards: int, players: int, sizes: list[int]
) -> None:
    assert list(stream_sizes(cards, players)) == sizes


@pytest.mark.parametrize(
    ("left", "seat", "stream"),
    [
        ([1, 9, 9, 9], 0, 0),  # the own one, as long as it has a card
        ([0, 2, 5, 3], 0, 2),  # the fullest other one
        ([0, 4, 4, 4], 0, 1),  # equally full: the next clockwise
        ([4, 0, 4, 4], 1, 2),
        ([4, 4, 0, 4], 2, 3),
        ([4, 4, 4, 0], 3, 0),
        ([4, 4, 0, 1], 2, 0),  # the nearest clockwise of those that are fullest
        ([3, 0, 1, 3], 1, 3),
        ([0, 1], 0, 1),
        ([1, 0], 1, 0),
        ([0, 0, 1], 1, 2),
        ([1, 0, 0], 1, 0),
    ],
)
def test_which_stream_a_seat_draws_from(left: list[int], seat: int, stream: int) -> None:
    assert stream_for(vec[u8](left), seat) == stream


def test_stream_i_holds_every_nth_card_from_i_on_and_is_drawn_from_its_end() -> None:
    pile = vec[u8]([10, 20, 30, 11, 21, 31, 12])
    left = stream_sizes(7, 3)
    assert [stream_cards(pile, left, seat) for seat in range(3)] == [
        [12, 11, 10],
        [21, 20],
        [31, 30],
    ]
    assert [draw(pile, left, 0), draw(pile, left, 2), draw(pile, left, 0)] == [12, 31, 11]
    assert list(left) == [1, 2, 1]


def test_drawing_everything_gives_each_card_once_and_next_card_foretells_it() -> None:
    pile = vec[u8](list(range(11)))
    left = stream_sizes(11, 4)
    drawn = []
    for _ in range(11):
        foretold = next_card(pile, left, 2)  # one seat draws all
        drawn.append(draw(pile, left, 2))
        assert drawn[-1] == foretold
    assert drawn[:3] == [10, 6, 2]
    assert sorted(drawn) == list(range(11))
    assert sum(left) == 0


def test_what_one_seat_draws_does_not_depend_on_what_the_others_take() -> None:
    hands = []
    for second in ("draw", "take B"):
        state = keltis(hands=["R1 R2", "Y1"], piles="B5", pile=["G1 G2", "V1 V2"])
        play(state, "discard R1", "draw", "discard Y1", second, "discard R2", "draw")
        hands.append(hand(state, 0))
    assert hands == ["G1 G2", "G1 G2"]


def test_a_seat_with_an_empty_stream_gets_the_next_card_of_the_fullest() -> None:
    state = keltis(players=3, hands=["R1"], pile=["", "V1", "G1 G2"])
    assert state.outcome(state.notation.index("draw")) == "G1"
    play(state, "discard R1", "draw")
    assert hand(state, 0) == "G1"
    assert state.reveal()["pile"]["cards"] == [[], ["V1"], ["G2"]]
