"""Matches that do not come to their end, through the machine: unless it is always the same bot.

A bot that sleeps and wakes without end stretches the time on the wall on a core with other load,
and uses up no clock. One that has found a way to have us fail gets rid of each match that it would
lose. On a machine that is too busy, or that fails, no match comes to its end. So what counts
against a bot is a match that did not on a core where the one before did, with others that came to
their end since the last time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from keltis_ladder.match.jobs import Job

# One may be chance: the machine became busy in the middle of it. Two may be a coincidence. Each of
# them has kept a core from all others for more than ten minutes, or failed three times in a row.
MOST_OVERLONG: Final = 3
MOST_KEPT: Final = 1_000  # bots and matches


@dataclass
class _Count:
    """How often a match, or one of a bot, did not come to its end."""

    times: int
    ended: int  # matches that had ended by then on the whole machine


class Overlong:
    """Counts them on one machine: in a row for each bot, and in all for each match."""

    def __init__(self) -> None:
        self._ended = 0
        self._doubtful: set[int] = set()  # cores whose last match did not come to its end
        self._bots: dict[str, _Count] = {}
        self._matches: dict[str, _Count] = {}

    def suspects_in(self, job: Job) -> tuple[str, ...]:
        """Return those of a match's bots that have too many in a row."""
        return tuple(each.name for each in job.entrants if each.name in self.suspects)

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
        """Take note of one that did not; return whether that is not the machine's doing."""
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
