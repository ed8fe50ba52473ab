"""Room on a disk: a writer of much says so first, and nobody counts on the same room twice.

Several processes of a ladder build at the same time. Each that looked at the free space by itself
would find enough for all. So each writes down what it may need, in a file beside what it works on,
and holds a lock on that file; the lock ends with its holder, however that ends. What is written
already counts twice until it is ready, which errs on the safe side.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from keltis_ladder.files.sizes import MIB
from keltis_ladder.match.faults import MachineFailed

# Beside what is promised as much again stays free, up to this: the database is on the same disk.
OF_RESULTS: Final = 256 * MIB
LOOK: Final = 0.25  # seconds between two looks whether others have gone
WAITING_FOR_ROOM_SECONDS: Final = 60.0  # that somebody waits for others
_PROMISE: Final = ".room-"  # how the names of the files begin


@contextmanager
def reserved(
    directory: Path,
    needed: int,
    is_wanted: Callable[[], bool] = lambda: True,
    patience: float = WAITING_FOR_ROOM_SECONDS,
) -> Iterator[None]:
    """Reserve bytes of the disk of a directory; wait while others have what is missing.

    Raise MachineFailed if nobody else has any, and there is not enough. Blocking.
    """
    deadline = time.monotonic() + patience
    while (promise := _promise(directory, needed, may_wait=time.monotonic() < deadline)) is None:
        if not is_wanted():
            raise MachineFailed(f"nobody waits for room in {directory} any more")
        time.sleep(LOOK)
    path, held = promise
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(held)


def room_left(directory: Path) -> int:
    """Return the bytes of the disk of a directory that are free and that nobody counts on."""
    with _alone(directory):
        return _free(directory) - _promised(directory)


def worth_waiting(directory: Path, needed: int) -> bool:
    """Return whether there is too little room now, and others have some that they will give back.

    For those whose time begins to count when they begin.
    """
    with _alone(directory):
        promised = _promised(directory)
        return promised > 0 and _free(directory) - promised - min(needed, OF_RESULTS) < needed


def _promise(directory: Path, needed: int, may_wait: bool) -> tuple[Path, int] | None:
    """Write down what we need; return none if we have to wait for others."""
    try:
        with _alone(directory):
            free, promised = _free(directory), _promised(directory)
            for_results = min(needed, OF_RESULTS)
            if free - promised - for_results < needed:
                if promised and may_wait:
                    return None
                raise MachineFailed(
                    f"the disk of {directory} is too full: {free // MIB} MiB are free,"
                    f" {promised // MIB} MiB of them are promised to others,"
                    f" {for_results // MIB} MiB are for results, and {needed // MIB} MiB more are"
                    " needed. Remove what is not needed, or move the directory"
                )
            return _write_down(directory, needed)
    except OSError as error:
        raise MachineFailed(f"cannot use the disk of {directory}: {error}") from error


def _write_down(directory: Path, needed: int) -> tuple[Path, int]:
    held, name = tempfile.mkstemp(prefix=_PROMISE, dir=directory)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        os.write(held, b"%d" % needed)
    except OSError:
        Path(name).unlink()
        os.close(held)
        raise
    return Path(name), held


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Keep others from looking and promising meanwhile."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _free(directory: Path) -> int:
    disk = os.statvfs(directory)
    return disk.f_bavail * disk.f_frsize


def _promised(directory: Path) -> int:
    """Return what all have been promised who are still there; forget the others."""
    promised = 0
    for path in directory.glob(f"{_PROMISE}*"):
        try:
            with path.open("rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    promised += int(file.read() or b"0")
                else:
                    path.unlink(missing_ok=True)
        except FileNotFoundError:  # it has just been given back
            pass
    return promised
