"""The files that bots came in: each kept once, under the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlmodel import Session

from keltis_ladder.files.packing import write_archive
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.store.database import insert_if_new
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.relations import ARCHIVE
from keltis_ladder.store.schema.tables import Archive

PARTIAL: Final = ".new-"  # how the names of files begin that are not complete yet
_SHELF: Final = 2  # letters of the digest that name the directory


@dataclass(frozen=True)
class Kept:
    """An archive on disk."""

    digest: str
    size: int


class Archives:
    """A directory of archives."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, digest: str) -> Path:
        """Return where an archive is kept."""
        return self.root / digest[:_SHELF] / digest

    def put(self, data: bytes) -> Kept:
        """Keep an archive. It is complete on disk when this returns."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        if not path.exists() or _digest(path) != digest:
            self._make_shelf(path)
            handle, name = tempfile.mkstemp(prefix=PARTIAL, dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                self._place(Path(name), path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        else:
            os.utime(path)  # somebody is about to need it: it is not pruned now
        return Kept(digest, len(data))

    def adopt(self, file: Path) -> Kept:
        """Keep an archive that is a file on the same disk already, without reading it whole."""
        kept = Kept(_digest(file), file.stat().st_size)
        path = self.path(kept.digest)
        if not path.exists() or _digest(path) != kept.digest:
            self._make_shelf(path)
            self._place(file, path)
        else:
            os.utime(path)
            file.unlink()
        return kept

    def _make_shelf(self, path: Path) -> None:
        """Make the directory that an archive is kept in."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(exist_ok=True)

    def _place(self, file: Path, path: Path) -> None:
        """Move a file to where it is kept, complete whatever happens afterwards."""
        with file.open("rb") as written:
            os.fsync(written.fileno())
        file.chmod(0o400)
        file.rename(path)
        for directory in (path.parent, self.root, self.root.parent):
            _sync(directory)

    def size_of(self, digest: str) -> int:
        """Return an archive's size; raise unless it is there and undamaged."""
        path = self.path(digest)
        try:
            found = _digest(path)
        except FileNotFoundError:
            raise MachineFailed(f"the archive {digest} is missing: restore a backup") from None
        if found != digest:
            raise MachineFailed(f"the archive {digest} is damaged: restore a backup")
        return path.stat().st_size

    def put_directory(self, directory: Path) -> Kept:
        """Keep a bot's directory as an archive; the same files always make the same one."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=PARTIAL, dir=self.root)
        try:
            with os.fdopen(handle, "wb") as file:
                write_archive(directory, file)
            return self.adopt(Path(name))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def note_archive(session: Session, kept: Kept) -> None:
    """Write down that an archive is kept."""
    row = Archive(digest=kept.digest, size=kept.size, created=now()).model_dump()
    insert_if_new(session, ARCHIVE, row, ["digest"])


def _digest(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
