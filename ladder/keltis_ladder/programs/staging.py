"""Copy a bot's directory to where nobody changes it."""

from __future__ import annotations

import contextlib
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keltis_ladder.files.sizes import KIB, MIB
from keltis_ladder.files.trees import (
    Bounds,
    CannotStage,
    TreeEntry,
    blame,
    discard,
    open_file,
    real_path,
    seal,
    walk,
)
from keltis_ladder.match.faults import MachineFailed

__all__ = ["BUILT", "SUBMITTED", "CannotStage", "Staged", "stage"]

SUBMITTED: Final = Bounds(files=10_000, size=200 * MIB)
BUILT: Final = Bounds(files=50_000, size=1024 * MIB)
_READ_BYTES: Final = 256 * KIB


@dataclass(frozen=True)
class Staged:
    """A bot's directory, read-only, and the SHA-256 of all that is in it."""

    directory: Path
    digest: str


def stage(source: Path, into: Path, bounds: Bounds = SUBMITTED) -> Staged:
    """Copy a bot's files, directories and links between them to a new directory."""
    if not source.is_dir():
        raise CannotStage(f"{source} is not a directory")
    try:
        into.mkdir(parents=True)
    except OSError as error:
        raise MachineFailed(f"cannot make {into}: {error.strerror}") from error
    try:
        for entry in walk(source, bounds):
            _copy(source, entry, into / entry.name)
        return Staged(into, seal(into, bounds))
    except OSError as error:
        with contextlib.suppress(OSError):
            discard(into)
        raise blame(error, f"cannot copy {error.filename or source}") from error
    except BaseException:
        with contextlib.suppress(OSError):
            discard(into)
        raise


def _copy(source: Path, entry: TreeEntry, target: Path) -> None:
    if stat.S_ISDIR(entry.mode):
        target.mkdir()
    elif stat.S_ISLNK(entry.mode):
        target.symlink_to(_inner_link(source, entry))
    elif stat.S_ISREG(entry.mode):
        with open_file(entry) as file, target.open("xb") as copy:
            # The size has been checked, and a file that grows meanwhile must not pass it.
            left = entry.size
            while left > 0 and (chunk := file.read(min(_READ_BYTES, left))):
                copy.write(chunk)
                left -= len(chunk)
        target.chmod(0o755 if entry.is_program else 0o644)
    else:
        raise CannotStage(
            f"{entry.name} is neither a file nor a directory nor a link: a bot may not have it"
        )


def _inner_link(source: Path, entry: TreeEntry) -> Path:
    target = entry.path.readlink()
    try:
        real = real_path(entry.path.parent / target)
    except OSError:
        raise CannotStage(f"{entry.name} is a link that leads to itself") from None
    if target.is_absolute() or not real.is_relative_to(source.resolve()):
        raise CannotStage(
            f"{entry.name} is a link to {target}, outside of the bot's directory: replace it by"
            " what it points to"
        )
    return target
