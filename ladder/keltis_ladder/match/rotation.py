"""Who sits where: a deal is played once for each player, and everybody moves on by one seat.

In rotation 0 the entrants sit in their order. In each further one the entrant of the next seat
moves up, so that everybody has every seat of the deal once. Nothing else computes this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def entrant_at(seat: int, rotation: int, players: int) -> int:
    """Return the position of the entrant who has a seat in a rotation."""
    return (seat + rotation) % players


def seat_of(entrant: int, rotation: int, players: int) -> int:
    """Return the seat that the entrant at a position has in a rotation."""
    return (entrant - rotation) % players


def entrants_by_seat(rotation: int, players: int) -> list[int]:
    """Return the positions of the entrants in a rotation, by seat."""
    return [entrant_at(seat, rotation, players) for seat in range(players)]


def by_seat(entrants: Sequence[T], rotation: int) -> list[T]:
    """Return what is listed by entrant by seat instead."""
    players = len(entrants)
    return [entrants[entrant_at(seat, rotation, players)] for seat in range(players)]


def by_entrant(seats: Sequence[T], rotation: int) -> list[T]:
    """Return what is listed by seat by entrant instead."""
    players = len(seats)
    return [seats[seat_of(entrant, rotation, players)] for entrant in range(players)]
