"""msgpack as far as views need it: maps, lists, texts, whole numbers and nil.

Everything is written in its shortest form, as ``msgpack.packb`` would. What never changes is
packed once, when a module is loaded; writing it is then a copy.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i64, u8

NIL: Final = b"\xc0"
LONGEST_TEXT: Final = 31  # bytes; no name in a view is longer


def text(string: str) -> bytes:
    """Return a short text."""
    data = string.encode()
    if len(data) > LONGEST_TEXT:
        raise ValueError(f"{string!r} is too long to be packed: texts have up to 31 bytes")
    return bytes([0xA0 | len(data)]) + data


def texts(strings: list[str]) -> list[bytes]:
    """Return each of some short texts."""
    return [text(string) for string in strings]


def texts_by_number(strings: dict[int, str]) -> list[bytes]:
    """Return short texts by their numbers; for a number that names nothing the text is empty."""
    return [text(strings.get(number, "")) for number in range(max(strings) + 1)]


def write_map(out: BytesWriter, fields: i64) -> None:
    """Begin a map; so many times a key and its value have to follow."""
    if fields < 16:
        out.append(u8(0x80 | fields))
    else:
        write_long(out, 0xDE, fields, 16)


def write_array(out: BytesWriter, size: i64) -> None:
    """Begin a list; so many values have to follow."""
    if size < 16:
        out.append(u8(0x90 | size))
    else:
        write_long(out, 0xDC, size, 16)


def write_int(out: BytesWriter, number: i64) -> None:
    """Write a whole number."""
    if -32 <= number < 128:
        out.append(u8(number & 0xFF))
    elif number >= 0:
        if number < 0x100:
            write_long(out, 0xCC, number, 8)
        elif number < 0x10000:
            write_long(out, 0xCD, number, 16)
        elif number < 0x100000000:
            write_long(out, 0xCE, number, 32)
        else:
            write_long(out, 0xCF, number, 64)
    elif number >= -0x80:
        write_long(out, 0xD0, number, 8)
    elif number >= -0x8000:
        write_long(out, 0xD1, number, 16)
    elif number >= -0x80000000:
        write_long(out, 0xD2, number, 32)
    else:
        write_long(out, 0xD3, number, 64)


def write_long(out: BytesWriter, kind: i64, number: i64, bits: i64) -> None:
    """Write a byte that says what follows, and a number of so many bits."""
    out.append(u8(kind))
    while bits:
        bits -= 8
        out.append(u8(number >> bits & 0xFF))


def write_field(out: BytesWriter, name: bytes, number: i64) -> None:
    """Write a field of a map: its packed name, and the whole number that is its value."""
    out.write(name)
    write_int(out, number)


def write_ints(out: BytesWriter, numbers: vec[u8]) -> None:
    """Write a list of numbers."""
    write_array(out, i64(len(numbers)))
    for number in numbers:
        write_int(out, i64(number))
