"""One check of a version, in a child process that is ended with everything it has started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from keltis_bots.texts import printable
from keltis_ladder.files.excerpts import LARGEST_EXCERPT, Excerpt
from keltis_ladder.files.room import LOOK, worth_waiting
from keltis_ladder.files.trees import discard
from keltis_ladder.programs.preparing import discard_unfinished
from keltis_ladder.programs.staging import BUILT, SUBMITTED
from keltis_ladder.sandbox.child import descendants
from keltis_ladder.sandbox.limits import LONGEST_BUILD_SECONDS
from keltis_ladder.sandbox.shares import Share
from keltis_ladder.sandbox.strays import end_strays
from keltis_ladder.store.bots.submissions import Subject
from keltis_ladder.store.home import Home

# Seconds on the wall for a build and all games. A bot cannot use them up: its build, its start and
# every game have limits of their own, for what it uses.
LONGEST_SECONDS: Final = LONGEST_BUILD_SECONDS + 1800.0
ROOM: Final = 2 * SUBMITTED.size + BUILT.size  # unpacked, the bot's files, and what they become
GOODBYE: Final = 5.0  # seconds for the child to end by itself after its last word
LONGEST_LINE: Final = 16 * LARGEST_EXCERPT  # bytes that the child may write in one line

OnEvent = Callable[[str, dict[str, Any]], None]


class CheckTrouble(Exception):
    """A check that could not be finished, through no fault of the bot."""


@dataclass
class Findings:
    """What a check has found so far."""

    findings: list[dict[str, Any]] = field(default_factory=list)
    output: Excerpt = field(default_factory=Excerpt)


async def run_check(
    home: Home,
    subject: Subject,
    sandboxed: bool,
    found: Findings,
    on_event: OnEvent,
    longest: float = LONGEST_SECONDS,
    nice: int = 0,
    share: Share | None = None,
) -> str | None:
    """Check a version; return why it may not play, none if it may. Raise CheckTrouble."""
    await _wait_for_room(home.directory / "bots")
    scratch = _new_directory(home.directory / "incoming")
    try:
        with tempfile.TemporaryFile() as log:  # what it says only if it dies of an internal error
            process = await asyncio.create_subprocess_exec(
                *_command(home, scratch / "bot", subject.digest, sandboxed, nice, share),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                limit=LONGEST_LINE,
                start_new_session=True,  # an interrupt from the terminal is for us alone
            )
            try:
                async with asyncio.timeout(longest):
                    last = await _follow(process, found, on_event)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), GOODBYE)
            except TimeoutError:
                raise CheckTrouble(
                    f"the check was not over after {longest:.0f} s: the machine is too busy"
                ) from None
            finally:
                await _through(_end(process, home.directory / "bots"))
            return _verdict(last, process.returncode, log)
    finally:
        await _through(asyncio.to_thread(discard, scratch))


async def _wait_for_room(disk: Path) -> None:
    """Wait while others have the room that a check may need: its own time has not begun yet."""
    await asyncio.to_thread(disk.mkdir, parents=True, exist_ok=True)
    while await asyncio.to_thread(worth_waiting, disk, ROOM):
        await asyncio.sleep(LOOK)


def _new_directory(parent: Path) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="check-", dir=parent))


def _command(
    home: Home, bot: Path, archive: str, sandboxed: bool, nice: int, share: Share | None
) -> list[str]:
    command = [sys.executable, "-m", "keltis_ladder.check.worker", "--parent", str(os.getpid())]
    command += ["--bot", str(bot), "--cache", str(home.directory / "bots")]
    command += ["--unpack", str(home.archives.path(archive)), "--archive", archive]
    command += ["--nice", str(nice)]
    if share is not None:
        command += ["--share", str(share)]
    return command if sandboxed else [*command, "--no-sandbox"]


async def _follow(
    process: asyncio.subprocess.Process, found: Findings, on_event: OnEvent
) -> dict[str, Any] | None:
    """Pass on what the child tells; return its last word, none if it had none."""
    assert process.stdout is not None
    while line := await process.stdout.readline():
        message = _printable(json.loads(line))
        kind = message.pop("kind")
        if kind == "output":
            found.output.add(message["text"])
        elif kind == "finding":
            message = message["finding"]
            found.findings.append(message)
        elif kind != "doing":
            return {"kind": kind, **message}
        on_event(kind, message)
    return None


def _printable(plain: Any) -> Any:
    if isinstance(plain, str):
        return printable(plain)
    if isinstance(plain, dict):
        return {key: _printable(value) for key, value in plain.items()}
    return plain


def _verdict(last: dict[str, Any] | None, code: int | None, log: Any) -> str | None:
    if last is None:
        log.seek(0)
        words = log.read().decode("utf-8", "replace").split("\n")
        said = next((line.strip() for line in reversed(words) if line.strip()), "nothing")
        raise CheckTrouble(f"the check ended with code {code}, and said: {said[:500]}")
    if last["kind"] == "platform":
        raise CheckTrouble(last["text"])
    failure: str | None = last["failure"]
    return failure


async def _end(process: asyncio.subprocess.Process, programs: Path) -> None:
    """End the child, if it has not ended, and all that it has started; remove what it left."""
    if process.returncode is None:
        family = await asyncio.to_thread(descendants, process.pid)
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        for pid in family[1:]:  # sandboxes end with it anyway; without one, grandchildren do not
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    if await process.wait() != 0:
        await asyncio.to_thread(end_strays)
    await asyncio.to_thread(discard_unfinished, programs, process.pid)


async def _through(work: Coroutine[Any, Any, None]) -> None:
    """Do something to its end, even if we are cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    stopped: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            stopped = error
    if stopped is not None:
        raise stopped
    task.result()
