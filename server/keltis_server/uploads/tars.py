"""Unpack a tar, plain or compressed, from beginning to end: nothing is read twice or kept."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zlib
from pathlib import Path
from typing import BinaryIO, Final, Self

from keltis_ladder.limits import KIB, MIB
from keltis_server.uploads.names import BadArchive, quoted
from keltis_server.uploads.targets import Deadline, Source, Target

GZIP: Final = b"\x1f\x8b"
BZIP2: Final = b"BZh"
XZ: Final = b"\xfd7zXZ\x00"
TAR: Final = b"ustar"
TAR_AT: Final = 257  # where it stands in the first header

XZ_MEMORY: Final = 128 * MIB  # twice what xz -9 needs
LARGEST_HEADER: Final = 64 * KIB  # long names and the like, which are read as a whole
ASIDE: Final = 64 * MIB  # for headers, and for what is left out
_WORDS: Final = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)
_END: Final = bytes(tarfile.BLOCKSIZE)
_CHUNK: Final = 256 * KIB


class _Member(tarfile.TarInfo):
    """A header that is looked at before anything is done with what it says."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header; refuse those that would have us read or skip without end.

        Left to itself, tarfile takes a damaged header, or none, for the end of the archive.
        """
        try:
            member = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if buf == _END:
                raise
            raise BadArchive(f"this tar is damaged or cut off: {error}") from None
        if member.size < 0 or (member.type in _WORDS and member.size > LARGEST_HEADER):
            raise BadArchive("a header of this tar makes no sense: pack it anew")
        if member.type == tarfile.GNUTYPE_SPARSE:
            raise _sparse(member.name)
        return member


class _Stream(io.RawIOBase):
    """The bytes of a tar as they come out of its compression, counted."""

    def __init__(self, source: Source, most: int, deadline: Deadline) -> None:
        self._source = source
        self._most = most
        self._deadline = deadline
        self._left = most

    def read(self, size: int = -1, /) -> bytes:
        """Return so many bytes or fewer."""
        self._deadline.check()
        try:
            data = self._source.read(min(size, _CHUNK) if size >= 0 else _CHUNK)
        except OSError as error:  # what gzip and bzip2 call damaged data
            raise BadArchive(f"this tar is damaged or cut off: {error}") from None
        self._left -= len(data)
        if self._left < 0:
            raise BadArchive(f"it unpacks to more than {self._most / MIB:,.0f} MiB: pack less")
        return data

    def finish(self) -> None:
        """Read what is left: the checksums of compressed data stand at its end."""
        while self.read(_CHUNK):
            pass


class _Xz:
    """A stream of xz that may not take all our memory for its dictionary."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, XZ_MEMORY)

    def read(self, size: int, /) -> bytes:
        """Return so many bytes or fewer; none at the end."""
        while not self._decompressor.eof:
            fresh = self._file.read(_CHUNK) if self._decompressor.needs_input else b""
            data = self._decompressor.decompress(fresh, size)
            if data:
                return data
            if self._decompressor.needs_input and not fresh:
                raise EOFError("the compressed data ends too early")
        return b""


def unpack_tar(path: Path, target: Target) -> None:
    """Unpack a tar to a target."""
    try:
        with path.open("rb") as file:
            stream = _Stream(_decompressed(file), target.bounds.size + ASIDE, target.deadline)
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as archive:
                for member in archive:
                    _unpack(archive, member, target)
            stream.finish()
    except (
        tarfile.TarError,
        zlib.error,
        lzma.LZMAError,
        struct.error,
        EOFError,
        ValueError,
        OverflowError,
        RecursionError,
    ) as error:
        if isinstance(error, BadArchive):
            raise
        raise BadArchive(f"this tar is damaged or cut off: {error}") from None


def _decompressed(file: BinaryIO) -> Source:
    start = file.read(len(XZ))
    file.seek(0)
    if start.startswith(GZIP):
        return gzip.GzipFile(fileobj=file)
    if start.startswith(BZIP2):
        return bz2.BZ2File(file)
    if start.startswith(XZ):
        return _Xz(file)
    return file


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Target) -> None:
    parts = target.admit(member.name)
    if parts is None:
        return
    if member.issparse():
        raise _sparse(member.name)
    if member.isdir():
        target.directory(parts)
    elif member.issym():
        target.link(parts, member.linkname)
    elif member.islnk():
        target.copy(parts, member.linkname)
    elif member.isreg():
        source = archive.extractfile(member)
        assert source is not None
        target.file(parts, source, member.size, bool(member.mode & 0o111))
    else:
        raise BadArchive(f"{quoted(member.name)} is neither a file nor a directory nor a link")


def _sparse(name: str) -> BadArchive:
    return BadArchive(f"{quoted(name)} is a file with holes: pack it without --sparse")
