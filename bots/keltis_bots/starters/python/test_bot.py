"""Run with: python3 -m unittest."""

from __future__ import annotations

import unittest
from typing import Any

import msgpack
from bot import MyBot

from keltis_bots import Game, Request

GAME = Game("keltis", 1, {"turn_limit": 1000}, players=2, seat=0, bank_ms=1000, increment_ms=20)


def request(row: list[str], notation: list[str]) -> Request:
    """Return a request with these legal actions, numbered from 100; ``row`` is the red row."""
    view: dict[str, Any] = {"phase": "turn", "rows": [{"R": row}]}
    message = {
        "type": "choose",
        "id": 7,
        "legal": [100 + k for k in range(len(notation))],
        "notation": notation,
        "left_ms": 1000,
        "increment_ms": 20,
        "events": [],
        "view": view,
    }
    return Request(GAME, msgpack.packb(message))


class ChooseTest(unittest.TestCase):
    """What the bot chooses."""

    def test_it_lays_the_card_that_skips_fewest_numbers(self) -> None:
        asked = request(["R3"], ["lay R5", "lay R9", "discard R5", "discard R9"])
        self.assertEqual(MyBot().choose(asked), 100)

    def test_it_begins_no_row_in_the_middle(self) -> None:
        asked = request([], ["lay R5", "discard R5"])
        self.assertEqual(MyBot().choose(asked), 101)

    def test_it_draws_from_the_draw_pile(self) -> None:
        asked = request([], ["draw", "take R"])
        self.assertEqual(MyBot().choose(asked), 100)


if __name__ == "__main__":
    unittest.main()
