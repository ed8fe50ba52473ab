"""Channels of what is read again when something has happened, now and then at most."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from keltis_server.live.channel import Channel, Plain, Surroundings


class TableChannel(Channel):
    """A table; nobody cares what becomes of it while nobody follows it."""

    pause: ClassVar[float]  # seconds from one look at the table to the next

    def __init__(self, live: Surroundings, topic: str, seq: int) -> None:
        super().__init__(live, topic, seq)
        self._table: Plain = {}
        self._again = False  # something happened since we began to look
        self._waiting = False

    def snapshot(self) -> Plain:
        """Return the whole table."""
        return self._table

    def note(self) -> None:
        """Take note that the table is not as it was."""
        self._again = True
        if self._table:
            self.look_later()

    def look_later(self) -> None:
        """Look after the pause, once."""
        if not self._waiting:
            self._waiting = True
            self.later(self.pause, lambda: self.spawn(self._look()))

    @abstractmethod
    async def _look(self) -> None:
        """Read the table again, and tell what is different."""
