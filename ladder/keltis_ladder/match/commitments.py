"""Commitments: the hash of a match's seed, told before its first decision.

The seed is told after the last one. Those who noted the hash can then tell that the deal was fixed
before anybody played: no other seed gives the same hash, and nobody finds 128 random bits from it.
"""

from __future__ import annotations

import hashlib


def commitment_of(job_id: str, seed: str) -> str | None:
    """Return the commitment of a stored job; there is none before its seed is drawn."""
    return commitment(job_id, int(seed)) if seed else None


def commitment(job_id: str, seed: int) -> str:
    """Return the hash that binds a match to its seed."""
    text = f"keltis-ladder/commitment/1/{job_id}/{seed}"
    return hashlib.sha256(text.encode("ascii")).hexdigest()
