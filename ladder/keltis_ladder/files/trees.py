"""A directory of a stranger's files: look through it, seal it against changes, remove it.

Nothing here follows a link, or opens anything but regular files.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keltis_ladder.errors import LadderError
from keltis_ladder.files.sizes import MIB
from keltis_ladder.match.faults import MachineFailed

DEEPEST: Final = 64  # directories within each other; far below what Python or the kernel can take

# Readable by anyone, since the sandbox runs as nobody in particular; writable by nobody.
DIRECTORY: Final = 0o555
FILE: Final = 0o444
PROGRAM: Final = 0o555


# What names, links and permissions of a bot's files can bring about. Whatever else goes wrong with
# files, a full disk or a lack of descriptors, is the machine's fault.
OF_THE_FILES: Final = frozenset(
    {
        *(errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL),
        *(errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENOTEMPTY, errno.ENXIO),
    }
)


class CannotStage(LadderError):
    """A bot's directory holds what cannot be taken; the text says what, and what to do."""


def blame(error: OSError, text: str) -> LadderError:
    """Return whose fault an error is that came up with a bot's files: theirs, or the machine's."""
    reason = f"{text}: {error.strerror or error}"
    return CannotStage(reason) if error.errno in OF_THE_FILES else MachineFailed(reason)


@dataclass(frozen=True)
class Bounds:
    """How much a directory may hold."""

    files: int
    size: int  # bytes


@dataclass(frozen=True)
class TreeEntry:
    """Something below a directory, by its name relative to it."""

    name: str
    path: Path
    mode: int
    size: int

    @property
    def is_program(self) -> bool:
        return bool(self.mode & 0o111)


def walk(directory: Path, bounds: Bounds) -> Iterator[TreeEntry]:
    """Yield all that is below a directory, parents first; raise when it is too much."""
    files = size = 0
    pending = [directory]
    while pending:
        place = pending.pop()
        depth = len(place.parts) - len(directory.parts)
        if depth > DEEPEST:
            raise CannotStage(f"directories are nested more than {DEEPEST} deep")
        with os.scandir(place) as found:
            for item in found:
                path = Path(item.path)
                status = item.stat(follow_symlinks=False)
                files += 1
                size += status.st_size if stat.S_ISREG(status.st_mode) else 0
                if files > bounds.files:
                    raise CannotStage(
                        f"there are more than {bounds.files:,} files: remove what is not needed"
                    )
                if size > bounds.size:
                    raise CannotStage(
                        f"the files have more than {bounds.size / MIB:,.0f} MiB: remove what is"
                        " not needed"
                    )
                yield TreeEntry(
                    str(path.relative_to(directory)), path, status.st_mode, status.st_size
                )
                # Looked into after the caller has seen it, and has perhaps made it readable.
                if stat.S_ISDIR(status.st_mode):
                    pending.append(path)


def real_path(path: Path) -> Path:
    """Return where a path leads; raise ``OSError`` if that is a circle, whatever Python it is.

    Since Python 3.13 ``resolve`` does not tell.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise
    return path.resolve()


def open_file(entry: TreeEntry) -> io.BufferedReader:
    """Open a regular file, and nothing that has taken its place meanwhile."""
    try:
        fd = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise blame(error, f"{entry.name} cannot be read") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise CannotStage(f"{entry.name} changed while it was read: try again")
    return os.fdopen(fd, "rb")


def seal(directory: Path, bounds: Bounds) -> str:
    """Make a directory ours and read-only, remove what is no file, and return its digest."""
    _take(directory, 0o755)
    entries: list[TreeEntry] = []
    for entry in walk(directory, bounds):
        if stat.S_ISDIR(entry.mode):
            _take(entry.path, 0o755)
        elif stat.S_ISREG(entry.mode):
            _take(entry.path, PROGRAM if entry.is_program else FILE)
        elif stat.S_ISLNK(entry.mode):
            _own(entry.path)
        else:
            entry.path.unlink()  # a pipe or a socket that a compiler has left
            continue
        entries.append(entry)
    entries.sort(key=lambda entry: entry.name)
    digest = hashlib.sha256()
    for entry in entries:
        for part in _contents(entry):
            digest.update(len(part).to_bytes(8, "big") + part)
    for entry in entries:
        if stat.S_ISDIR(entry.mode):
            entry.path.chmod(DIRECTORY)
    directory.chmod(DIRECTORY)
    return digest.hexdigest()


def unseal(directory: Path, bounds: Bounds) -> None:
    """Let the owner write to a sealed directory again."""
    directory.chmod(0o755)
    for entry in walk(directory, bounds):
        if stat.S_ISDIR(entry.mode):
            entry.path.chmod(0o755)
        elif stat.S_ISREG(entry.mode):
            entry.path.chmod(0o755 if entry.is_program else 0o644)


def discard(directory: Path) -> None:
    """Remove a directory, sealed or not; these programs, unlike Python, take any depth."""
    with contextlib.suppress(FileNotFoundError):
        directory.chmod(0o700)
        subprocess.run(["chmod", "-R", "u+rwX", "--", str(directory)], check=False)
        subprocess.run(["rm", "-rf", "--", str(directory)], check=True)


def _take(path: Path, mode: int) -> None:
    _own(path)
    path.chmod(mode)


def _own(path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(path, 0, 0, follow_symlinks=False)


def _contents(entry: TreeEntry) -> Iterator[bytes]:
    """Yield what of an entry counts for the digest."""
    yield os.fsencode(entry.name)
    if stat.S_ISDIR(entry.mode):
        yield b"directory"
    elif stat.S_ISLNK(entry.mode):
        # Never followed out here; in the sandbox it leads to what the sandbox has there.
        yield b"link"
        yield os.fsencode(entry.path.readlink())
    else:
        yield b"program" if entry.is_program else b"file"
        with open_file(entry) as file:
            yield hashlib.file_digest(file, "sha256").digest()
