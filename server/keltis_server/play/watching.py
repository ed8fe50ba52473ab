"""Who may see what of a match. Nothing else decides it: not the websocket, not the HTTP API.

Everybody sees the public view while a match runs, and everything once its result is stored. An
author sees the hand of an own bot before that, but only

- in the last rotation: the deal is the same in all of them, so that the hand of an earlier one is
  what an opponent holds in a later one;
- when the deal is played for the first time: a match that the platform broke off is played again
  with the same deal, from its first rotation.

Whoever runs the ladder sees no more than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from keltis_engine import POST_GAME, SPECTATORS
from keltis_ladder.dispatch.dispatcher import MatchStarted
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.spectate.live_match import Viewer
from keltis_ladder.store.bots.accounts import Bearer, TokenScope
from keltis_ladder.store.matches.matches import EntrantRow, MatchRow
from keltis_ladder.store.schema.moments import now
from keltis_server.events import Happening

PUBLIC: Final = "public"
ALL: Final = "all"
MOST_BEGUN: Final = 1_000  # matches without a result that are remembered


@dataclass(frozen=True)
class Begun:
    """How often a match has begun, and when it last did."""

    times: int
    last: datetime


class Beginnings:
    """Remembers which deals have been played before: those are shown to nobody early.

    Of matches that never come to a result it forgets the oldest. From then on whatever is not newer
    than those counts as seen.
    """

    def __init__(self) -> None:
        self._since = now()
        self._begun: dict[str, Begun] = {}  # by job, the last to begin last

    def note(self, happening: Happening) -> None:
        """Take note of a match that begins, or whose result is stored."""
        if isinstance(happening, MatchStarted):
            before = self._begun.pop(happening.job.id, None)
            times = before.times + 1 if before is not None else 1
            self._begun[happening.job.id] = Begun(times, now())
            if len(self._begun) > MOST_BEGUN:
                oldest = next(iter(self._begun))
                self._since = max(self._since, self._begun.pop(oldest).last)
        elif isinstance(happening, ResultStored):
            self._begun.pop(happening.playing.job.id, None)

    def first_play(self, job_id: str, created: datetime) -> bool:
        """Tell whether nobody can have seen this deal before.

        A job that is older than this server may have been played by the one before.
        """
        begun = self._begun.get(job_id)
        return created >= self._since and (begun is None or begun.times == 1)

    def last_begun(self, job_id: str) -> datetime | None:
        """Return when a match began, for the last time."""
        begun = self._begun.get(job_id)
        return None if begun is None else begun.last


def owns(caller: Bearer | None, bot: str, entrants: Sequence[EntrantRow]) -> bool:
    """Tell whether a bot of the match is the caller's, and their token lets them see its hand."""
    return (
        caller is not None
        and any(each.bot == bot and each.author_id == caller.author_id for each in entrants)
        and TokenScope.READ in caller.scopes
    )


def seat_of(bot: str, rotation: int, entrants: Sequence[EntrantRow]) -> int | None:
    """Return the seat of a bot in a rotation; the first if it is there twice."""
    for position, each in enumerate(entrants):
        if each.bot == bot:
            return (position - rotation) % len(entrants)
    return None


def positions(rotation: int, players: int) -> list[int]:
    """Return which entrant sits on each seat in a rotation."""
    return [(seat + rotation) % players for seat in range(players)]


def early_sight(bot: str, rotation: int, match: MatchRow, first_play: bool) -> Viewer:
    """Return as whom the owner of a bot sees a game while the match runs."""
    if rotation != len(match.entrants) - 1 or not first_play:
        return SPECTATORS
    seat = seat_of(bot, rotation, match.entrants)
    return SPECTATORS if seat is None else seat


def sight(
    wish: str, rotation: int, match: MatchRow, caller: Bearer | None, first_play: bool
) -> Viewer:
    """Return as whom a caller sees a game: as they wish if they may, else as everybody does.

    They wish ``public``, ``all``, a seat, or a bot; it is theirs to know that it is in the match.
    """
    if wish == PUBLIC:
        return SPECTATORS
    if match.number is None:
        if owns(caller, wish, match.entrants):
            return early_sight(wish, rotation, match, first_play)
        return SPECTATORS
    if wish == ALL:
        return POST_GAME
    seat = seat_of(wish, rotation, match.entrants)
    if seat is None and wish.isdecimal() and int(wish) < len(match.entrants):
        seat = int(wish)
    return SPECTATORS if seat is None else seat


def sight_name(viewer: Viewer) -> str:
    """Return how a viewer is called in answers."""
    if viewer == POST_GAME:
        return ALL
    return PUBLIC if viewer == SPECTATORS else str(viewer)
