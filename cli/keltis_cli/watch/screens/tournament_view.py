"""A tournament on the screen: bracket or standings, and its matches under way."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType

from keltis_cli.draw.boards.pieces import spread
from keltis_cli.draw.brackets import bracket_lines, table_list
from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.strokes import fitting, progress_bar
from keltis_cli.draw.tables.standings import Tables, standings_lines
from keltis_cli.watch.feed import Feed
from keltis_cli.watch.lobby import LobbyModel, Past, Running, now
from keltis_cli.watch.moves import ALARM
from keltis_cli.watch.screens.lobby_picture import connection_text, past_lines, running_lines
from keltis_cli.watch.screens.lobby_screen import ChoosingScreen
from keltis_cli.watch.screens.pictures import GENERAL
from keltis_cli.watch.tournament import Course, TournamentModel


def tournament_lines(
    course: Course,
    running: Sequence[Running],
    recent: Sequence[Past],
    chosen: str,
    connected: bool,
    width: int,
    height: int,
    look: Look,
    at: datetime,
) -> list[Text]:
    """Return the screen; never wider or longer than it may be."""
    dot = f" {look.mark('dot')} "
    plan = course.tables.plan
    left = styled(course.name, TITLE).append(f"{dot}{plan.format}{dot}{course.state}")
    head = spread(left, connection_text(connected), width)
    progress = progress_bar(course.played, course.total, width // 4, look)
    progress.append(f" {course.played:,} of {course.total:,} matches{dot}round {course.round}")
    playing = running_lines(running, chosen, width, max(2, height // 4), look, at)
    room = height - len(playing) - 6  # head, progress, foot and the blank lines between
    body = _body(course.tables, width, max(3, room), look)
    latest = past_lines(recent, chosen, width, room - len(body) - 1, look, at)
    blocks = [[head, progress], body, playing, latest]
    lines = [line for block in blocks if block for line in [*block, Text()]]
    lines = lines[: height - 1]
    lines += [Text()] * (height - 1 - len(lines))
    foot = Text("Up, Down: choose   Enter: watch   b: lobby   ?: keys   q: quit", QUIET)
    return [fitting(line, width, look) for line in [*lines, foot]]


def _body(tables: Tables, width: int, most: int, look: Look) -> list[Text]:
    if not tables.plan.elimination:
        return standings_lines(tables, width, look, most)
    drawn = bracket_lines(tables.bracket, tables.names, width, most, look)
    return drawn or table_list(tables.rounds, tables.names, width, most, look)


class TournamentScreen(ChoosingScreen):
    """A tournament."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("b,escape", "back", "Lobby")]
    KEYS = (
        ("Up, Down", "choose a match of the tournament"),
        ("Enter", "watch it; one that is over is replayed"),
        ("b, Esc", "back to the lobby"),
        *GENERAL,
    )

    def __init__(self, look: Look, feed: Feed, lobby: LobbyModel, name: str) -> None:
        super().__init__(look)
        self.feed = feed
        self.lobby = lobby
        self.tournament = name
        self.model = TournamentModel()

    @property
    def topic(self) -> str:
        """Where it is told."""
        return f"tournament/{self.tournament}"

    def on_mount(self) -> None:
        """Follow it."""
        self.open_tournament()

    @work
    async def open_tournament(self) -> None:
        """Follow it."""
        await self.feed.follow(self.topic, self.model.take)

    async def on_unmount(self) -> None:
        """Follow it no more."""
        await self.feed.leave(self.topic)

    def ids(self) -> list[str]:
        """Return its matches that the lobby knows."""
        running = self.lobby.of_tournament(self.tournament)
        recent = self.lobby.recent_of(self.tournament)
        return [*(one.facts.id for one in running), *(one.facts.id for one in recent)]

    def lines(self, width: int, height: int) -> list[Text]:
        """Return the picture."""
        course = self.model.course
        if course is None:
            if self.model.problem:
                return [Text(self.model.problem, ALARM), Text(), Text("b: lobby   q: quit", QUIET)]
            return [Text("Waiting for the server.", QUIET)]
        return tournament_lines(
            course,
            self.lobby.of_tournament(self.tournament),
            self.lobby.recent_of(self.tournament),
            self.chosen,
            self.feed.connected,
            width,
            height,
            self.look,
            now(),
        )

    def action_back(self) -> None:
        """Leave it."""
        self.dismiss()
