"""Pack a bot's directory as the archive that we keep: the same files always make the same bytes."""

from __future__ import annotations

import io
import tarfile
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from keltis_ladder.errors import LadderError

_BEST: Final = 9
_GZIP: Final = 31  # zlib's number for gzip, with no time in its header


class TooLarge(LadderError):
    """Files that make a larger archive than there may be."""


class _Compressing(io.RawIOBase):
    """Compresses what is written to it, so that a large bot takes little memory."""

    def __init__(self, file: BinaryIO, most: int | None) -> None:
        self._file = file
        self._most = most
        self._packed = 0
        self._compressor = zlib.compressobj(_BEST, zlib.DEFLATED, _GZIP)
        self._written = 0

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        """Compress the next bytes."""
        self._put(self._compressor.compress(data))
        self._written += len(data)
        return len(data)

    def tell(self) -> int:
        """Return how much was written, as tarfile asks at the beginning."""
        return self._written

    def finish(self) -> None:
        """Write what is left."""
        self._put(self._compressor.flush())

    def _put(self, data: bytes) -> None:
        self._packed += len(data)
        if self._most is not None and self._packed > self._most:
            raise TooLarge(f"packed by gzip, the files have more than {self._most:,} bytes")
        self._file.write(data)


def pack_directory(directory: Path) -> bytes:
    """Return a directory as an archive without times and owners."""
    buffer = io.BytesIO()
    write_archive(directory, buffer)
    return buffer.getvalue()


def write_archive(directory: Path, file: BinaryIO, most: int | None = None) -> None:
    """Write a directory as an archive without times and owners, of limited size."""
    packed = _Compressing(file, most)
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(directory.rglob("*")):
            member = archive.gettarinfo(str(path), str(path.relative_to(directory)))
            if member.islnk():  # a second name of a file: unpacked, it is another file
                member.type, member.linkname = tarfile.REGTYPE, ""
                member.size = path.stat().st_size
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = 0
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            if member.isfile():
                with path.open("rb") as content:
                    archive.addfile(member, content)
            else:
                archive.addfile(member)
    packed.finish()
