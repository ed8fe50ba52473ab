"""TV: the most interesting match, to its end, and then the next one."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType

from keltis_cli.draw.boards.pieces import spread
from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.watch.feed import Feed
from keltis_cli.watch.lobby import LobbyModel, now
from keltis_cli.watch.model import MatchModel
from keltis_cli.watch.playback import USUAL
from keltis_cli.watch.screens.lobby_picture import connection_text
from keltis_cli.watch.screens.match_screen import MatchScreen
from keltis_cli.watch.tv import RESULT, Choice, choose

NOTHING: Final = "Nothing is being played. This screen waits for the next match."
MEMORY: Final = 200  # matches that were shown and are not shown again


class TvScreen(MatchScreen):
    """Goes on by itself."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("s", "skip", "Skip")]
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("s", "skip: on to the next match"),
        *MatchScreen.KEYS,
    )

    def __init__(self, look: Look, feed: Feed, lobby: LobbyModel, speed: int = USUAL) -> None:
        super().__init__(look, feed, "", speed)
        self.lobby = lobby
        self.shown: dict[str, None] = {}  # in the order in which they were
        self.following: Choice | None = None
        self._result_for = 0.0  # seconds

    def pass_time(self, seconds: float) -> None:
        """Show what there is, and go on when it has been seen."""
        self.following = choose(self.lobby, now(), self.shown)
        if self.match:
            super().pass_time(seconds)
            self.showing.note = f"next: {self.following.text()}" if self.following else "? keys"
            self._result_for = self._result_for + seconds if self._is_seen() else 0.0
            if self._result_for >= RESULT and self.following is not None:
                self.turn_to(self.following)
        elif self.following is not None:
            self.turn_to(self.following)

    def _is_seen(self) -> bool:
        """Return whether all was shown, or there is nothing that could be."""
        if self.model.problem:
            return True
        return self.playback.is_last and self.playback.playing

    def _come_back(self, seconds: float) -> None:
        """Go on instead: something else is played."""

    def turn_to(self, choice: Choice) -> None:
        """Show another match."""
        self.leave_topics(self.topics())
        self.match = choice.facts.id
        self.shown[self.match] = None
        while len(self.shown) > MEMORY:
            del self.shown[next(iter(self.shown))]
        self.begin(MatchModel(choice.facts))
        self._result_for = 0.0
        self.open_match()

    def action_skip(self) -> None:
        """Go on at once."""
        choice = choose(self.lobby, now(), self.shown)
        if choice is not None:
            self.turn_to(choice)

    def lines(self, width: int, height: int) -> list[Text]:
        """Return the picture."""
        if self.match:
            return super().lines(width, height)
        head = spread(styled("TV", TITLE), connection_text(self.feed.connected), width)
        blank = [Text()] * (height - 4)
        return [head, Text(), Text(NOTHING), *blank, Text("b: lobby   ?: keys   q: quit", QUIET)]
