"""Check one version in a process of its own, and tell what is found in lines of JSON on stdout.

Each line has a ``kind``: ``doing``, ``output``, ``finding``, and last ``done`` or, if it is no
fault of the bot, ``platform``. It dies with the process that started it, and its bots with it.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from keltis_ladder.check.check import Plan, check_bot
from keltis_ladder.errors import LadderError
from keltis_ladder.files.excerpts import Excerpt
from keltis_ladder.findings import Doing, Event, Finding, Mark
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.programs.preparing import unpack_kept
from keltis_ladder.sandbox.child import CannotStart
from keltis_ladder.sandbox.niceness import become_nice
from keltis_ladder.sandbox.prctl import die_with_parent
from keltis_ladder.sandbox.sandbox import Sandbox, find_sandbox
from keltis_ladder.sandbox.shares import Share, read_share

COLLECTING_SECONDS: Final = 0.1  # for which output is collected before it is told
LONGEST_TEXT: Final = 4_000  # characters of what a finding says
LONGEST_LOG: Final = 16_384
SEED_BITS: Final = 48  # of the deals: fresh each time, so that no bot can know them


class EventWriter:
    """Tells what happens; output of a build in large pieces, however small it comes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._output = Excerpt()
        threading.Thread(target=self._tell_output, daemon=True).start()

    def tell(self, kind: str, **data: Any) -> None:
        """Tell one thing, after the output that came before it."""
        with self._lock:
            self._flush()
            self._write({"kind": kind, **data})

    def output(self, text: str) -> None:
        """Take what a build prints."""
        with self._lock:
            self._output.add(text)

    def _tell_output(self) -> None:
        while True:
            time.sleep(COLLECTING_SECONDS)
            with self._lock:
                self._flush()

    def _flush(self) -> None:
        if self._output:
            text, self._output = self._output.text(), Excerpt()
            self._write({"kind": "output", "text": text})

    def _write(self, message: dict[str, Any]) -> None:
        self._file.write(json.dumps(message).encode() + b"\n")
        self._file.flush()


def check(
    directory: Path,
    archive: str,
    sandbox: Sandbox | None,
    cache: Path,
    teller: EventWriter,
    share: Share | None = None,
) -> str | None:
    """Check a bot and tell what is found; return the first failure, none if there was none."""
    failure: str | None = None
    for event in _events(directory, archive, sandbox, cache, teller, share):
        if isinstance(event, Doing):
            teller.tell("doing", text=event.text)
            continue
        plain = _plain(event, directory)
        teller.tell("finding", finding=plain)
        if event.mark is Mark.FAILED and failure is None:
            failure = f"{plain['check']}: {plain['text']}"
    return failure


def _events(
    directory: Path,
    archive: str,
    sandbox: Sandbox | None,
    cache: Path,
    teller: EventWriter,
    share: Share | None,
) -> Iterator[Event]:
    """Check all that a bot claims to play, once, and say how to see the same deals at home."""
    plan = Plan(matches=1, seed=secrets.randbits(SEED_BITS), share=share)
    again = f"seed {plan.seed}; the same deals: keltis-ladder check BOT --seed {plan.seed}"
    yield Finding("deals", Mark.OK, again)
    yield from check_bot(directory, sandbox, plan, teller.output, cache, archive)


def _plain(finding: Finding, directory: Path) -> dict[str, Any]:
    """Return a finding without the paths of this machine: a log's end says most."""

    def told(text: str) -> str:
        return text.replace(f"{directory}/", "").replace(str(directory), "the bot")

    return {
        "check": finding.check,
        "mark": str(finding.mark),
        "text": told(finding.text)[:LONGEST_TEXT],
        "advice": finding.advice,
        "log": told(finding.log)[-LONGEST_LOG:],
    }


def main() -> None:
    """Check one version, and say how it ended."""
    parser = argparse.ArgumentParser(prog="keltis_ladder.check.worker", description=__doc__)
    parser.add_argument("--parent", type=int, required=True, help="the process that wants it")
    parser.add_argument("--bot", type=Path, required=True, help="the directory with its files")
    parser.add_argument("--unpack", type=Path, help="the archive, if they are still in it")
    parser.add_argument("--archive", required=True, help="the digest of what they came in")
    parser.add_argument("--cache", type=Path, required=True, help="where built bots are kept")
    parser.add_argument("--share", type=read_share, help="of the memory; unless it is alone")
    parser.add_argument("--nice", type=int, default=0, help="how much to give way to others")
    parser.add_argument("--no-sandbox", action="store_true", help="run the bot without a sandbox")
    arguments = parser.parse_args()
    die_with_parent(arguments.parent)
    become_nice(arguments.nice)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    teller = EventWriter(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    try:
        if arguments.unpack is not None:
            unpack_kept(arguments.unpack, arguments.archive, arguments.bot, arguments.cache)
        sandbox = None if arguments.no_sandbox else find_sandbox()
        failure = check(
            arguments.bot,
            arguments.archive,
            sandbox,
            arguments.cache,
            teller,
            arguments.share,
        )
    except (LadderError, PlatformFault, CannotStart, OSError) as error:
        teller.tell("platform", text=f"{type(error).__name__}: {error}")
        sys.exit(1)
    teller.tell("done", failure=failure)


if __name__ == "__main__":
    main()
