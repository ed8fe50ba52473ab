"""Who stops, cancels or kills a dispatcher leaves no process behind, and no match half counted."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import msgpack
import pytest

from keltis_ladder.dispatch.dispatcher import AttemptFailed, MatchWithdrawn
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.entrants import Entrant
from tests.ladder.dispatch.support.playing import (
    CORES,
    PATIENCE,
    Record,
    actions_of,
    all_gone,
    finished,
    jobs,
    run,
    until_streamed,
)
from tests.ladder.support.arena import processes_with
from tests.ladder.support.boxes import alive


def test_a_cancelled_match_is_broken_off_and_others_go_on(
    slow: tuple[Entrant, ...], token: str
) -> None:
    playing, waiting, last = jobs(slow, 3)
    record = Record()

    async def play() -> None:
        async with LocalDispatcher(CORES[:1], sandboxed=False, on_event=record) as dispatcher:
            futures = [dispatcher.submit(job) for job in (playing, waiting, last)]
            await until_streamed(record, playing)
            futures[0].cancel()
            futures[1].cancel()
            assert actions_of(finished(await futures[2]))
            assert all(future.cancelled() for future in futures[:2])
            assert dispatcher.replaced == 0, "nothing was wrong with the referee"
            assert dispatcher.playing == {}
            again = dispatcher.submit(playing)
            assert len(finished(await again).games) == 2, "it can be wanted again"

    run(play())
    assert record.kinds(playing) == [
        "MatchStarted",
        "MatchWithdrawn",
        "MatchStarted",
        "MatchFinished",
    ]
    assert record.kinds(waiting) == ["MatchWithdrawn"]
    assert record.kinds(last) == ["MatchStarted", "MatchFinished"]
    assert all_gone(token)


def test_a_task_that_is_cancelled_withdraws_its_match(slow: tuple[Entrant, ...]) -> None:
    (job,) = jobs(slow, 1)
    record = Record()

    async def play() -> None:
        async with LocalDispatcher(CORES[:1], sandboxed=False, on_event=record) as dispatcher:
            waiting = asyncio.ensure_future(dispatcher.submit(job))
            await until_streamed(record, job)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            async with asyncio.timeout(PATIENCE):
                await dispatcher.wait_free()

    run(play())
    assert record.kinds(job) == ["MatchStarted", "MatchWithdrawn"]


def test_closing_lets_a_match_end_but_begins_none(slow: tuple[Entrant, ...], token: str) -> None:
    playing, waiting = jobs(slow, 2)
    record = Record()

    async def play() -> None:
        dispatcher = LocalDispatcher(CORES[:1], sandboxed=False, on_event=record)
        await dispatcher.start()
        futures = [dispatcher.submit(job) for job in (playing, waiting)]
        await until_streamed(record, playing)
        await dispatcher.close(patience=PATIENCE)
        assert len(finished(futures[0].result()).games) == 2
        assert futures[1].cancelled()
        assert dispatcher.pids == []
        with pytest.raises(RuntimeError, match="is closed"):
            dispatcher.submit(waiting)
        with pytest.raises(RuntimeError, match="is closed"):
            await dispatcher.wait_free()

    run(play())
    assert record.kinds(playing) == ["MatchStarted", "MatchFinished"]
    assert record.kinds(waiting) == ["MatchWithdrawn"]
    assert all_gone(token)


@pytest.mark.parametrize("patience", [0.0, 0.2])
def test_closing_breaks_off_what_takes_too_long(
    slow: tuple[Entrant, ...], token: str, patience: float
) -> None:
    wanted = jobs(slow, 3)
    record = Record()

    async def play() -> None:
        dispatcher = LocalDispatcher(CORES, sandboxed=False, on_event=record)
        await dispatcher.start()
        pids = dispatcher.pids
        futures = [dispatcher.submit(job) for job in wanted]
        await until_streamed(record, wanted[0])
        assert processes_with(token)
        await dispatcher.close(patience)
        assert all(future.cancelled() for future in futures)
        assert alive(pids) == []

    run(play())
    assert all(isinstance(record.of(job)[-1], MatchWithdrawn) for job in wanted)
    assert not any(isinstance(event, AttemptFailed) for event in record.events)
    assert all_gone(token)


def test_closing_can_itself_be_cancelled_and_still_leaves_nothing(
    slow: tuple[Entrant, ...], token: str
) -> None:
    (job,) = jobs(slow, 1)
    record = Record()

    async def play() -> None:
        dispatcher = LocalDispatcher(CORES[:1], sandboxed=False, on_event=record)
        await dispatcher.start()
        pids = dispatcher.pids
        future = dispatcher.submit(job)
        await until_streamed(record, job)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await dispatcher.close(patience=PATIENCE)
        assert future.cancelled()
        assert alive(pids) == []

    run(play())
    assert all_gone(token)


def test_nothing_survives_the_process_that_dispatches(
    slow: tuple[Entrant, ...], token: str, tmp_path: Path
) -> None:
    program = tmp_path / "dispatches.py"
    program.write_text(
        "import asyncio, msgpack, sys\n"
        "from keltis_ladder.dispatch.local import LocalDispatcher\n"
        "from keltis_ladder.match.jobs import job_from_plain\n"
        "def listen(event):\n"
        "    print(*dispatcher.pids, flush=True)\n"
        "async def play():\n"
        "    await dispatcher.start()\n"
        "    while True:\n"
        "        job = job_from_plain(msgpack.unpackb(bytes.fromhex(sys.argv[1])))\n"
        "        await dispatcher.submit(job)\n"
        f"dispatcher = LocalDispatcher({CORES!r}, sandboxed=False, on_event=listen)\n"
        "asyncio.run(play())\n"
    )
    (job,) = jobs(slow, 1)
    command = [sys.executable, str(program), msgpack.packb(job.to_plain()).hex()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        for _ in range(20):
            parent.stdout.readline()
        assert len(alive(pids)) == len(CORES)
        assert len(processes_with(token)) >= 2
        parent.kill()
    assert all_gone(token)
    deadline = time.monotonic() + PATIENCE
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert alive(pids) == []
