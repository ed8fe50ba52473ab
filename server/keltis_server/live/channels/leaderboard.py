"""The channel of a leaderboard: the lines that change, once a second at most."""

from __future__ import annotations

from functools import partial
from typing import Final

from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_server.events import Happening
from keltis_server.live.channel import Channel, Plain, Surroundings, patiently
from keltis_server.loaders.leaderboards import load_leaderboard

PAUSE: Final = 1.0  # seconds from one look at the table to the next

Name = tuple[str, int]  # a bot and the number of its version


class LeaderboardChannel(Channel):
    """One leaderboard."""

    def __init__(self, live: Surroundings, topic: str, seq: int, scope: Scope) -> None:
        super().__init__(live, topic, seq)
        self._scope = scope
        self._table: Plain = {}
        self._lines: dict[Name, Plain] = {}  # in order
        self._changed = False
        self._waiting = False

    async def open(self) -> None:
        """Read the table."""
        self._learn(await self._load())
        if self._changed:
            self._look_later()

    def snapshot(self) -> Plain:
        """Return the whole table."""
        return self._table

    def take(self, happening: Happening) -> None:
        """Take note that the table is not as it was; nobody cares while nobody follows it."""
        concerns = isinstance(happening, VersionChanged) or (
            isinstance(happening, ResultStored) and happening.playing.rated
        )
        if concerns:
            self._changed = True
            if self._table:
                self._look_later()

    def _look_later(self) -> None:
        if not self._waiting:
            self._waiting = True
            self.later(PAUSE, lambda: self.spawn(self._look()))

    async def _look(self) -> None:
        """Read the table again, and tell what is different."""
        self._changed = False
        before = self._lines
        self._learn(await patiently(self._load))
        self._waiting = False
        if self._changed:  # while we were reading
            self._look_later()
        lines = [line for name, line in self._lines.items() if before.get(name) != line]
        removed = [list(name) for name in before if name not in self._lines]
        moved = list(before) != list(self._lines)
        if lines or removed or moved:
            self.publish(
                {
                    "kind": "lines",
                    "matches": self._table["matches"],
                    "lines": lines,
                    "removed": removed,
                    "order": [list(name) for name in self._lines] if moved else None,
                }
            )
        else:
            self.changed()

    async def _load(self) -> Plain:
        table = await self.live.site.read(partial(load_leaderboard, scope=self._scope))
        return await self.live.site.work(partial(table.model_dump, mode="json"))

    def _learn(self, table: Plain) -> None:
        self._table = table
        self._lines = {(line["bot"], line["version"]): line for line in table["lines"]}
