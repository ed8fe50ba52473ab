"""The extended headers of tars, checked before anything is done with what they say.

Python's tarfile before 3.11.10 and 3.12.6 searches them in quadratic time: 64 KiB of digits, which
gzip makes 281 bytes of, took it nine seconds. Here every byte is looked at once.
"""

from __future__ import annotations

import re
from typing import Final

from keltis_ladder.programs.unpacking.names import BadArchive

PATH: Final = "path"
LINK: Final = "linkpath"
SIZE: Final = "size"
SPARSE: Final = "GNU.sparse."
_LENGTH: Final = re.compile(rb"([0-9]{1,5}) ")  # of a record; a header has at most 64 KiB
_NUMBER: Final = re.compile(r"[0-9]{1,20}")


def read_records(data: bytes) -> dict[str, str]:
    """Return the records ``LENGTH KEY=VALUE`` of a header, the last one of each key."""
    records: dict[str, str] = {}
    at = 0
    while at < len(data):
        length = _LENGTH.match(data, at)
        if length is None:
            if not data[at:].strip(b"\0"):  # some tools fill the block
                break
            raise _bad()
        end = at + int(length[1])
        key, equals, value = data[length.end() : end - 1].partition(b"=")
        if end > len(data) or data[end - 1 : end] != b"\n" or not key or not equals:
            raise _bad()
        records[text_of(key)] = text_of(value)
        at = end
    return records


def read_size(text: str) -> int:
    """Return the size that a header tells."""
    if not _NUMBER.fullmatch(text):
        raise _bad()
    return int(text)


def text_of(name: bytes) -> str:
    """Return a name as text; what is not UTF-8 in it can be told afterwards."""
    return name.decode("utf-8", "surrogateescape")


def _bad() -> BadArchive:
    return BadArchive("an extended header of this tar is invalid: pack the archive again")
