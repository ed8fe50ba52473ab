"""Scoring tables."""

from __future__ import annotations

from librt.vecs import vec
from mypy_extensions import i64


def by_count(table: vec[i64], count: i64) -> i64:
    """Return the points for so many of something; the last entry holds for all more."""
    last = i64(len(table)) - 1
    return table[count if count < last else last]
