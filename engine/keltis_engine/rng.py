"""Random numbers that are the same on every machine, compiled or not, for ever.

Two generators, both documented in ``docs/readers/determinism.md`` with vectors that a test pins:

- ``DealStream`` deals games. It is the output of SHAKE-128, so that nobody who sees some cards
  of a deal can work out the others, whatever he computes.
- ``Rng`` drives playouts, policies and determinizations. It is xoshiro128++, which is fast in
  64-bit arithmetic that never overflows.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64, u8

MASK32: Final = 0xFFFFFFFF
SPAN: Final = 0x100000000

_FIRST_BYTES: Final = 1024


def shake_128(name: str, size: int) -> bytes:
    """Return the first bytes of SHAKE-128 of an ASCII text."""
    import hashlib  # here, because it takes a tenth of the time to import the engine

    return hashlib.shake_128(name.encode("ascii")).digest(size)


@final
class DealStream:
    """The random numbers of one deal, from SHAKE-128 of its name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bytes = shake_128(name, _FIRST_BYTES)
        self._next: i64 = 0

    def word(self) -> i64:
        """Return the next four bytes as one number, the first byte the highest."""
        at = self._next
        if at + 4 > len(self._bytes):
            self._bytes = shake_128(self._name, 2 * len(self._bytes))
        self._next = at + 4
        data = self._bytes
        high = (i64(data[at]) << 24) | (i64(data[at + 1]) << 16)
        return high | (i64(data[at + 2]) << 8) | i64(data[at + 3])

    def below(self, n: i64) -> i64:
        """Return a number from 0 to n - 1, each equally likely."""
        limit = SPAN - SPAN % n
        word = self.word()
        while word >= limit:
            word = self.word()
        return word % n

    def shuffle(self, items: vec[u8]) -> None:
        """Put the items into a random order: Fisher and Yates, from the end."""
        for i in range(i64(len(items)) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


@final
class Rng:
    """A fast generator for everything that is not a deal."""

    def __init__(self, seed: int = 0) -> None:
        digest = shake_128(f"keltis-ladder/rng/1/{int(seed)}", 16)
        self._a: i64 = int.from_bytes(digest[0:4], "big")
        self._b: i64 = int.from_bytes(digest[4:8], "big")
        self._c: i64 = int.from_bytes(digest[8:12], "big")
        self._d: i64 = int.from_bytes(digest[12:16], "big")

    def set_state(self, a: int, b: int, c: int, d: int) -> None:
        """Set the four words of xoshiro128++, for comparison with other implementations."""
        self._a = a
        self._b = b
        self._c = c
        self._d = d

    def word(self) -> i64:
        """Return the next 32 random bits."""
        a = self._a
        b = self._b
        c = self._c ^ a
        d = self._d ^ b
        total = (a + self._d) & MASK32
        self._a = a ^ d
        self._b = b ^ c
        self._c = c ^ ((b << 9) & MASK32)
        self._d = ((d << 11) & MASK32) | (d >> 21)
        return (((total << 7) & MASK32 | (total >> 25)) + a) & MASK32

    def below(self, n: i64) -> i64:
        """Return a number from 0 to n - 1, each equally likely; n is at most 2**31."""
        product = self.word() * n
        if product & MASK32 < n:
            threshold = SPAN % n
            while product & MASK32 < threshold:
                product = self.word() * n
        return product >> 32

    def shuffle(self, items: vec[u8]) -> None:
        """Put the items into a random order: Fisher and Yates, from the end."""
        for i in range(i64(len(items)) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
