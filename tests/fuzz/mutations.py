"""Small, seeded changes of bytes, for runs of the tests that take seconds."""

from __future__ import annotations

import random

MAGIC = (b"\0", b"\xff", b"PK\x03\x04", b"ustar", b"9" * 40, b"../", b"\xe2\x80\xae", b"[[[[")
NUMBERS = (0, 1, 2**31 - 1, 2**32 - 1)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with one to four changes."""
    changed = bytearray(data or b"\0")
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(5):
            case 0 if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                changed[at:at] = rng.choice(MAGIC)
            case 2:
                del changed[at : at + rng.randint(1, 16)]
            case 3:
                changed[at : at + 4] = rng.choice(NUMBERS).to_bytes(4, "little")
            case _:
                start = rng.randrange(len(changed) + 1)
                changed[at:at] = changed[start : start + rng.randint(1, 64)]
        changed = changed or bytearray(b"\0")
    return bytes(changed)
