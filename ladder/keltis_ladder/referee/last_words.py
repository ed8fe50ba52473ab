"""The last words of a program that was told of its timeout: where it is, written to its log.

It has as long for them as if they were on its clock: a machine that is too busy to let it run, or
write on, cuts nobody short.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import Final

STACK_SECONDS: Final = 0.25  # on its clock, until it must have said where it is
SILENCE_SECONDS: Final = 0.02  # on its clock, without a word, after the first, that end its message
LONGEST_SECONDS: Final = 10.0  # for all that, however long the machine keeps it from running
LOOK_SECONDS: Final = 0.010  # between two looks at what it used; the kernel's figures need that


def hear_out(
    ended: int,
    log: int,
    charged: Callable[[], float],
    read: Callable[[], bool],
    longest: float = LONGEST_SECONDS,
) -> None:
    """Read a program's log until it has ended, has fallen silent, or has had its time.

    ``ended`` is readable when the program has ended; ``charged`` returns what its clock counts up
    to now, and ``read`` whether there is a log to be read any more.
    """
    watch = select.poll()
    watch.register(ended, select.POLLIN)
    watch.register(log, select.POLLIN)
    until = time.monotonic() + longest
    first = heard = charged()
    patience = STACK_SECONDS
    while time.monotonic() < until:
        left = min(first + STACK_SECONDS, heard + patience) - charged()
        if left <= 0.0:
            return
        ready = [fd for fd, _ in watch.poll(max(left, LOOK_SECONDS) * 1000)]
        if log in ready:
            if not read():
                return
            heard, patience = charged(), SILENCE_SECONDS
        elif ended in ready:
            return
