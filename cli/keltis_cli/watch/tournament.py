"""A tournament as the server tells it, in the form that its tables and brackets are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from keltis_cli.draw.printable import printable
from keltis_cli.draw.standings_table import Tables
from keltis_cli.watch.model import Message
from keltis_ladder.tournaments.plan import Plan
from keltis_ladder.tournaments.standings import Standing, TieBreak
from keltis_ladder.tournaments.views import Cell, Crosstable, RoundView, State, TableView

FINEST: Final = 5040  # no score or tie-break is a finer part of a match


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
    """Read the ``TournamentOut`` of the server."""
    given = plain["plan"]
    plan = Plan(
        format=given["format"],
        entrants=given["entrants"],
        players=given["players"],
        variants=tuple(given["variants"]),
        matches=given["matches"],
        rounds=given["rounds"],
        challengers=given["challengers"],
    )
    tables = Tables(
        plan=plan,
        names=[printable(bot["name"]) for bot in plain["bots"]],
        standings=[_standing(each) for each in plain["standings"]],
        rounds=[_round(each) for each in plain["rounds"]],
        crosstable=_crosstable(plain["crosstable"]) if plain["crosstable"] else None,
        bracket=[_round(each) for each in plain["bracket"] or []],
    )
    return Course(
        name=printable(plain["name"]),
        state=printable(plain["state"]),
        played=plain["played"],
        total=plain["total"],
        round=plain["round"],
        tables=tables,
    )


def _part(value: float) -> Fraction:
    """Return a number that was a fraction before it was sent."""
    return Fraction(value).limit_denominator(FINEST)


def _standing(plain: dict[str, Any]) -> Standing:
    return Standing(
        place=plain["place"],
        entrant=plain["bot"],
        score=_part(plain["score"]),
        tie_breaks=tuple(
            TieBreak(name, _part(value)) for name, value in plain["tie_breaks"].items()
        ),
        played=plain["played"],
        wins=plain["wins"],
        draws=plain["draws"],
        losses=plain["losses"],
        byes=plain["byes"],
        faults=plain["faults"],
        eliminated_in=printable(plain["eliminated_in"]),
        withdrawn=plain["withdrawn"],
        group=printable(plain["group"]),
    )


def _round(plain: dict[str, Any]) -> RoundView:
    return RoundView(
        number=plain["number"],
        tables=tuple(_table(each) for each in plain["tables"]),
        byes=tuple(plain["byes"]),
        bracket=plain["bracket"],
    )


def _table(plain: dict[str, Any]) -> TableView:
    return TableView(
        round=plain["round"],
        table=plain["table"],
        label=printable(plain["label"]),
        entrants=tuple(plain["entrants"]),
        state=State(plain["state"]),
        played=plain["played"],
        scores=tuple(_part(score) for score in plain["scores"]),
        forfeited=plain["forfeited"],
        bracket=plain["bracket"],
        winner=plain["winner"],
        comes_from=tuple(map(printable, plain["comes_from"])),
        winner_to=printable(plain["winner_to"]),
        loser_to=printable(plain["loser_to"]),
    )


def _crosstable(plain: dict[str, Any]) -> Crosstable:
    cells = {
        (cell["one"], cell["other"]): Cell(_part(cell["points"]), cell["matches"])
        for cell in plain["cells"]
    }
    return Crosstable(tuple(plain["order"]), cells)
