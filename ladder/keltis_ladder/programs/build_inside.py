"""What runs around a build, inside of its sandbox and with no more rights than the build has.

It brings the sources, runs the command, ends what the command has left running, and writes what it
has made to stdout as a tar. The build could replace every word of it: the reader of the stream
expects no better. It is run by itself, and imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from typing import BinaryIO, Final

SOURCES: Final = "/sources"
NOT_FOUND: Final = 127  # as shells say it
NOT_STARTED: Final = 126
NOT_TAKEN: Final = 125
VANISHING_SECONDS: Final = 0.005  # for killed processes to vanish
STDOUT: Final = 1
STDERR: Final = 2


def main() -> None:
    """Build, and end as the command ended."""
    try:
        bring(SOURCES, ".")
        code = run(sys.argv[1:])
        end_all_others()
        if code == 0:
            with open(STDOUT, "wb", buffering=0) as out:  # noqa: PTH123 - a descriptor
                hand_out(".", out)
    except OSError as error:
        print(f"what the build has left cannot be taken: {error}", file=sys.stderr)
        code = NOT_TAKEN
    if code != 0:
        tell_if_full(".")
    sys.stderr.flush()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


def bring(source: str, into: str) -> None:
    """Copy files, directories and links; the copies may be changed."""
    with os.scandir(source) as found:
        for entry in found:
            copy = os.path.join(into, entry.name)  # noqa: PTH118 - quicker, with many files
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), copy)  # noqa: PTH115, PTH211
            elif entry.is_dir():
                os.mkdir(copy, 0o755)  # noqa: PTH102
                bring(entry.path, copy)
            else:
                status = entry.stat()
                shutil.copyfile(entry.path, copy)
                os.chmod(copy, 0o755 if status.st_mode & 0o111 else 0o644)  # noqa: PTH101
                os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))


def run(command: list[str]) -> int:
    """Run the command; all it says goes to stderr. Return its code, or its signal below zero."""
    try:
        return subprocess.run(command, stdout=STDERR, check=False).returncode
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        why = "there is no such program" if missing else error.strerror
        print(f"cannot start {command[0]!r}: {why}", file=sys.stderr)
        return NOT_FOUND if missing else NOT_STARTED


def end_all_others() -> None:
    """Kill all processes but this one and the sandbox's init, and wait until they are gone."""
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.kill(-1, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            time.sleep(VANISHING_SECONDS)


def hand_out(directory: str, out: BinaryIO) -> None:
    """Write files, directories and links as a tar; pipes and sockets are left out."""
    with tarfile.open(
        fileobj=out,
        mode="w|",
        format=tarfile.GNU_FORMAT,
        encoding="utf-8",
        errors="surrogateescape",
    ) as archive:
        for path, status in below(directory):
            member = tarfile.TarInfo(os.path.relpath(path, directory))
            member.mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISDIR(status.st_mode):
                member.type = tarfile.DIRTYPE
                archive.addfile(member)
            elif stat.S_ISLNK(status.st_mode):
                member.type = tarfile.SYMTYPE
                member.linkname = os.readlink(path)  # noqa: PTH115
                archive.addfile(member)
            elif stat.S_ISREG(status.st_mode):
                os.chmod(path, stat.S_IMODE(status.st_mode) | stat.S_IRUSR)  # noqa: PTH101
                member.size = status.st_size
                with open(path, "rb") as file:  # noqa: PTH123
                    archive.addfile(member, file)


def below(directory: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield all that is below a directory, parents first."""
    pending = [directory]
    while pending:
        with os.scandir(pending.pop()) as found:
            entries = list(found)
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            yield entry.path, status
            if stat.S_ISDIR(status.st_mode):
                os.chmod(entry.path, stat.S_IRWXU)  # noqa: PTH101 - it may have shut us out
                pending.append(entry.path)


def tell_if_full(directory: str) -> None:
    """Say so if there was no room left: a compiler's own words may not."""
    room = os.statvfs(directory)
    if not room.f_bavail or not room.f_favail:
        size, files = room.f_blocks * room.f_frsize >> 20, room.f_files
        print(f"its directory is full: {size} MiB and {files:,} files at most", file=sys.stderr)


if __name__ == "__main__":
    main()
