"""Who may see what of a match. Nothing else decides it: not the websocket, not the HTTP API.

Everybody sees the public view while a match runs, and everything once its result is stored. An
author sees the hand of an own bot before that, but only

- in the last rotation: the deal is the same in all of them, so that the hand of an earlier one is
  what an opponent holds in a later one;
- when the deal is played for the first time: a match that the platform broke off is played again
  with the same deal, from its first rotation.

The operator sees no more than others. Whose a bot is, and which deals were played before, is for
the caller to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keltis_engine import POST_GAME, SPECTATORS
from keltis_ladder.match.rotation import seat_of
from keltis_ladder.spectate.live_match import Viewer

PUBLIC: Final = "public"
ALL: Final = "all"


def early_sight(bot: str, bots: Sequence[str], rotation: int, first_play: bool) -> Viewer:
    """Return as whom the owner of a bot sees a game while the match runs.

    ``bots`` are the names of the entrants; ``first_play`` is whether nobody can have seen the deal.
    """
    if rotation != len(bots) - 1 or not first_play:
        return SPECTATORS
    return _seat_of_bot(bot, bots, rotation)


def sight(
    wish: str, bots: Sequence[str], rotation: int, *, over: bool, own: bool, first_play: bool
) -> Viewer:
    """Return as whom somebody sees a game: as they wish if they may, else as everybody does.

    They wish ``public``, ``all``, a seat, or a bot of the match. It is their ``own`` if they may
    see its hand before the match is ``over``.
    """
    if wish == PUBLIC:
        return SPECTATORS
    if not over:
        return early_sight(wish, bots, rotation, first_play) if own else SPECTATORS
    if wish == ALL:
        return POST_GAME
    if wish not in bots and wish.isdecimal() and int(wish) < len(bots):
        return int(wish)
    return _seat_of_bot(wish, bots, rotation)


def sight_name(viewer: Viewer) -> str:
    """Return how a viewer is called in answers."""
    if viewer == POST_GAME:
        return ALL
    return PUBLIC if viewer == SPECTATORS else str(viewer)


def _seat_of_bot(bot: str, bots: Sequence[str], rotation: int) -> Viewer:
    """Return the seat of a bot, the first if it is there twice; else what everybody sees."""
    if bot not in bots:
        return SPECTATORS
    return seat_of(bots.index(bot), rotation, len(bots))
