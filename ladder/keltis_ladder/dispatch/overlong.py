"""Matches that took so long that the machine must be too busy: unless it is always the same bot.

A bot that sleeps and wakes without end stretches the time on the wall on a core with other load,
and uses up no clock. On a machine that is too busy all matches take too long. So what counts
against a bot is a match that did on a core where the one before did not, with others that came to
their end since the last time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from keltis_ladder.match.jobs import Job

# One may be chance: the machine became busy in the middle of it. Two may be a coincidence. Each of
# them has kept a core from all others for more than ten minutes.
MOST_OVERLONG: Final = 3
MOST_KEPT: Final = 1_000  # bots and matches


@dataclass
class _Count:
    """How often a bot, or a match, took too long."""

    times: int
    ended: int  # matches that had ended by then on the whole machine


class Overlong:
    """Counts them on one machine: in a row for each bot, and in all for each match."""

    def __init__(self) -> None:
        self._ended = 0
        self._doubtful: set[int] = set()  # cores whose last match took too long
        self._bots: dict[str, _Count] = {}
        self._matches: dict[str, _Count] = {}

    @property
    def suspects(self) -> Mapping[str, int]:
        """The bots with too many in a row, and how many."""
        return {bot: n.times for bot, n in self._bots.items() if n.times >= MOST_OVERLONG}

    def end(self, job: Job, core: int) -> None:
        """Take note of a match that came to its end: nothing speaks against its bots now."""
        self._ended += 1
        self._doubtful.discard(core)
        self._matches.pop(job.id, None)
        for entrant in job.entrants:
            self._bots.pop(entrant.name, None)

    def meet(self, job: Job, core: int) -> bool:
        """Take note of one that took too long; return whether that is not the machine's doing."""
        if core in self._doubtful:
            return False
        self._doubtful.add(core)
        times = [self._add(self._matches, job.id)]
        times += [self._add(self._bots, name) for name in {each.name for each in job.entrants}]
        return max(times) >= MOST_OVERLONG

    def _add(self, counts: dict[str, _Count], key: str) -> int:
        count = counts.pop(key, None)
        if count is None:
            count = _Count(1, self._ended)
        elif count.ended < self._ended:
            count = _Count(count.times + 1, self._ended)
        counts[key] = count  # the last one now
        if len(counts) > MOST_KEPT:
            del counts[next(iter(counts))]
        return count.times
