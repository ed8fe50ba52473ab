"""Excerpts: the beginning and the end of a long text, which say most."""

from __future__ import annotations

from typing import Final

LARGEST_EXCERPT: Final = 64 * 1024  # characters
_BEGINNING: Final = 4  # so much less of the beginning is kept than of the whole


class Excerpt:
    """Takes a text piece by piece, and keeps no more of it than it may."""

    def __init__(self, largest: int = LARGEST_EXCERPT) -> None:
        self._head_room = largest // _BEGINNING
        self._tail_room = largest - self._head_room
        self._head = ""
        self._tail = ""
        self._left_out = 0

    def __bool__(self) -> bool:
        """Whether there is any text."""
        return bool(self._head)

    def add(self, text: str) -> None:
        """Take a piece."""
        room = self._head_room - len(self._head)
        self._head += text[:room]
        tail = self._tail + text[room:]
        self._left_out += max(0, len(tail) - self._tail_room)
        self._tail = tail[-self._tail_room :]

    def text(self) -> str:
        """Return what is kept, and say how much is not."""
        if not self._left_out:
            return self._head + self._tail
        return f"{self._head}\n[{self._left_out:,} characters are left out]\n{self._tail}"
