"""The directory that an archive is unpacked to: nothing is ever written outside of it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final, Protocol

from keltis_ladder.files.sizes import KIB, MIB
from keltis_ladder.files.trees import Bounds, real_path
from keltis_ladder.programs.unpacking.names import (
    BadArchive,
    Parts,
    any_parts_of,
    is_junk,
    leads_out,
    parts_of,
    quoted,
)

LONGEST_LINK: Final = 1000  # bytes of what a link points to
_READ_BYTES: Final = 256 * KIB


class Source(Protocol):
    """What the bytes of a member are read from."""

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes; none at the end."""
        ...


class Deadline:
    """How much CPU unpacking may take: that a machine is busy is not the archive's fault."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = time.process_time() + seconds

    def check(self) -> None:
        """Raise if it has passed."""
        if time.process_time() >= self._at:
            raise BadArchive(f"unpacking it takes more than {self.seconds:.0f} s: pack less")


class Target:
    """Takes members one after the other, counts them, and refuses what is not allowed.

    Whether two names are the same is for the file system to say: each is created, so that names
    which differ only in case are refused exactly where one would overwrite the other. Links are
    made last of all, so that nothing is ever written through one.
    """

    def __init__(self, root: Path, bounds: Bounds, deadline: Deadline) -> None:
        self.root = root
        self.bounds = bounds
        self.deadline = deadline
        self._members = 0
        self._left = bounds.size
        self._directories: set[Parts] = {()}
        self._files: set[Parts] = set()
        self._links: dict[Parts, str] = {}
        root.mkdir(parents=True)

    def admit(self, name: str) -> Parts | None:
        """Count a member; return where it goes, or none if it is left out."""
        self.deadline.check()
        self._members += 1
        self._check_count(self._members)
        parts = self.parts_of(name)
        return None if self.is_junk(parts) else parts

    def parts_of(self, name: str) -> Parts:
        """Return the directories and the name of a member; refuse what could lead elsewhere."""
        return parts_of(name)

    def is_junk(self, parts: Parts) -> bool:
        """Return whether a member is left out without a word."""
        return is_junk(parts)

    def directory(self, parts: Parts) -> None:
        """Make a directory, and those that it is in."""
        if parts in self._directories:
            return
        if parts in self._files or parts in self._links:
            raise BadArchive(f"{quoted('/'.join(parts))} is there twice, once as a directory")
        self.directory(parts[:-1])
        try:
            self._path(parts).mkdir(mode=0o755)
        except FileExistsError:
            raise _twice(parts) from None
        self._directories.add(parts)
        # A member may name dozens of directories that no other names.
        self._check_count(len(self._directories) + len(self._files) + len(self._links))

    def file(self, parts: Parts, source: Source, claimed: int, program: bool) -> None:
        """Write a file. What its header claims is believed at once only if it is too much."""
        if claimed > self._left:
            raise self._too_large()
        self._new(parts)
        mode = 0o755 if program else 0o644
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(self._path(parts), flags, mode)
        except FileExistsError:
            raise _twice(parts) from None
        self._files.add(parts)
        size = 0
        with os.fdopen(descriptor, "wb") as file:
            while chunk := source.read(_READ_BYTES):
                self.deadline.check()
                self._left -= len(chunk)
                if self._left < 0:
                    raise self._too_large()
                file.write(chunk)
                size += len(chunk)
        if size != claimed:
            raise BadArchive(f"{quoted('/'.join(parts))} is damaged: it is not as long as it says")

    def copy(self, parts: Parts, original: str) -> None:
        """Write a file that is another name of an earlier one: a hard link."""
        found = self.parts_of(original)
        if found not in self._files:
            raise BadArchive(
                f"{quoted('/'.join(parts))} is a hard link to {quoted(original)}, which is no file"
                " that came before it: pack it as a file"
            )
        path = self._path(found)
        status = path.stat()
        with path.open("rb") as source:
            self.file(parts, source, status.st_size, bool(status.st_mode & 0o100))

    def link(self, parts: Parts, target: str) -> None:
        """Note a symbolic link, to be made in the end."""
        self._new(parts)
        bad = "\0" in target or not target or len(os.fsencode(target)) > LONGEST_LINK
        if bad or not self.may_link(parts, target):
            raise _outside(parts, target)
        self._links[parts] = target

    def may_link(self, parts: Parts, target: str) -> bool:
        """Return whether a link, by its words alone, stays inside."""
        return not leads_out(parts, target)

    def finish(self) -> None:
        """Make the links."""
        for parts, target in self._links.items():
            try:
                self._path(parts).symlink_to(target)
            except FileExistsError:
                raise _twice(parts) from None
        self.check_links()

    def check_links(self) -> None:
        """See where the links really lead: one may lead through another."""
        root = self.root.resolve()
        for parts, target in self._links.items():
            try:
                inside = real_path(self._path(parts)).is_relative_to(root)
            except OSError:
                raise BadArchive(f"{quoted('/'.join(parts))} is a link to itself") from None
            if not inside:
                raise _outside(parts, target)

    def _new(self, parts: Parts) -> None:
        if not parts or parts in self._directories or parts in self._files or parts in self._links:
            raise _twice(parts)
        self.directory(parts[:-1])

    def _check_count(self, count: int) -> None:
        if count > self.bounds.files:
            raise BadArchive(
                f"there are more than {self.bounds.files:,} files: remove what is not needed"
            )

    def _path(self, parts: Parts) -> Path:
        return self.root.joinpath(*parts)

    def _too_large(self) -> BadArchive:
        return BadArchive(
            f"its files have more than {self.bounds.size / MIB:,.0f} MiB: remove what is not needed"
        )


class AnyNames(Target):
    """Takes all that there is, under whatever names."""

    def parts_of(self, name: str) -> Parts:
        """Return the directories and the name of a member; refuse what could lead elsewhere."""
        return any_parts_of(name)

    def is_junk(self, parts: Parts) -> bool:
        """Leave out nothing: compiled Python may be all that there is."""
        return False


class KeptTarget(AnyNames):
    """Takes what we have packed ourselves."""

    def copy(self, parts: Parts, original: str) -> None:
        """Refuse what we never pack: a file of two names is two files to us."""
        raise BadArchive(f"{quoted('/'.join(parts))} is a hard link to {quoted(original)}")


class BuildTarget(AnyNames):
    """Takes what a build has made.

    Nobody follows its links out here; in the sandbox they lead to what the sandbox has there.
    """

    def may_link(self, parts: Parts, target: str) -> bool:
        """Allow every link."""
        return True

    def check_links(self) -> None:
        """Allow every link."""


def _twice(parts: Parts) -> BadArchive:
    return BadArchive(f"{quoted('/'.join(parts))} is there twice: each name may come once")


def _outside(parts: Parts, target: str) -> BadArchive:
    return BadArchive(
        f"{quoted('/'.join(parts))} is a link to {quoted(target)}, outside of the archive: replace"
        " it by what it points to"
    )
