"""Who somebody is to a match: the owner of a bot in it, and whether its deal was played before.

What they may see by that is decided in ``keltis_ladder.spectate.sight``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from keltis_ladder.dispatch.dispatcher import MatchStarted
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.spectate.live_match import Viewer
from keltis_ladder.spectate.sight import sight
from keltis_ladder.store.bots.accounts import Bearer, TokenScope
from keltis_ladder.store.matches.matches import EntrantRow, MatchRow
from keltis_ladder.store.schema.moments import now
from keltis_server.events import Happening

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
        """Return whether nobody can have seen this deal before.

        A job that is older than this server may have been played by the one before.
        """
        begun = self._begun.get(job_id)
        return created >= self._since and (begun is None or begun.times == 1)

    def last_begun(self, job_id: str) -> datetime | None:
        """Return when a match began, for the last time."""
        begun = self._begun.get(job_id)
        return None if begun is None else begun.last


def owns(caller: Bearer | None, bot: str, entrants: Sequence[EntrantRow]) -> bool:
    """Return whether a bot of the match is the caller's, and their token lets them see its hand."""
    return (
        caller is not None
        and any(each.bot == bot and each.author_id == caller.author_id for each in entrants)
        and TokenScope.READ in caller.scopes
    )


def viewer_of(
    wish: str, rotation: int, match: MatchRow, caller: Bearer | None, first_play: bool
) -> Viewer:
    """Return as whom a caller sees a game: as they wish if they may, else as everybody does."""
    return sight(
        wish,
        [each.bot for each in match.entrants],
        rotation,
        over=match.number is not None,
        own=owns(caller, wish, match.entrants),
        first_play=first_play,
    )
