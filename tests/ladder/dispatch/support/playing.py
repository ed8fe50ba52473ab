"""What the tests of dispatchers share: jobs, and a record of all that was told."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from keltis_ladder.dispatch.dispatcher import Event, MatchFinished, MatchStarted, MatchStreamed
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.jobs import Job, seed_of_match
from keltis_ladder.match.results import MatchResult
from keltis_ladder.spectate.batches import Batch, Decided, Ended
from tests.ladder.support.arena import processes_with
from tests.ladder.support.small_bots import FIRST, entrant, write_bot

CONTROL = TimeControl(bank_ms=20_000, increment_ms=100, start_ms=20_000)
CORES = sorted(os.sched_getaffinity(0))[:2]
VARIANT = "weg-der-steine"
LAST = "return request.legal[-1]"
PATIENCE = 300.0  # seconds; only what hangs needs them
T = TypeVar("T")


class Record:
    """Keeps every event."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def of(self, job: Job) -> list[Event]:
        """Return what was told of one job."""
        return [event for event in self.events if event.job.id == job.id]

    def kinds(self, job: Job) -> list[str]:
        """Return the kinds of the events of one job, without its batches."""
        events = self.of(job)
        return [type(event).__name__ for event in events if not isinstance(event, MatchStreamed)]

    def last_try(self, job: Job) -> list[Batch]:
        """Return the batches of the try that counts."""
        batches: list[Batch] = []
        for event in self.of(job):
            if isinstance(event, MatchStarted):
                batches = []
            elif isinstance(event, MatchStreamed):
                batches.append(event.batch)
        return batches


def replayed(batches: list[Batch], players: int) -> list[list[int]]:
    """Return the actions of each game; nothing may come after its end, and it must end."""
    actions: list[list[int]] = [[] for _ in range(players)]
    ended: list[int] = []
    for batch in batches:
        for entry in batch:
            assert entry.rotation == len(ended)
            if isinstance(entry, Decided):
                actions[entry.rotation] += [decision.action for decision in entry.decisions]
            elif isinstance(entry, Ended):
                ended.append(entry.rotation)
    assert ended == list(range(players))
    return actions


def actions_of(result: MatchResult) -> list[list[int]]:
    return [game.actions for game in result.games]


def finished(outcome: object) -> MatchResult:
    assert isinstance(outcome, MatchFinished), outcome
    return outcome.result


def jobs(bots: tuple[Entrant, ...], count: int, control: TimeControl = CONTROL) -> list[Job]:
    return [Job(VARIANT, {}, seed_of_match(1, k), bots, control) for k in range(count)]


def quick_bots(directory: Path, token: str) -> tuple[Entrant, ...]:
    bots = [write_bot(directory / "first"), write_bot(directory / "last", LAST)]
    return tuple(entrant(bot, token) for bot in bots)


def slow_bots(directory: Path, token: str, seconds: float = 0.004) -> tuple[Entrant, ...]:
    """Return bots that take about half a second for a match, or longer."""
    bots = [
        write_bot(directory / name, f"time.sleep({seconds})\n{choice}")
        for name, choice in (("slow-first", FIRST), ("slow-last", LAST))
    ]
    return tuple(entrant(bot, token) for bot in bots)


def oversized(bots: tuple[Entrant, ...]) -> tuple[Entrant, ...]:
    """Return the same bots, with claims that make a job of them larger than any pipe."""
    return tuple(replace(bot, variants=(VARIANT,) * 200_000) for bot in bots)


def in_front(monkeypatch: pytest.MonkeyPatch, module: Path, source: str) -> None:
    """Have every Python that is started from now on find a module before all others."""
    module.write_text(source)
    path = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", f"{module.parent}:{path}" if path else str(module.parent))


def all_gone(token: str) -> bool:
    """Return whether all processes end that have the token in their command line."""
    deadline = time.monotonic() + PATIENCE
    while processes_with(token):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def run(play: Coroutine[Any, Any, T]) -> T:
    """Run a test that must not go on for ever, nor fail where nobody sees it."""
    unseen: list[dict[str, Any]] = []

    async def in_time() -> T:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: unseen.append(context))
        async with asyncio.timeout(PATIENCE):
            return await play

    returned = asyncio.run(in_time())
    assert unseen == []
    return returned


async def until_streamed(record: Record, job: Job) -> None:
    """Wait until a match is well under way."""
    while not any(isinstance(event, MatchStreamed) for event in record.of(job)):
        await asyncio.sleep(0.005)
