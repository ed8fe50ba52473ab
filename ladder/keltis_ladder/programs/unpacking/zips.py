"""Unpack a zip. Its directory at the end and its members must tell the same story."""

from __future__ import annotations

import mmap
import stat
import struct
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from keltis_ladder.files.sizes import KIB
from keltis_ladder.programs.unpacking.names import BadArchive, quoted
from keltis_ladder.programs.unpacking.targets import LONGEST_LINK, Target

MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")  # a member, or the end of an empty one
_ENTRY: Final = b"PK\x01\x02"  # begins each line of the directory
_LOCAL: Final = struct.Struct("<26xHH")  # of a member's header: the lengths of name and extra field
_ENCRYPTED: Final = 0x1 | 0x40 | 0x2000
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_UNIX: Final = 3
_EXTRA: Final = struct.Struct("<H")  # the length of the extra field
_EXTRA_AT: Final = 30  # of a line of the directory
LONG_EXTRA: Final = 4 * KIB  # times of files, owners, sizes: a hundred bytes are usual
MOST_LONG: Final = 16  # a few times the bytes may stand in the data of a file by chance
# Zips within the zip have directories, too. More lines than this are not worth reading.
_LINES: Final = 4


def unpack_zip(path: Path, target: Target) -> None:
    """Unpack a zip to a target."""
    try:
        with path.open("rb") as file:
            _check_lines(file, _LINES * target.bounds.files)
            with _opened(file) as archive:
                members = archive.infolist()
                _check_overlaps(file, members, archive.start_dir)
                for member in members:
                    _unpack(archive, member, target)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError) as error:
        if isinstance(error, BadArchive):
            raise
        raise BadArchive(f"this zip is damaged or cut off: {error}") from None
    except (NotImplementedError, RuntimeError):
        raise BadArchive("this zip needs what we do not have: pack it without options") from None


def _opened(file: BinaryIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (OSError, OverflowError) as error:  # a directory that is nowhere
        raise BadArchive(f"this zip is damaged or cut off: {error}") from None


def _check_lines(file: BinaryIO, most: int) -> None:
    """Refuse a directory that would take much memory, or much time, to read.

    What zipfile takes for a line begins with these bytes, wherever the directory is said to be.
    """
    found = wordy = 0
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(_ENTRY)
        while at >= 0:
            found += 1
            if found > most:
                raise BadArchive("there are too many files in it: remove what is not needed")
            if at + _EXTRA_AT + _EXTRA.size <= len(data):
                # Each of its records makes zipfile copy all that come after it.
                (extra,) = _EXTRA.unpack_from(data, at + _EXTRA_AT)
                wordy += extra > LONG_EXTRA
                if wordy > MOST_LONG:
                    raise BadArchive(
                        "an entry of this zip has too much metadata: pack the archive again"
                    )
            at = data.find(_ENTRY, at + len(_ENTRY))


def _check_overlaps(file: BinaryIO, members: list[zipfile.ZipInfo], directory: int) -> None:
    """Refuse members that share bytes: so little data can be made to look like very much."""
    ends = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        if not ends <= member.header_offset <= directory:
            raise BadArchive(f"{quoted(member.filename)} overlaps with another member")
        file.seek(member.header_offset)
        name, extra = _LOCAL.unpack(file.read(_LOCAL.size))
        ends = member.header_offset + _LOCAL.size + name + extra + member.compress_size
        if ends > directory:
            raise BadArchive(f"{quoted(member.filename)} is cut off, or overlaps with another")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Target) -> None:
    if not member.filename:
        raise BadArchive("an entry of this zip has no name: pack the archive again")
    parts = target.admit(member.orig_filename)
    if parts is None:
        return
    if member.flag_bits & _ENCRYPTED:
        raise BadArchive(f"{quoted(member.filename)} is encrypted: pack it without a password")
    if member.compress_type not in _METHODS:
        raise BadArchive(f"{quoted(member.filename)} is compressed in an unusual way: use deflate")
    mode = member.external_attr >> 16 if member.create_system == _UNIX else 0
    if member.is_dir() or stat.S_ISDIR(mode):
        target.directory(parts)
    elif stat.S_ISLNK(mode):
        with archive.open(member) as source:
            target.link(parts, source.read(LONGEST_LINK + 1).decode("utf-8", "surrogateescape"))
    elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise BadArchive(f"{quoted(member.filename)} is neither a file nor a directory nor a link")
    else:
        with archive.open(member) as source:
            target.file(parts, source, member.file_size, bool(mode & 0o111))
