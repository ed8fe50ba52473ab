"""The fitter: a process that publishes the joint rating while a ladder is played.

Compiled loops let no other thread of their process run, so they have one of their own. It looks
into the database for what has changed, fits all matches from scratch, and publishes scope by scope.
What it does is bounded by what it costs: however many versions there are, it takes no more than a
fifth of a core. It keeps nothing that is not in the database, and can be killed at any moment.

It is told where the database is by the first line of its input; ``finish`` has it publish what is
left and end. The end of its input ends it. For each publication it writes a line.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Final

from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.sandbox.niceness import become_nice
from keltis_ladder.sandbox.prctl import die_with_parent
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.joint.fitting import figures, read_ground
from keltis_ladder.store.ratings.joint.publishing import Published, outdated, write_out
from keltis_ladder.store.ratings.leaderboards import signature

LEAST_REST: Final = 2.0  # seconds from one look to the next
REST_PER_WORK: Final = 4.0  # seconds for each of work, in time of the processor
SLICE: Final = 2.0  # seconds of work after which no other scope is begun
LAST_SLICE: Final = 10.0  # the same before the end
FINISH: Final = b"finish"
NICE: Final = 15  # more than referees: it may wait, they should not
_READ_BYTES: Final = 4096


class Fitter:
    """Publishes what is not up to date."""

    def __init__(
        self,
        database: Database,
        tell: Callable[[Published], None],
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._database = database
        self._tell = tell
        self._clock = clock
        self._settled: tuple[int, ...] | None = None  # the signature when nothing was left to do

    def work(self, seconds: float = SLICE) -> float:
        """Publish what is outdated, for about so long; return what it took of the processor.

        The overall rating always comes first, and then the oldest of the others, at least one: so
        all of them have their turn, even where a single scope takes longer than that.
        """
        begin = self._clock()
        with self._database.reading() as session:
            now = signature(session)
            if now == self._settled:
                return 0.0
            ages = outdated(session)
            ground = read_ground(session) if ages else None
        if ground is None:
            self._settled = now
            return self._clock() - begin
        fit = ground.fit()
        for done, scope in enumerate(_order([age.scope for age in ages])):
            if done >= 2 and self._clock() - begin >= seconds:
                break
            published = write_out(self._database, scope, ground, figures(fit, scope))
            if published is not None:
                self._tell(published)
        return self._clock() - begin


def _order(scopes: list[Scope]) -> list[Scope]:
    return sorted(scopes, key=lambda scope: scope != OVERALL)


def rest_after(work: float) -> float:
    """Return for how many seconds to rest."""
    return max(LEAST_REST, REST_PER_WORK * work)


class Orders:
    """What our parent wants, line by line."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = b""
        self.over = False  # the end of the input

    def next(self, seconds: float | None) -> bytes | None:
        """Wait so long for a line, or for ever; none: there was none, or there will be no more."""
        until = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._buffer and not self.over:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._descriptor], [], [], left)[0]:
                return None
            data = os.read(self._descriptor, _READ_BYTES)
            self.over = not data
            self._buffer += data
        line, found, rest = self._buffer.partition(b"\n")
        if not found:
            return None
        self._buffer = rest
        return line


def tell(published: Published) -> None:
    """Write a line about a publication."""
    line = {"scope": str(published.scope), "as_of": published.as_of, "serial": published.serial}
    print(json.dumps(line), flush=True)


def serve(orders: Orders) -> None:
    """Publish until the input ends."""
    address = orders.next(None)
    if address is None:
        return
    database = Database(json.loads(address)["database"])
    fitter = Fitter(database, tell)
    while not orders.over:
        order = orders.next(rest_after(fitter.work()))
        if order == FINISH:
            fitter.work(LAST_SLICE)
            break
    database.close()


def main() -> None:
    """Run as a process of its own."""
    parser = argparse.ArgumentParser(description="Publish the joint rating of a ladder.")
    parser.add_argument("--parent", type=int, required=True, help="the process that wants it")
    arguments = parser.parse_args()
    die_with_parent(arguments.parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    become_nice(NICE)
    serve(Orders(sys.stdin.fileno()))


if __name__ == "__main__":
    main()
