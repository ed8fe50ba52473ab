"""What a process can ask the kernel about its relatives, and Python has no words for."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

_SET_PDEATHSIG: Final = 1
_SET_CHILD_SUBREAPER: Final = 36
_SET_NO_NEW_PRIVS: Final = 38


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process when the one that started it ends, if it has not yet."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the process that wanted this one has gone")


def adopt_orphans() -> None:
    """Have processes whose parent ends before them become our children, to be waited for."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def give_up_new_privileges() -> None:
    """Have no program that this process starts be more than it is, whoever owns its file."""
    _prctl(_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, argument: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, argument, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
