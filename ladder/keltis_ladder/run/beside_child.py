"""What a process hears that works beside a ladder, from whoever started it.

The first line of its input says where the database is, and what else it has to know; ``finish`` has
it do what is left and end. The end of its input ends it.
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
from typing import Any, Final

from keltis_ladder.sandbox.niceness import become_nice
from keltis_ladder.sandbox.prctl import die_with_parent

FINISH: Final = b"finish"
NICE: Final = 15  # more than referees: such a process may wait, they should not
_CHUNK: Final = 4096


class Orders:
    """What whoever started us wants, line by line."""

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
            data = os.read(self._descriptor, _CHUNK)
            self.over = not data
            self._buffer += data
        line, found, rest = self._buffer.partition(b"\n")
        if not found:
            return None
        self._buffer = rest
        return line


def follow(what: str, serve: Callable[[dict[str, Any], Orders], None]) -> None:
    """Be such a process: give way, die with who started us, and serve until the input ends."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--parent", type=int, required=True, help="the process that wants it")
    arguments = parser.parse_args()
    die_with_parent(arguments.parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    become_nice(NICE)
    orders = Orders(sys.stdin.fileno())
    known = orders.next(None)
    if known is not None:
        serve(json.loads(known), orders)
