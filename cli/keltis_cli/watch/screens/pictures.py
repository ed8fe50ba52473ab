"""Screens that are drawn as lines: one widget that fills the terminal, drawn again when need be."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from keltis_cli.draw.look import QUIET, TITLE, Look

TICK: Final = 1 / 20  # seconds between two looks at what has changed
LONGEST_PAUSE: Final = 0.5  # seconds that count at once

GENERAL: Final = (
    ("?", "these keys"),
    ("q", "quit"),
)


class Canvas(Widget):
    """Shows the lines of its screen."""

    DEFAULT_CSS = "Canvas { width: 100%; height: 100%; background: transparent; }"

    def render(self) -> Text:
        """Return the lines for the size that there is."""
        screen = self.screen
        assert isinstance(screen, PictureScreen | HelpScreen)
        lines = screen.picture(self.size.width, self.size.height)
        return Text("\n", no_wrap=True, overflow="crop", end="").join(lines)


class PictureScreen(Screen[None]):
    """A screen that is a picture, and has keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "help", "Keys"),
    ]
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = GENERAL

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look
        self._drawn: list[Text] = []
        self._drawn_for = 0, 0  # width and height
        self._looked = time.monotonic()

    def compose(self) -> ComposeResult:
        """Put the picture on the screen."""
        yield Canvas()

    def on_mount(self) -> None:
        """Begin to look at what changes."""
        self.set_interval(TICK, self._look_again)

    @abstractmethod
    def lines(self, width: int, height: int) -> list[Text]:
        """Return the picture; never wider or longer than it may be."""

    def pass_time(self, seconds: float) -> None:
        """Do what happens by itself; called before each look."""

    def picture(self, width: int, height: int) -> list[Text]:
        """Return the picture as it was drawn last, in another size if it has changed."""
        if self._drawn_for != (width, height):
            self._drawn_for = width, height
            self._drawn = self.lines(width, height)
        return self._drawn

    def redraw(self) -> None:
        """Draw the picture again, if it has changed."""
        width, height = self.size
        lines = self.lines(width, height)
        if lines != self._drawn or self._drawn_for != (width, height):
            self._drawn, self._drawn_for = lines, (width, height)
            for canvas in self.query(Canvas):
                canvas.refresh()

    def _look_again(self) -> None:
        if self.is_current:
            now = time.monotonic()
            # After a long pause, under another screen or stopped, we go on where we were.
            self.pass_time(min(now - self._looked, LONGEST_PAUSE))
            self._looked = now
            self.redraw()

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(HelpScreen(self.KEYS))


class HelpScreen(ModalScreen[None]):
    """The keys, over the picture; any key closes it."""

    def __init__(self, keys: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self.keys = keys

    def compose(self) -> ComposeResult:
        """Put the keys on the screen."""
        yield Canvas()

    def on_key(self) -> None:
        """Close it, and leave it at that."""
        self.dismiss()

    def picture(self, width: int, height: int) -> list[Text]:
        """Return a line for each key."""
        found = [Text("Keys", TITLE), Text()]
        found += [Text(f"  {key:<24}", TITLE).append(text, "not bold") for key, text in self.keys]
        return [*found, Text(), Text("Any key goes back.", QUIET)][:height]
