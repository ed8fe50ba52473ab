"""The channel of a leaderboard: the lines that change, once a second at most."""

from __future__ import annotations

from functools import partial

from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.run.fitting import JointPublished
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_server.events import Happening
from keltis_server.live.channel import Plain, Surroundings, patiently
from keltis_server.live.channels.tables import TableChannel
from keltis_server.loaders.leaderboards import load_leaderboard

Name = tuple[str, int]  # a bot and the number of its version


class LeaderboardChannel(TableChannel):
    """One leaderboard."""

    pause = 1.0

    def __init__(self, live: Surroundings, topic: str, seq: int, scope: Scope) -> None:
        super().__init__(live, topic, seq)
        self._scope = scope
        self._lines: dict[Name, Plain] = {}  # in order

    async def open(self) -> None:
        """Read the table."""
        self._learn(await self._load())
        if self._again:
            self.look_later()

    def take(self, happening: Happening) -> None:
        """Take note of what moves ratings."""
        match happening:
            case VersionChanged():
                concerns = True
            case ResultStored(playing=playing):
                concerns = playing.order.rated
            case JointPublished(scope=scope):
                concerns = scope == self._scope
            case _:
                concerns = False
        if concerns:
            self.note()

    async def _look(self) -> None:
        """Read the table again, and tell what is different."""
        self._again = False
        before = self._lines
        self._learn(await patiently(self._load))
        self._waiting = False
        if self._again:  # while we were reading
            self.look_later()
        lines = [line for name, line in self._lines.items() if before.get(name) != line]
        removed = [list(name) for name in before if name not in self._lines]
        moved = list(before) != list(self._lines)
        if lines or removed or moved:
            self.publish(
                {
                    "kind": "lines",
                    "matches": self._table["matches"],
                    "as_of": self._table["as_of"],
                    "lines": lines,
                    "removed": removed,
                    "order": [list(name) for name in self._lines] if moved else None,
                }
            )
        else:
            self.changed()

    async def _load(self) -> Plain:
        official = self.live.site.settings.official
        load = partial(load_leaderboard, scope=self._scope, official=official)
        table = await self.live.site.read(load)
        return await self.live.site.work(partial(table.model_dump, mode="json"))

    def _learn(self, table: Plain) -> None:
        self._table = table
        self._lines = {(line["bot"], line["version"]): line for line in table["lines"]}
