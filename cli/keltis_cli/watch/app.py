"""The terminal application of ``watch``: a stack of screens."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import App
from textual.binding import Binding, BindingType

from keltis_cli.draw.look import Look
from keltis_cli.errors import BadRequest
from keltis_cli.watch.feed import Feed
from keltis_cli.watch.lobby import LobbyModel
from keltis_cli.watch.playback import USUAL
from keltis_cli.watch.screens.lobby_screen import LobbyScreen
from keltis_cli.watch.screens.match_screen import MatchScreen
from keltis_cli.watch.screens.opening import OpenMatch, OpenTv
from keltis_cli.watch.screens.tournament_view import TournamentScreen
from keltis_cli.watch.screens.tv_screen import TvScreen
from keltis_ladder.errors import LadderError


class WatchApp(App[None]):
    """``keltis-ladder watch``: the lobby, and over it what was asked for."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+c", "quit", "Quit", priority=True),
    ]

    def __init__(
        self,
        feed: Feed,
        look: Look,
        match: str = "",
        tournament: str = "",
        tv: bool = False,
        speed: int = USUAL,
    ) -> None:
        super().__init__(ansi_color=True)
        self.feed = feed
        self.look = look
        self.lobby = LobbyModel()
        self.speed = speed
        self.trouble = ""  # why it ended by itself
        self._wanted = match, tournament, tv

    def on_mount(self) -> None:
        """Open what was asked for; the lobby is always below it."""
        self.push_screen(LobbyScreen(self.look, self.feed, self.lobby))
        match, tournament, tv = self._wanted
        if match:
            self.open_match(OpenMatch(match))
        elif tournament:
            self.push_screen(TournamentScreen(self.look, self.feed, self.lobby, tournament))
        elif tv:
            self.open_tv()
        self.listen()

    @work
    async def listen(self) -> None:
        """Take what the server tells, until it wants no more of us."""
        await self.feed.follow("lobby", self.lobby.take)
        try:
            await self.feed.run()
        except (LadderError, BadRequest) as error:
            self.trouble = str(error)
            self.exit(return_code=1)

    @on(OpenMatch)
    def open_match(self, message: OpenMatch) -> None:
        """Show a match."""
        self.push_screen(MatchScreen(self.look, self.feed, message.match, self.speed))

    @on(OpenTv)
    def open_tv(self) -> None:
        """Show what is worth it."""
        self.push_screen(TvScreen(self.look, self.feed, self.lobby, self.speed))
