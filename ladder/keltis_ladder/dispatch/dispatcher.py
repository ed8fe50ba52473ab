"""What every dispatcher does: play jobs somewhere, and tell what happens while it happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import MatchResult
from keltis_ladder.spectate.batches import Batch
from keltis_ladder.spectate.live_match import LiveMatch


@dataclass(frozen=True)
class MatchStarted:
    """A match begins, for the first time or again: what was told of an earlier try is void."""

    job: Job
    where: str  # which referee plays it
    tries: int  # this one included


@dataclass(frozen=True)
class MatchStreamed:
    """Something happened in a match: decisions, bots that dropped out, games that ended."""

    job: Job
    batch: Batch


@dataclass(frozen=True)
class AttemptFailed:
    """The platform failed in the middle of a match: nobody's fault, and nothing of it counts."""

    job: Job
    reason: str
    tries: int


@dataclass(frozen=True)
class MatchFinished:
    """A match has its result."""

    job: Job
    result: MatchResult
    seconds: float = 0.0  # for which referees had it, all tries together


@dataclass(frozen=True)
class MatchAbandoned:
    """A match was given up: the platform failed every time, or one bot drags all its matches."""

    job: Job
    reason: str
    seconds: float = 0.0  # for which referees had it, all tries together
    suspects: tuple[str, ...] = ()  # of its bots: theirs alone do not come to their end


@dataclass(frozen=True)
class MatchPostponed:
    """The machine was too busy for a match. It is to be played later; that was no failed try."""

    job: Job
    reason: str
    seconds: float = 0.0  # for which referees had it, all tries together


@dataclass(frozen=True)
class MatchWithdrawn:
    """A match is not wanted any more, and is not played to its end."""

    job: Job


Outcome = MatchFinished | MatchAbandoned | MatchPostponed
Event = MatchStarted | MatchStreamed | AttemptFailed | Outcome | MatchWithdrawn
OnEvent = Callable[[Event], None]


class Dispatcher(Protocol):
    """Carries jobs to referees, and batches and results back.

    Events are told in the order in which they happen, from the event loop, and the match in
    ``playing`` stands exactly where its last event says. Listeners must be quick: referees
    do not wait for it, so what it does not take piles up.
    """

    async def start(self) -> None:
        """Make ready to play; raise ``PlatformFault`` with the reason if that is not possible."""

    @property
    def free(self) -> int:
        """How many more jobs could begin at once."""

    async def wait_free(self) -> None:
        """Wait until a job could begin at once."""

    @property
    def playing(self) -> Mapping[str, LiveMatch]:
        """The matches that have begun and are not over, by the ids of their jobs."""

    def submit(self, job: Job, urgent: bool = False) -> asyncio.Future[Outcome]:
        """Have a match played as soon as possible; cancelling it withdraws the match.

        An urgent one goes before those that wait, but not before another urgent one.
        ``PlatformFault`` comes of it only if nothing can be played at all any more.
        """

    async def close(self, patience: float = ...) -> None:
        """Begin nothing new, break off what is not over in time, and leave nothing behind."""
