"""The local dispatcher plays what a referee would play, and shows it while it happens."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from keltis_engine import POST_GAME, SPECTATORS, VARIANTS, BadViewer
from keltis_engine.records.replay import make_replay, verify
from keltis_ladder.dispatch.dispatcher import (
    Dispatcher,
    Event,
    MatchFinished,
    MatchStarted,
    MatchStreamed,
)
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import MatchResult
from keltis_ladder.programs.launchers import PlainLauncher
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.spectate.batches import Dropped
from tests.ladder.dispatch.support.playing import (
    CONTROL,
    CORES,
    PATIENCE,
    Record,
    actions_of,
    all_gone,
    finished,
    jobs,
    replayed,
    run,
)
from tests.ladder.support.arena import HOSTILE, SHORT
from tests.ladder.support.small_bots import entrant, write_bot

NAPS = 60  # of 10 ms, that a bot takes for one decision


def played_by_a_referee(wanted: list[Job]) -> list[MatchResult]:
    referee = Referee(PlainLauncher(), CONTROL)
    try:
        return [referee.play_match(job.ruleset(), job.seed, job.entrants) for job in wanted]
    finally:
        referee.kill()


def without_times(result: MatchResult) -> list[tuple[Any, ...]]:
    return [
        (game.rotation, game.entrants, game.actions, game.ending, game.scores, game.ranks)
        for game in result.games
    ]


def test_all_games_come_out_as_a_referee_plays_them_and_are_told_in_full(
    quick: tuple[Entrant, ...], token: str
) -> None:
    first, last = quick
    wanted = [
        Job(variant, {}, 7, (first, last, first, last)[:players], CONTROL)
        for variant in VARIANTS
        for players in (2, 3, 4)
    ]
    record = Record()

    async def play() -> list[MatchResult]:
        async with LocalDispatcher(CORES, sandboxed=False, on_event=record) as dispatcher:
            whole: Dispatcher = dispatcher
            outcomes = await asyncio.gather(*[whole.submit(job) for job in wanted])
            assert dispatcher.playing == {}
            assert dispatcher.replaced == 0
            return [finished(outcome) for outcome in outcomes]

    results = run(play())
    expected = played_by_a_referee(wanted)
    for job, result, other in zip(wanted, results, expected, strict=True):
        assert without_times(result) == without_times(other)
        assert record.kinds(job) == ["MatchStarted", "MatchFinished"]
        players = len(job.entrants)
        assert replayed(record.last_try(job), players) == actions_of(result)
        for game in result.games:
            end = verify(make_replay(job.ruleset(), players, job.seed, game.actions))
            assert (end.scores(), end.ending) == (game.scores, game.ending)
    assert all_gone(token)


class Spectator:
    """Looks at a match whenever something happens in it."""

    def __init__(self) -> None:
        self.dispatcher: LocalDispatcher | None = None
        self.plies: list[tuple[int, ...]] = []
        self.views: list[Any] = []
        self.last: Any = None

    def __call__(self, event: Event) -> None:
        assert self.dispatcher is not None
        if isinstance(event, MatchStarted):
            self.match = self.dispatcher.playing[event.job.id]
        elif isinstance(event, MatchStreamed):
            assert self.dispatcher.playing[event.job.id] is self.match
            self.plies.append(tuple(game.plies for game in self.match.games))
            ply = self.match.plies(0)
            self.views.append(self.match.view(0, ply, SPECTATORS))
            with pytest.raises(BadViewer):
                self.match.view(0, ply, POST_GAME)
        elif isinstance(event, MatchFinished):
            assert self.dispatcher.playing[event.job.id] is self.match
            ply = self.match.plies(0)
            self.last = self.match.view(0, ply, POST_GAME)


def test_a_match_can_be_seen_while_it_is_played_and_all_its_cards_afterwards(
    slow: tuple[Entrant, ...],
) -> None:
    (job,) = jobs(slow, 1)
    spectator = Spectator()

    async def play() -> MatchResult:
        spectator.dispatcher = LocalDispatcher(CORES[:1], sandboxed=False, on_event=spectator)
        async with spectator.dispatcher as dispatcher:
            return finished(await dispatcher.submit(job))

    result = run(play())
    game = result.games[0]
    assert spectator.plies == sorted(spectator.plies)
    assert len({plies[0] for plies in spectator.plies}) > 10
    assert len({view["turn"] for view in spectator.views}) > 10
    end = verify(make_replay(job.ruleset(), 2, job.seed, game.actions))
    assert spectator.last == end.reveal()


def test_a_decision_is_seen_while_the_next_bot_still_thinks(tmp_path: Path, token: str) -> None:
    turn, seen = tmp_path / "turn", tmp_path / "seen"
    thinks = f"""
    if asked > 3 and request.view["phase"] == "turn" and not os.path.exists({str(turn)!r}):
        open({str(turn)!r} + ".new", "w").write(str(request.view["turn"]))
        os.rename({str(turn)!r} + ".new", {str(turn)!r})
        naps = 0
        while naps < {NAPS} or not os.path.exists({str(seen)!r}):
            time.sleep(0.01)
            naps += 1
    return request.legal[0]
    """
    thinker = entrant(write_bot(tmp_path / "thinker", thinks), token)
    patient = TimeControl(bank_ms=int(PATIENCE * 1000))
    (job,) = jobs((entrant(write_bot(tmp_path / "first"), token), thinker), 1, patient)

    async def play() -> None:
        async with LocalDispatcher(CORES[:1], sandboxed=False) as dispatcher:
            future = dispatcher.submit(job)
            while not turn.exists():
                await asyncio.sleep(0.01)
            match = dispatcher.playing[job.id]
            while (view := match.view(0, match.plies(0), SPECTATORS))["turn"] < int(
                turn.read_text()
            ):
                await asyncio.sleep(0.01)
            ply = match.plies(0)
            last = match.decisions(0, SPECTATORS)[-1]
            seen.touch()
            assert view["seat"] == 1
            actions = finished(await future).games[0].actions
            assert (last.seat, last.action) == (0, actions[ply - 1])
            decisions = match.games[0].decisions
            assert decisions[ply].seat == 1
            # A nap is never a stall; but what the referee waits for a core itself is taken off.
            assert decisions[ply].spent_us > NAPS * 10_000 // 3

    run(play())


def test_referees_and_their_bots_give_way_as_told(tmp_path: Path, token: str) -> None:
    told = tmp_path / "nice"
    says = f"""
    session = "/proc/self/autogroup"  # where sessions are scheduled as groups
    group = open(session).read().split()[-1] if os.path.exists(session) else os.nice(0)
    open({str(told)!r}, "w").write(f"{{os.nice(0)}} {{group}}")
    return request.legal[0]
    """
    bots = (entrant(write_bot(tmp_path / "bot", says), token), entrant(write_bot(tmp_path / "b")))
    (job,) = jobs(bots, 1)

    async def play() -> None:
        async with LocalDispatcher(CORES[:1], sandboxed=False, nice=7) as dispatcher:
            [referee] = dispatcher.pids
            assert os.getpriority(os.PRIO_PROCESS, referee) == os.nice(0) + 7
            finished(await dispatcher.submit(job))
            assert told.read_text() == f"{os.nice(0) + 7} {os.nice(0) + 7}"

    run(play())


def test_a_hostile_bot_drops_out_for_all_to_see(sandbox: Sandbox, token: str) -> None:
    names = ("illegal", "honest", "half_a_frame")
    bots = tuple(Entrant(name, name, ("python3", f"{name}.py", token), HOSTILE) for name in names)
    job = Job("keltis", {}, 3, bots, SHORT)
    record = Record()

    async def play() -> MatchResult:
        async with LocalDispatcher(CORES[:1], on_event=record) as dispatcher:
            result = finished(await dispatcher.submit(job))
            assert dispatcher.replaced == 0
            return result

    result = run(play())
    told = [
        (entry.rotation, entry.seat, entry.kind, entry.code)
        for batch in record.last_try(job)
        for entry in batch
        if isinstance(entry, Dropped)
    ]
    losses = [
        (game.rotation, loss.seat, loss.fault.kind, loss.fault.code)
        for game in result.games
        for loss in game.losses
    ]
    assert told == losses
    assert {game.entrants[loss.seat] for game in result.games for loss in game.losses} == {0, 2}
    assert result.ranks[1] == 1
    assert replayed(record.last_try(job), 3) == actions_of(result)
    assert all_gone(token)


def test_jobs_wait_for_a_free_referee_and_are_played_in_their_order(
    quick: tuple[Entrant, ...],
) -> None:
    wanted = jobs(quick, 5)
    record = Record()

    async def play() -> None:
        async with LocalDispatcher(CORES[:1], sandboxed=False, on_event=record) as dispatcher:
            assert dispatcher.free == 1
            await dispatcher.wait_free()
            futures = [dispatcher.submit(job) for job in wanted]
            assert dispatcher.free == 0
            assert list(dispatcher.playing) == [wanted[0].id]
            with pytest.raises(ValueError, match="has been submitted before"):
                dispatcher.submit(wanted[3])
            await dispatcher.wait_free()
            assert all(future.done() for future in futures)
            assert finished(await dispatcher.submit(wanted[3])) is not None, "it is over"

    run(play())
    started = [event.job.id for event in record.events if isinstance(event, MatchStarted)]
    assert started == [job.id for job in [*wanted, wanted[3]]]


def test_a_mistake_of_who_listens_is_reported_and_stops_nothing(quick: tuple[Entrant, ...]) -> None:
    (job,) = jobs(quick, 1)
    reported: list[dict[str, Any]] = []

    def listen(event: Event) -> None:
        raise RuntimeError(type(event).__name__)

    async def play() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: reported.append(context))
        async with LocalDispatcher(CORES[:1], sandboxed=False, on_event=listen) as dispatcher:
            assert len(finished(await dispatcher.submit(job)).games) == 2

    asyncio.run(play())
    names = [str(context["exception"]) for context in reported]
    assert names[0] == "MatchStarted"
    assert names[-1] == "MatchFinished"
