"""Moments: always UTC. Commands that never open a database use these, too, and start quickly."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Now = Callable[[], datetime]


def now() -> datetime:
    """Return this moment."""
    return datetime.now(UTC)
