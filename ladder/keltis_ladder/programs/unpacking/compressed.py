"""Compressed data as it comes out: in bounded pieces, counted, and with little memory."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import BinaryIO, Final, Protocol

from keltis_ladder.files.sizes import KIB, MIB
from keltis_ladder.programs.unpacking.names import BadArchive
from keltis_ladder.programs.unpacking.targets import Deadline, Source

GZIP: Final = b"\x1f\x8b"
BZIP2: Final = b"BZh"
XZ: Final = b"\xfd7zXZ\x00"
ALL: Final = (GZIP, BZIP2, XZ)

XZ_MEMORY: Final = 128 * MIB  # twice what xz -9 needs
# Compressors that use several cores write one stream after the other. Empty ones cost us time, and
# an attacker 14 bytes each.
MOST_STREAMS: Final = 10_000
_INPUT: Final = 64 * KIB
_READ_BYTES: Final = 256 * KIB
_ANY_GZIP: Final = 31  # zlib's number for gzip with a window of any size


class _Decompressor(Protocol):
    """What bz2 and lzma have."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Gunzip:
    """Makes zlib's decompressor look like the others."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(_ANY_GZIP)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


class _Streams:
    """Compressed streams, one after the other, as one."""

    def __init__(self, file: BinaryIO, make: Callable[[], _Decompressor]) -> None:
        self._file = file
        self._make = make
        self._stream = make()
        self._count = 1
        self._fresh = b""

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes; none at the end."""
        while not self._stream.eof or self._begin_next():
            fresh = b""
            if self._stream.needs_input:
                fresh, self._fresh = self._fresh or self._file.read(_INPUT), b""
            data = self._stream.decompress(fresh, size)
            if data:
                return data
            if self._stream.needs_input and not fresh and not self._stream.eof:
                raise EOFError("the compressed data ends too early")
        return b""

    def _begin_next(self) -> bool:
        """Go on to the next stream; return whether there is one."""
        rest = self._stream.unused_data.lstrip(b"\0")
        while not rest:
            chunk = self._file.read(_INPUT)
            if not chunk:
                return False
            rest = chunk.lstrip(b"\0")
        self._count += 1
        if self._count > MOST_STREAMS:
            raise BadArchive("it is compressed in too many pieces: pack the archive again")
        self._stream, self._fresh = self._make(), rest
        return True


def decompressed(file: BinaryIO) -> Source:
    """Return what to read from to get what was compressed, or the file if nothing was."""
    start = file.read(len(XZ))
    file.seek(0)
    if start.startswith(GZIP):
        return _Streams(file, _Gunzip)
    if start.startswith(BZIP2):
        return _Streams(file, bz2.BZ2Decompressor)
    if start.startswith(XZ):
        return _Streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, XZ_MEMORY))
    return file


class Counted:
    """Bytes of a stranger, as many as are allowed, and for as long."""

    def __init__(self, source: Source, most: int, deadline: Deadline) -> None:
        self._source = source
        self._most = most
        self._left = most
        self._deadline = deadline
        self._buffer = b""
        self._at = 0

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes; none at the end."""
        if self._at == len(self._buffer):
            self._fill()
        data = self._buffer[self._at : self._at + size]
        self._at += len(data)
        return data

    def exactly(self, size: int) -> bytes:
        """Return exactly this many bytes."""
        parts = []
        while size > 0:
            part = self.read(size)
            if not part:
                raise EOFError("it ends too early")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def finish(self) -> None:
        """Read what is left: the checksums of compressed data stand at its end."""
        while self.read(_READ_BYTES):
            pass

    def _fill(self) -> None:
        self._deadline.check()
        try:
            self._buffer = self._source.read(_READ_BYTES)
        except OSError as error:
            if error.errno is not None:  # of our disk; bzip2 calls damaged data an OSError, too
                raise
            raise BadArchive(f"this tar is damaged or cut off: {error}") from None
        self._at = 0
        self._left -= len(self._buffer)
        if self._left < 0:
            raise BadArchive(f"it unpacks to more than {self._most / MIB:,.0f} MiB: pack less")


class Part:
    """The next bytes of a stream, a fixed number: the data of one member."""

    def __init__(self, stream: Counted, size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes; none at the end of the member."""
        data = self._stream.read(min(size, self._left)) if self._left else b""
        if self._left and not data:
            raise EOFError("it ends too early")
        self._left -= len(data)
        return data

    def skip(self) -> None:
        """Read what is left of it."""
        while self.read(_READ_BYTES):
            pass
