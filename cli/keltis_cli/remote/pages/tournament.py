"""A tournament of a server for people: one page, or a screen that changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from rich.text import Text

from keltis_cli.draw.brackets import bracket_lines, table_list
from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.strokes import counted, cut, fitting, lasting, progress_bar, stroke
from keltis_cli.draw.tables.standings import Tables, standings_lines
from keltis_cli.remote.connect.tournament_shapes import Tournament

ENDLESS: Final = 10**6  # lines of a page that may be scrolled
LATEST_TABLES: Final = 6  # lines for the tables of the round that is being played


def tournament_page(tournament: Tournament, width: int, look: Look) -> list[Text]:
    """Return how a tournament stands, whatever room it takes."""
    tables = tournament.tables()
    lines = [_title(tournament), Text(cut(_facts(tournament), width, look), QUIET), Text()]
    if tables.plan.elimination and tables.bracket:
        drawn = bracket_lines(tables.bracket, tables.names, width, ENDLESS, look)
        lines += [*drawn, Text()] if drawn else []
    return lines + _standings(tables, width, look)


def _standings(tables: Tables, width: int, look: Look, most: int | None = None) -> list[Text]:
    if not tables.standings:
        return [Text("No standings yet.", QUIET)]
    return standings_lines(tables, width, look, most=most, ties_first=most is None)


def _title(tournament: Tournament) -> Text:
    return styled(tournament.name, TITLE).append(f"  {tournament.state}", QUIET)


def _facts(tournament: Tournament) -> str:
    plan = tournament.plan
    facts = [
        plan.format,
        counted(len(tournament.bots), "bot"),
        ", ".join(plan.variants),
        f"{tournament.played:,} of {counted(tournament.total, 'match', 'matches')} played",
    ]
    if tournament.rated:
        facts.append("rated")
    if tournament.state == "scheduled" and tournament.starts is not None:
        facts.append(f"starts {tournament.starts:%Y-%m-%d %H:%M} UTC")
    return ", ".join(facts)


class Watched:
    """The screen of a tournament that is watched."""

    def __init__(self, tournament: Tournament, look: Look, now: Callable[[], datetime]) -> None:
        self.tournament = tournament
        self.look = look
        self.now = now

    def lines(self, width: int, height: int) -> list[Text]:
        """Return the screen; never wider or longer than it may be."""
        look, tables = self.look, self.tournament.tables()
        top = self._head(width)
        room = height - len(top) - 1
        if tables.plan.elimination and tables.bracket:
            body = bracket_lines(tables.bracket, tables.names, width, room, look)
            body = body or table_list(tables.rounds, tables.names, width, room, look)
        else:
            playing = table_list(tables.rounds, tables.names, width, LATEST_TABLES, look)
            body = _standings(tables, width, look, most=max(3, room - len(playing) - 1))
            body = [*body, Text(), *playing] if playing else body
        lines = [*top, Text(), *body]
        return [fitting(line, width, look) for line in lines][:height]

    def _head(self, width: int) -> list[Text]:
        told, look = self.tournament, self.look
        dot = f" {stroke('dot', look)} "
        first = styled(told.name, TITLE).append(f"{dot}{told.state}{dot}{told.plan.format}", QUIET)
        second = progress_bar(told.played, told.total, width // 8, look)
        second.append(f" {told.played:,} of {counted(told.total, 'match', 'matches')}")
        if told.round:
            second.append(f"{dot}round {told.round}")
        if told.started is not None:
            end = told.finished or self.now()
            second.append(f"{dot}{lasting((end - told.started).total_seconds())}")
        hint = "Ctrl-C leaves"
        if second.cell_len + len(hint) + 2 <= width:
            second.append(" " * (width - second.cell_len - len(hint)))
            second.append(hint, QUIET)
        return [first, second]

    def line(self) -> str:
        """Return the same in one line."""
        told = self.tournament
        leaders = ", ".join(
            told.bots[standing.bot].name for standing in told.standings if standing.place == 1
        )
        return f"{told.name}: {told.state}, {told.played} of {told.total}, in front: {leaders}"
