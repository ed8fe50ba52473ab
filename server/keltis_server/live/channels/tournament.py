"""The channel of a tournament: how it stands, twice a second at most."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from keltis_ladder.run.scheduler import MatchAssigned, ResultStored
from keltis_ladder.store.schema.tables import TournamentState
from keltis_server.events import Happening, TournamentChanged
from keltis_server.live.channel import Plain, Refusal, Surroundings, patiently
from keltis_server.live.channels.tables import TableChannel
from keltis_server.live.subjects import Subject, about_tournament
from keltis_server.loaders.tournaments import tournament_out

ENDED: Final = (TournamentState.FINISHED, TournamentState.CANCELLED)


class TournamentChannel(TableChannel):
    """One tournament."""

    pause = 0.5

    def __init__(self, live: Surroundings, topic: str, seq: int, name: str) -> None:
        super().__init__(live, topic, seq)
        self._name = name
        self._id: int | None = None

    async def open(self) -> None:
        """Read how it stands."""
        self._id = await self.live.site.work(self.live.site.director.find, self._name)
        if self._id is None:
            raise Refusal("not-found", f"there is no tournament {self._name!r}")
        self._table = await self._load()
        if self._again or _about_to_end(self._table):
            self.look_later()
        self._end_if_over()

    def subjects(self) -> Collection[Subject] | None:
        """Return the tournament, once it is known which."""
        return None if self._id is None else [about_tournament(self._id)]

    def take(self, happening: Happening) -> None:
        """Take note that it has come further."""
        match happening:
            case TournamentChanged(tournament_id=id):
                mine = id == self._id
            case MatchAssigned(playing=playing) | ResultStored(playing=playing) if (
                playing.order.tournament_id
            ):
                mine = playing.order.tournament_id == self._id
            case _:
                return
        if mine or self._id is None:
            self.note()

    async def _look(self) -> None:
        self._again = False
        table = await patiently(self._load)
        self._waiting = False
        if self._again or _about_to_end(table):
            self.look_later()
        if table != self._table:
            self._table = table
            self.publish({"kind": "changed", "tournament": table})
            self._end_if_over()

    def _end_if_over(self) -> None:
        if self._table["state"] in ENDED:
            self.end({"tournament": self._table})

    async def _load(self) -> Plain:
        return await self.live.site.work(self._read)

    def _read(self) -> Plain:
        assert self._id is not None
        return self.live.site.director.consult(self._id, tournament_out).model_dump(mode="json")


def _about_to_end(table: Plain) -> bool:
    """Return whether everything was played, and the director has only to say so."""
    return bool(table["state"] == TournamentState.RUNNING and table["played"] >= table["total"])
