"""Everybody has every seat of a deal once, and the ways there and back agree."""

import pytest

from keltis_ladder.match.rotation import (
    by_entrant,
    by_seat,
    entrant_at,
    entrants_by_seat,
    seat_of,
)

PLAYERS = (2, 3, 4)


def test_the_next_entrant_moves_up_in_each_rotation() -> None:
    assert [entrants_by_seat(rotation, 3) for rotation in range(3)] == [
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
    ]


@pytest.mark.parametrize("players", PLAYERS)
def test_every_entrant_has_every_seat_once(players: int) -> None:
    for entrant in range(players):
        seats = [seat_of(entrant, rotation, players) for rotation in range(players)]
        assert sorted(seats) == list(range(players))


@pytest.mark.parametrize("players", PLAYERS)
def test_seats_lead_to_entrants_and_back(players: int) -> None:
    for rotation in range(players):
        for seat in range(players):
            assert seat_of(entrant_at(seat, rotation, players), rotation, players) == seat


def test_lists_are_turned_from_entrants_to_seats_and_back() -> None:
    assert by_seat("abc", 1) == ["b", "c", "a"]
    assert by_entrant("bca", 1) == ["a", "b", "c"]
    assert by_entrant(by_seat([5, 6, 7, 8], 3), 3) == [5, 6, 7, 8]
