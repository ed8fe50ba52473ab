"""The lobby on the screen: a list to choose a match from."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from keltis_cli.draw.look import Look
from keltis_cli.watch.feed import Feed
from keltis_cli.watch.lobby import LobbyModel, now
from keltis_cli.watch.screens.lobby_picture import lobby_lines
from keltis_cli.watch.screens.opening import OpenMatch, OpenTv
from keltis_cli.watch.screens.pictures import GENERAL, PictureScreen


class ChoosingScreen(PictureScreen):
    """A screen with matches to choose from."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "choose(-1)", "Up"),
        Binding("down,j", "choose(1)", "Down"),
        Binding("enter", "open", "Watch"),
    ]

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self.chosen = ""
        self._place = 0  # in the list, for when the chosen one is gone

    def ids(self) -> list[str]:
        """Return what there is to choose from."""
        raise NotImplementedError

    def pass_time(self, seconds: float) -> None:
        """Stay with the chosen one, or near where it was."""
        self._keep_place()

    def _keep_place(self) -> None:
        ids = self.ids()
        if self.chosen in ids:
            self._place = ids.index(self.chosen)
        elif ids:
            self._place = min(self._place, len(ids) - 1)
            self.chosen = ids[self._place]

    def action_choose(self, count: int) -> None:
        """Choose another one."""
        self._keep_place()
        ids = self.ids()
        if ids:
            self._place = max(0, min(self._place + count, len(ids) - 1))
            self.chosen = ids[self._place]
        self.redraw()

    def action_open(self) -> None:
        """Watch the chosen one."""
        self._keep_place()
        if self.chosen:
            self.app.post_message(OpenMatch(self.chosen))


class LobbyScreen(ChoosingScreen):
    """Everything that is going on."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("t", "tv", "TV")]
    KEYS = (
        ("Up, Down", "choose a match"),
        ("Enter", "watch it; one that is over is replayed"),
        ("t", "TV: go on to whatever is most interesting"),
        *GENERAL,
    )

    def __init__(self, look: Look, feed: Feed, lobby: LobbyModel) -> None:
        super().__init__(look)
        self.feed = feed
        self.lobby = lobby

    def ids(self) -> list[str]:
        """Return all matches that the lobby knows."""
        return self.lobby.ids()

    def lines(self, width: int, height: int) -> list[Text]:
        """Return the picture."""
        if not self.lobby.known:
            return [Text("Waiting for the server.")]
        connected = self.feed.connected
        return lobby_lines(self.lobby, self.chosen, connected, width, height, self.look, now())

    def action_tv(self) -> None:
        """Let us be shown what is worth it."""
        self.app.post_message(OpenTv())
