"""The lobby: what is being played on a server, and what was played last."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from keltis_cli.remote.connect.shapes import safe
from keltis_cli.watch.model import FINISHED, Entrant, Facts, Message
from keltis_server.models.lobby import PlayedOut, RunningOut

RECENT: Final = 20  # results that are kept
PLAYING: Final = "playing"


@dataclass(frozen=True)
class Running:
    """A match under way."""

    facts: Facts
    rotation: int
    plies: int
    scores: tuple[int, ...]
    since: datetime


@dataclass(frozen=True)
class Past:
    """A match that is over."""

    facts: Facts
    finished: datetime | None


def now() -> datetime:
    """Return the time, as the server writes it."""
    return datetime.now(UTC)


class LobbyModel:
    """Everything that is going on, as the server tells it."""

    def __init__(self) -> None:
        self.running: dict[str, Running] = {}
        self.recent: list[Past] = []  # the newest first
        self.known = False  # whether the server has told anything yet
        self._ratings: dict[tuple[str, int], float] = {}  # by bot and version

    def take(self, message: Message) -> None:
        """Take a message of the lobby's topic."""
        match message["op"]:
            case "snapshot":
                data = message["data"]
                self.running = {plain["id"]: self._running(plain) for plain in data["matches"]}
                self.recent = [self._past(plain) for plain in data["recent"]][:RECENT]
                self.known = True
            case "delta":
                for event in message["data"]:
                    self._happen(event)

    def _happen(self, event: Message) -> None:
        match event["kind"]:
            case "began":
                self.running[event["match"]["id"]] = self._running(event["match"])
            case "moved" if event["id"] in self.running:
                self.running[event["id"]] = replace(
                    self.running[event["id"]],
                    rotation=event["rotation"],
                    plies=event["plies"],
                    scores=tuple(event["scores"]),
                )
            case "finished":
                self.running.pop(event["id"], None)
                others = [one for one in self.recent if one.facts.id != event["id"]]
                self.recent = [self._past(event["result"]), *others][:RECENT]
            case "gone":
                self.running.pop(event["id"], None)

    def _past(self, plain: Message) -> Past:
        """Return a result; the ratings are those that we heard while it was played."""
        told = PlayedOut.model_validate(safe(plain))
        facts = Facts.of({"state": FINISHED, **told.model_dump()})
        entrants = tuple(
            one if one.mu is not None else replace(one, mu=self._rating_of(one))
            for one in facts.entrants
        )
        return Past(replace(facts, entrants=entrants), told.finished)

    def _rating_of(self, entrant: Entrant) -> float | None:
        return self._ratings.get((entrant.bot, entrant.version))

    def _running(self, plain: Message) -> Running:
        told = RunningOut.model_validate(safe(plain))
        facts = Facts.of({"state": PLAYING, **told.model_dump()})
        for one in facts.entrants:
            if one.mu is not None:
                self._ratings[one.bot, one.version] = one.mu
        return Running(facts, told.rotation, told.plies, tuple(told.scores), told.since)

    def ids(self) -> list[str]:
        """Return all that can be opened, as they are listed."""
        return [*self.running, *(past.facts.id for past in self.recent)]

    def of_tournament(self, name: str) -> list[Running]:
        """Return the matches under way that belong to a tournament."""
        return [
            replace(one, facts=one.facts.within_tournament())
            for one in self.running.values()
            if one.facts.tournament == name
        ]

    def recent_of(self, name: str) -> list[Past]:
        """Return the recent results that belong to a tournament."""
        return [
            replace(one, facts=one.facts.within_tournament())
            for one in self.recent
            if one.facts.tournament == name
        ]
