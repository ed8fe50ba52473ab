"""Archives for tests: good ones, and such as nobody packs by accident."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

MANIFEST = b'name = "mine"\nrun = ["python3", "bot.py"]\n'
BOT = ("bot.toml", MANIFEST)
PROGRAM = ("bot.py", b"print('hello')\n")
FILES = (BOT, PROGRAM)
GIB = 1 << 30


def zipped(files: Iterable[tuple[str, bytes]] = FILES) -> bytes:
    """Return files as a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def zipped_with(member: zipfile.ZipInfo, data: bytes) -> bytes:
    """Return a bot as a zip with one member more."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(*BOT)
        archive.writestr(member, data)
    return buffer.getvalue()


def zip_entry(name: str, mode: int) -> zipfile.ZipInfo:
    """Return a member of a zip with the mode of a file of Unix."""
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = mode << 16
    return member


def tarred(
    files: Iterable[tuple[str, bytes]] = FILES, more: Iterable[tarfile.TarInfo] = ()
) -> bytes:
    """Return files as a tar, and after them members that have no data."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for member in more:
            archive.addfile(member)
    return buffer.getvalue()


def entry(
    name: str, kind: bytes = tarfile.REGTYPE, to: str = "", mode: int = 0o644
) -> tarfile.TarInfo:
    """Return a member of a tar without data."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = kind, to, mode
    return member


def packed(directory: Path, inside: str = "") -> bytes:
    """Return a directory as a tar, compressed."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(directory, inside or directory.name)
    return buffer.getvalue()


def claiming(name: str, size: int) -> bytes:
    """Return the header of a file in a tar that claims a size, and nothing after it."""
    member = tarfile.TarInfo(name)
    member.size = size
    return member.tobuf(tarfile.GNU_FORMAT)


def zip_bomb(size: int = 10 * GIB) -> bytes:
    """Return a small zip that unpacks to very much, and says so."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = bytes(1 << 20)
    whole = compressor.compress(zeros) + compressor.flush(zlib.Z_FULL_FLUSH)
    # After a full flush the same bytes compress to the same again.
    again = compressor.compress(zeros) + compressor.flush(zlib.Z_FULL_FLUSH)
    data = whole + again * (size // len(zeros) - 1) + zlib.compressobj(9, 8, -15).flush()
    return zip_of_one("zeros", data, size)


def zip_of_one(name: str, data: bytes, claimed: int, crc: int = 0) -> bytes:
    """Return a zip with one deflated member whose headers say what we like."""
    low = min(claimed, 0xFFFFFFFF)
    large = claimed > 0xFFFFFFFE
    extra = struct.pack("<HHQ", 1, 8, claimed) if large else b""
    text = name.encode()
    common = struct.pack("<HHHHHIII", 45, 0, 8, 0, 33, crc, len(data), low)
    local = b"PK\x03\x04" + common + struct.pack("<HH", len(text), 0) + text
    line = b"PK\x01\x02" + struct.pack("<H", 45) + common
    line += struct.pack("<HHHHHII", len(text), len(extra), 0, 0, 0, 0, 0) + text + extra
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(line), len(local + data), 0)
    return local + data + line + end


def tar_bomb(size: int = 10 * GIB, claimed: int = 10 * GIB) -> bytes:
    """Return a small tar.gz of zeros; gzip joins what is compressed separately."""
    zeros = gzip.compress(bytes(16 << 20))
    return gzip.compress(claiming("zeros", claimed)) + zeros * (size // (16 << 20))


def overlapping() -> bytes:
    """Return a zip whose directory lists the same data under two names."""
    plain = zipped([BOT])
    at = plain.rindex(b"PK\x05\x06")
    start = plain.index(b"PK\x01\x02")
    line = plain[start:at]
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 2, 2, 2 * len(line), start, 0)
    return plain[:start] + line + line + end


def deep_headers(count: int = 3000) -> bytes:
    """Return a tar whose headers only announce further headers."""
    header = entry("x", tarfile.XHDTYPE).tobuf(tarfile.USTAR_FORMAT)
    return header * count + bytes(1024)


def extended(
    data: bytes,
    kind: bytes = tarfile.XHDTYPE,
    files: Iterable[tuple[str, bytes]] = FILES,
    times: int = 1,
) -> bytes:
    """Return a bot as a tar that begins with an extended header of these bytes, or several."""
    header = entry("x", kind)
    header.size = len(data)
    padding = bytes(-len(data) % tarfile.BLOCKSIZE)
    return (header.tobuf(tarfile.USTAR_FORMAT) + data + padding) * times + tarred(files)


def digits() -> bytes:
    """Return a tar.gz of a few hundred bytes that old versions of tarfile need 9 s to open."""
    return gzip.compress(extended(b"1" * 65536))


def digits_in_a_comment(files: Iterable[tuple[str, bytes]] = FILES) -> bytes:
    """Return the same four times over, as records that are well-formed, about all files."""
    comment = b"65536 comment=" + b"1" * (65536 - 15) + b"\n"
    return gzip.compress(extended(comment, tarfile.XGLTYPE, files, times=4))


def many_streams(compress: Callable[[bytes], bytes], count: int = 200_000) -> bytes:
    """Return a compressed tar behind which nothing is compressed again and again."""
    return compress(tarred()) + compress(b"") * count


def many_extras(count: int = 300) -> bytes:
    """Return a zip whose directory has 16,000 empty remarks about each file."""
    extra = bytes(4) * 16_000
    lines, members = b"", b""
    for number in range(count):
        name = str(number).encode()
        common = struct.pack("<HHHHHIII", 20, 0, 0, 0, 33, 0, 0, 0)
        line = b"PK\x01\x02" + struct.pack("<H", 20) + common
        line += struct.pack("<HHHHHII", len(name), len(extra), 0, 0, 0, 0, len(members))
        lines += line + name + extra
        members += b"PK\x03\x04" + common + struct.pack("<HH", len(name), 0) + name
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, len(lines), len(members), 0)
    return members + lines + end


def endless_holes() -> bytes:
    """Return a tar whose map of holes, by its first words, is in its data and never ends."""
    records = b"".join(
        b"%d %s\n" % (len(text) + 4, text)
        for text in (b"GNU.sparse.major=1", b"GNU.sparse.minor=0", b"GNU.sparse.name=x")
    )
    header = entry("x", tarfile.XHDTYPE)
    header.size = len(records)
    member = entry("x")
    member.size = 16 << 20
    head = header.tobuf(tarfile.USTAR_FORMAT) + records + bytes(-len(records) % 512)
    return gzip.compress(head + member.tobuf(tarfile.USTAR_FORMAT) + b"1" * member.size)


def long_header() -> bytes:
    """Return a tar with a name that claims to be 100 MiB long."""
    member = entry("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    member.size = 100 << 20
    return member.tobuf(tarfile.GNU_FORMAT) + bytes(1024)


def greedy_xz() -> bytes:
    """Return a tar.xz that wants 3 GiB for its dictionary."""
    data = lzma.compress(tarred())
    # The size of the dictionary is one byte in the header of the block, before its checksum.
    at = data.index(b"\x21\x01", 12) + 2
    header = bytearray(data[12 : 12 + (data[12] + 1) * 4])
    header[at - 12] = 39
    header[-4:] = struct.pack("<I", zlib.crc32(bytes(header[:-4])))
    return data[:12] + bytes(header) + data[12 + len(header) :]


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
}
LINK = stat.S_IFLNK | 0o777
