"""Strays: sandboxes whose referee was killed while they were being set up.

bubblewrap is two processes: an outer one, which ends with its parent, and an inner one,
which ends with the outer one. Except in one short moment, in which the inner one waits for a word
of the outer one: then it waits for ever. It has not begun to run anything, and does no harm but to
be there.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Final

from keltis_ladder.sandbox.sandbox import HOSTNAME

_OURS: Final = b"\0--hostname\0" + HOSTNAME.encode() + b"\0"


def end_strays() -> list[int]:
    """End all strays on this machine; return their processes."""
    ended = []
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal() and is_stray(pid := int(entry.name)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                ended.append(pid)
    return ended


def is_stray(pid: int) -> bool:
    """Return whether a process is the inner one of a sandbox that has no outer one any more."""
    process = Path(f"/proc/{pid}")
    try:
        if not _is_ours(process):
            return False
        # Its name, in the first line, may hold any bytes: a bot chooses it.
        lines = (process / "status").read_bytes().split(b"\n")[1:]
        status = dict(line.split(b":", 1) for line in lines if b":" in line)
        inner = status[b"NSpid"].split()[1:] == [b"1"]
        return inner and not _is_ours(process.parent / status[b"PPid"].decode().strip())
    except OSError:  # it has ended meanwhile
        return False


def _is_ours(process: Path) -> bool:
    try:
        return _OURS in (process / "cmdline").read_bytes()
    except FileNotFoundError:
        return False
