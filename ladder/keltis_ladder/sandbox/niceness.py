"""Niceness: how much of a core referees and their bots leave to everybody else.

Linux may schedule each session as one group ("autogroup"). Then how nice a process is counts only
within its session, and the session as a whole has a niceness of its own, which it does not inherit.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

TRIES: Final = 20  # to make our own session nice: other referees may begin at the same moment
RETRY_SECONDS: Final = 0.05
NICEST: Final = 19


def become_nice(nice: int) -> None:
    """Give way to others from now on; what we start does the same, if ``pass_on`` tells it to."""
    if not nice:
        return
    os.nice(nice)
    for _ in range(TRIES):
        if pass_on(os.getpid()):
            return
        time.sleep(RETRY_SECONDS)


def pass_on(pid: int, more: int = 0) -> bool:
    """Make the session of a process as nice as we are, where sessions are groups, or nicer.

    Return whether that is settled: who has no privileges may do it only ten times a second, the
    whole machine counted, and has to come again.
    """
    nice = min(NICEST, os.getpriority(os.PRIO_PROCESS, 0) + more)
    try:
        if more:
            os.setpriority(os.PRIO_PGRP, os.getpgid(pid), nice)
        if nice > 0:
            Path(f"/proc/{pid}/autogroup").write_text(str(nice))
    except BlockingIOError:
        return False
    except OSError:  # no groups here, or none of ours
        return True
    return True
