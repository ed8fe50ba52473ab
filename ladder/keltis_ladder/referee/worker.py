"""A referee in a process of its own: takes jobs on stdin, plays them, writes results to stdout.

It is pinned to one core, which its bots inherit, and dies with the process that started it. While
it plays it writes signs of life or, if its matches are watched, what happens in them, as
``docs/dispatcher.md`` describes.
Messages are frames as in the bot protocol, but without its limits: both ends are ours.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from typing import Any, BinaryIO, Final

import msgpack

from keltis_bots.framing import LENGTH, PREFIX, frame
from keltis_ladder.match.excuses import Excuses
from keltis_ladder.match.faults import InDoubt, MachineBusy, PlatformFault
from keltis_ladder.match.jobs import Job, job_from_plain
from keltis_ladder.match.results import match_to_plain
from keltis_ladder.programs.launchers import make_launcher
from keltis_ladder.referee.referee import Referee
from keltis_ladder.referee.stream import Outlet, Pulse, Stream
from keltis_ladder.sandbox.niceness import become_nice
from keltis_ladder.sandbox.prctl import die_with_parent
from keltis_ladder.sandbox.shares import Share, read_share
from keltis_ladder.sandbox.strays import end_strays

RARELY: Final = 50_000  # objects between two collections: a referee makes no cycles to speak of
READY: Final = {"kind": "ready"}


def read_message(source: BinaryIO) -> dict[str, Any] | None:
    """Return the next message, or none at the end."""
    start = source.read(PREFIX)
    if len(start) < PREFIX:
        return None
    size: int = LENGTH.unpack(start)[0]
    payload = source.read(size)
    if len(payload) < size:
        return None
    message: dict[str, Any] = msgpack.unpackb(payload)
    return message


class Worker:
    """Plays jobs one after the other."""

    def __init__(self, outlet: Outlet, sandboxed: bool, watched: bool, share: Share) -> None:
        self.outlet = outlet
        self.stream: Stream | Pulse = Stream(outlet) if watched else Pulse(outlet)
        self.launcher = make_launcher(sandboxed)
        self.referee = Referee(
            self.launcher,
            limits=share.limits,
            idle_bytes=share.idle,
            idle_tasks=share.idle_tasks,
        )

    def work(self, job: Job, excused: dict[str, int]) -> None:
        """Play a job and tell what came of it; its bots were excused so often in a row."""
        self.referee.excuses = Excuses(excused)
        self.stream.begin(job.id)
        outcome = self.play(job)
        self.outlet.deliver(self.stream.rest() + frame(outcome))

    def play(self, job: Job) -> dict[str, Any]:
        """Play a job and return what to tell: a result, or that the platform failed."""
        self.referee.control = job.control
        try:
            result = self.referee.play_match(job.ruleset(), job.seed, job.entrants, self.stream)
        except MachineBusy as fault:
            doubtful = fault.bot if isinstance(fault, InDoubt) else None
            return {"kind": "busy", "id": job.id, "text": str(fault), "excused": doubtful}
        except PlatformFault as fault:
            return {"kind": "platform", "id": job.id, "text": str(fault)}
        return {"kind": "result", "id": job.id, "match": match_to_plain(result)}


def main() -> None:
    """Serve until stdin is closed."""
    parser = argparse.ArgumentParser(prog="keltis_ladder.referee.worker", description=__doc__)
    parser.add_argument("--parent", type=int, required=True, help="the process that wants it")
    parser.add_argument("--cpu", type=int, help="the core to stay on")
    parser.add_argument("--no-sandbox", action="store_true", help="start bots without a sandbox")
    parser.add_argument("--nice", type=int, default=0, help="how much to give way to others")
    parser.add_argument("--share", type=read_share, required=True, help="of the machine's memory")
    parser.add_argument("--watched", action="store_true", help="tell of matches under way")
    arguments = parser.parse_args()
    die_with_parent(arguments.parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    if arguments.cpu is not None:
        os.sched_setaffinity(0, {arguments.cpu})
    become_nice(arguments.nice)
    source, outlet = sys.stdin.buffer, Outlet(os.dup(1))
    os.dup2(2, 1)
    gc.freeze()  # what was imported stays: no need to look at it again and again
    gc.set_threshold(RARELY)
    end_strays()  # of referees that nobody has buried
    worker = Worker(
        outlet,
        sandboxed=not arguments.no_sandbox,
        watched=arguments.watched,
        share=arguments.share,
    )
    outlet.deliver(frame(READY))
    try:
        while (message := read_message(source)) is not None:
            worker.work(job_from_plain(message["job"]), message["excused"])
    finally:
        worker.referee.close()


if __name__ == "__main__":
    main()
