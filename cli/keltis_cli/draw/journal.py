"""What has happened since a scheduler was started: counts, latest results, running matches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

from keltis_ladder.dispatch.dispatcher import (
    AttemptFailed,
    Event,
    MatchAbandoned,
    MatchFinished,
    MatchPostponed,
    MatchStarted,
    MatchStreamed,
    MatchWithdrawn,
)
from keltis_ladder.run.playing import Playing
from keltis_ladder.run.scheduler import (
    MatchAssigned,
    News,
    PaceChanged,
    PlatformTrouble,
    ResultStored,
)

MINUTE: Final = 60.0
KEPT: Final = 200  # results: more than any terminal has lines


class Journal:
    """Takes note of everything that a scheduler and its dispatcher tell."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.began = clock()
        self.stored = 0
        self.faults = 0
        self.troubles = 0
        self.trouble = ""  # the last one
        self.pace: PaceChanged | None = None  # how fast the ladder plays, once that has changed
        self.latest: deque[tuple[float, ResultStored]] = deque(maxlen=KEPT)  # the latest first
        self.busy: dict[str, Playing] = {}  # by referee
        self.unstored: dict[str, Playing] = {}  # matches that were begun, by job
        self.at_referees: set[str] = set()  # those of them that have no outcome yet
        self._times: deque[float] = deque()

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return self.clock() - self.began

    @property
    def per_minute(self) -> float:
        """How many results were stored in the last minute, or would be at this rate."""
        self._forget()
        return len(self._times) * MINUTE / min(MINUTE, max(self.seconds, 1.0))

    def news(self, news: News) -> None:
        """Take note of what the scheduler tells."""
        match news:
            case MatchAssigned():
                self.unstored[news.playing.job.id] = news.playing
                self.at_referees.add(news.playing.job.id)
            case ResultStored():
                self.unstored.pop(news.playing.job.id, None)
                if news.stored.fresh:
                    self._count(news)
            case PlatformTrouble():
                self._note(news.text)
            case PaceChanged():
                self.pace = news

    def event(self, event: Event) -> None:
        """Take note of what the dispatcher tells."""
        match event:
            case MatchStarted():
                playing = self.unstored.get(event.job.id)
                if playing is not None:
                    self.busy[event.where] = playing
            case AttemptFailed():
                self._note(event.reason)
                self._free(event.job.id)
            case MatchFinished() | MatchAbandoned() | MatchPostponed() | MatchWithdrawn():
                self._free(event.job.id)
                self.at_referees.discard(event.job.id)
                if not isinstance(event, MatchFinished):
                    self.unstored.pop(event.job.id, None)
            case MatchStreamed():
                pass  # the dispatcher's matches show it

    def _count(self, told: ResultStored) -> None:
        now = self.clock()
        self.stored += 1
        self.faults += sum(len(game.losses) for game in told.result.games)
        self.latest.appendleft((now, told))
        self._times.append(now)
        self._forget()

    def _note(self, text: str) -> None:
        self.troubles += 1
        self.trouble = text

    def _free(self, job: str) -> None:
        for where, playing in list(self.busy.items()):
            if playing.job.id == job:
                del self.busy[where]

    def _forget(self) -> None:
        while self._times and self._times[0] < self.clock() - MINUTE:
            self._times.popleft()
