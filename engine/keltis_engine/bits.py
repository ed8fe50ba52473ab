"""Sets of up to 63 small numbers, held as the bits of one 64-bit integer."""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import i16, i64, u8

# A table, because mypyc 2.4 compiles a shift of the literal 1 as a 32-bit one.
BIT: Final = vec[i64]([1 << k for k in range(63)])

# 2 is a primitive root of 67, so the remainder of a single bit tells which bit it is.
_ROOT: Final = 67
_INDEX_OF: Final = {2**k % 67: k for k in range(63)}
_INDEX: Final = vec[u8]([_INDEX_OF.get(remainder, 0) for remainder in range(67)])


def index_of(bit: i64) -> i64:
    """Return the number of a single bit."""
    return i64(_INDEX[bit % _ROOT])


def spread(members: i64, base: i64, into: vec[i16], count: i64) -> i64:
    """Write ``base`` plus each member behind the first ``count`` entries; return the new count."""
    while members:
        bit = members & -members
        into[count] = i16(base + i64(_INDEX[bit % _ROOT]))
        members ^= bit
        count += 1
    return count


def count_of(members: i64) -> i64:
    """Return how many members the set has."""
    count: i64 = 0
    while members:
        members &= members - 1
        count += 1
    return count


def members_of(members: i64) -> list[int]:
    """Return the members, ascending."""
    return [k for k in range(63) if members & BIT[k]]
