"""A tournament that is followed live."""

from __future__ import annotations

from dataclasses import dataclass

from keltis_cli.draw.printable import printable
from keltis_cli.draw.tables.standings import Tables
from keltis_cli.remote.connect.shapes import safe
from keltis_cli.remote.connect.tournament_shapes import Tournament
from keltis_cli.watch.model import Message


@dataclass(frozen=True)
class Course:
    """A tournament at one moment."""

    name: str
    state: str
    played: int
    total: int
    round: int
    tables: Tables


class TournamentModel:
    """A tournament that is followed."""

    def __init__(self) -> None:
        self.course: Course | None = None
        self.ended = False
        self.problem = ""

    def take(self, message: Message) -> None:
        """Take a message of the tournament's topic."""
        match message["op"]:
            case "snapshot":
                self.course = course_of(message["data"])
            case "delta":
                for event in message["data"]:
                    if event["kind"] == "changed":
                        self.course = course_of(event["tournament"])
            case "end":
                self.ended = True
                if "tournament" in message["data"]:
                    self.course = course_of(message["data"]["tournament"])
            case "error":
                self.problem = printable(str(message.get("detail") or message.get("code")))


def course_of(plain: Message) -> Course:
    """Read a tournament as the server sends it."""
    told = Tournament.model_validate(safe(plain))
    return Course(told.name, told.state, told.played, told.total, told.round, told.tables())
