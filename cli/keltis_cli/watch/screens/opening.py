"""What screens ask the program for: another screen."""

from __future__ import annotations

from textual.message import Message


class OpenMatch(Message):
    """Somebody wants to watch a match."""

    def __init__(self, match: str) -> None:
        super().__init__()
        self.match = match


class OpenTv(Message):
    """Somebody wants to be shown what is worth it."""
