"""Unpack a tar, plain or compressed, from beginning to end: nothing is read twice or kept.

Of tarfile only the reading of one header of 512 bytes is used: it would keep all members, follow
headers that announce headers as deep as they like, and read holes into files.
"""

from __future__ import annotations

import lzma
import struct
import tarfile
import zlib
from pathlib import Path
from typing import Final

from keltis_ladder.files.sizes import KIB, MIB
from keltis_ladder.programs.unpacking import pax
from keltis_ladder.programs.unpacking.compressed import Counted, Part, decompressed
from keltis_ladder.programs.unpacking.names import BadArchive, quoted
from keltis_ladder.programs.unpacking.targets import Source, Target

TAR: Final = b"ustar"
TAR_AT: Final = 257  # where it stands in the first header

LARGEST_HEADER: Final = 64 * KIB  # long names and the like, which are read as a whole
MOST_HEADERS: Final = 8  # that may come before the header which they are about
ASIDE: Final = 64 * MIB  # for headers, and for what is left out
_OF_ONE: Final = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_ANNOUNCING: Final = frozenset(
    {*_OF_ONE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
)
_BLOCK: Final = tarfile.BLOCKSIZE
_END: Final = bytes(_BLOCK)


class _Announced:
    """What the headers before a member's own one say about it."""

    def __init__(self) -> None:
        self.count = 0
        self._records: dict[str, str] = {}

    def take(self, header: tarfile.TarInfo, data: bytes) -> None:
        """Note what a header says."""
        self.count += 1
        if self.count > MOST_HEADERS:
            raise BadArchive("this tar is damaged: its headers only announce further ones")
        if header.type == tarfile.GNUTYPE_LONGNAME:
            self._records[pax.PATH] = pax.text_of(data.partition(b"\0")[0])
        elif header.type == tarfile.GNUTYPE_LONGLINK:
            self._records[pax.LINK] = pax.text_of(data.partition(b"\0")[0])
        elif header.type in _OF_ONE:
            self._records |= pax.read_records(data)
        else:  # for all members: a comment, say. What could change them is nobody's habit.
            told = pax.read_records(data)
            if {pax.PATH, pax.LINK, pax.SIZE}.intersection(told):
                raise BadArchive("a header of this tar is invalid: pack the archive again")

    def tell(self, member: tarfile.TarInfo) -> None:
        """Tell a member what was said about it."""
        if any(key.startswith(pax.SPARSE) for key in self._records):
            raise _sparse(member.name)
        member.name = self._records.get(pax.PATH, member.name)
        member.linkname = self._records.get(pax.LINK, member.linkname)
        if pax.SIZE in self._records:
            member.size = pax.read_size(self._records[pax.SIZE])


def unpack_tar(path: Path, target: Target) -> None:
    """Unpack a tar to a target."""
    with path.open("rb") as file:
        read_tar(decompressed(file), target)


def read_tar(source: Source, target: Target) -> None:
    """Unpack a tar that comes from somewhere."""
    try:
        _read(Counted(source, target.bounds.size + ASIDE, target.deadline), target)
    except (
        tarfile.TarError,
        zlib.error,
        lzma.LZMAError,
        struct.error,
        EOFError,
        ValueError,
        OverflowError,
    ) as error:
        if isinstance(error, BadArchive):
            raise
        raise BadArchive(f"this tar is damaged or cut off: {error}") from None


def _read(stream: Counted, target: Target) -> None:
    announced = _Announced()
    while (block := stream.exactly(_BLOCK)) != _END:
        member = _header(block)
        if member.type in _ANNOUNCING:
            data = stream.exactly(member.size)
            stream.exactly(-member.size % _BLOCK)
            announced.take(member, data)
            continue
        announced.tell(member)
        announced = _Announced()
        size = member.size if member.isreg() else 0
        part = Part(stream, size)
        _unpack(member, part, target)
        part.skip()
        stream.exactly(-size % _BLOCK)
    stream.finish()


def _header(block: bytes) -> tarfile.TarInfo:
    """Read a header; refuse those that would have us read or skip without end."""
    member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    if member.size < 0 or (member.type in _ANNOUNCING and member.size > LARGEST_HEADER):
        raise BadArchive("a header of this tar is invalid: pack the archive again")
    if member.type == tarfile.GNUTYPE_SPARSE:
        raise _sparse(member.name)
    return member


def _unpack(member: tarfile.TarInfo, data: Part, target: Target) -> None:
    parts = target.admit(member.name)
    if parts is None:
        return
    if member.isdir():
        target.directory(parts)
    elif member.issym():
        target.link(parts, member.linkname)
    elif member.islnk():
        target.copy(parts, member.linkname)
    elif member.isreg():
        target.file(parts, data, member.size, bool(member.mode & 0o111))
    else:
        raise BadArchive(f"{quoted(member.name)} is neither a file nor a directory nor a link")


def _sparse(name: str) -> BadArchive:
    return BadArchive(f"{quoted(name)} is a file with holes: pack it without --sparse")
