"""The rules a second time, to check the engine: written from the rules page alone, and plainly.

``check`` takes an expanded replay, plays the game again by these rules, and raises at the first
thing that differs. Nothing here imports the engine.
"""

from typing import Any

from tests.engine.oracle.common import Game, OracleMismatch
from tests.engine.oracle.kartenspiel import Kartenspiel
from tests.engine.oracle.keltis import Keltis
from tests.engine.oracle.neue_wege import NeueWege
from tests.engine.oracle.weg_der_steine import WegDerSteine

__all__ = ["GAMES", "Game", "OracleMismatch", "check"]

GAMES: dict[str, type[Game]] = {
    "keltis": Keltis,
    "neue-wege": NeueWege,
    "kartenspiel": Kartenspiel,
    "weg-der-steine": WegDerSteine,
}


def check(replay: dict[str, Any]) -> Game:
    """Return the game at the replay's end, or raise OracleMismatch."""
    game = GAMES[replay["variant"]](replay)
    for number, record in enumerate(replay["decisions"], 1):
        game.number = number
        game.step(record)
    game.number = 0
    game.check_end(replay)
    return game
