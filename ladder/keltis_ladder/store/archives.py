"""The files that bots came in: each kept once, under the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlmodel import Session

from keltis_ladder.files.packing import pack_directory
from keltis_ladder.files.trees import discard, real_path
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
        if not path.exists() or path.read_bytes() != data:
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

    def get(self, digest: str) -> bytes:
        """Return an archive's bytes."""
        try:
            data = self.path(digest).read_bytes()
        except FileNotFoundError:
            raise MachineFailed(f"the archive {digest} is missing: restore a backup") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise MachineFailed(f"the archive {digest} is damaged: restore a backup")
        return data

    def put_directory(self, directory: Path) -> Kept:
        """Keep a bot's directory as an archive; the same files always make the same one."""
        return self.put(pack_directory(directory))

    def unpack(self, digest: str, into: Path) -> None:
        """Unpack an archive that we packed to a new directory; another one is refused whole."""
        data = self.get(digest)
        into.mkdir(parents=True)
        try:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
                _unpack(archive, into)
        except _NotOurs as error:
            discard(into)
            raise MachineFailed(
                f"the archive {digest} is not as the ladder packs them, and cannot be unpacked:"
                f" {error}; have its bot submitted again"
            ) from None


class _NotOurs(Exception):
    """What makes an archive one that we have not packed."""


def _unpack(archive: tarfile.TarFile, into: Path) -> None:
    """Write what is in an archive; links come last, so that nothing is written through one.

    As safe as the filter "data" of tarfile, which Python has only since 3.11.4.
    """
    links: dict[Path, str] = {}
    for member in archive:
        path = into / _name_within(member)
        try:
            if member.isdir():
                path.mkdir()
            elif member.issym():
                links[path] = member.linkname
            elif member.isreg():
                _write_file(archive, member, path)
            else:
                raise _NotOurs(f"{member.name!r} is neither a file nor a directory nor a link")
        except (FileExistsError, FileNotFoundError, NotADirectoryError) as error:
            raise _NotOurs(f"{member.name!r}: {error.strerror}") from None
    _make_links(links, into)


def _name_within(member: tarfile.TarInfo) -> Path:
    name = Path(member.name)
    if not name.parts or name.is_absolute() or ".." in name.parts:
        raise _NotOurs(f"{member.name!r} is no name within it")
    return name


def _write_file(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source = archive.extractfile(member)
    assert source is not None
    with source, path.open("xb") as file:
        shutil.copyfileobj(source, file)
    path.chmod(0o755 if member.mode & 0o100 else 0o644)
    os.utime(path, (member.mtime, member.mtime))


def _make_links(links: dict[Path, str], into: Path) -> None:
    for path, target in links.items():
        try:
            path.symlink_to(target)
        except OSError as error:
            raise _NotOurs(f"the link {path.name!r}: {error.strerror}") from None
    root = into.resolve()
    for path in links:  # looked at when all are there: one may lead through another
        try:
            inside = real_path(path).is_relative_to(root)
        except OSError:
            raise _NotOurs(f"the link {path.name!r} leads to itself") from None
        if not inside:
            raise _NotOurs(f"the link {path.name!r} leads out of it")


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
