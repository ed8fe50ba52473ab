"""How a long run is shown: a full screen in a terminal, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Final, Protocol

from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.text import Text

from keltis_cli.draw.look import Look, console

LINE_EVERY: Final = 10.0  # seconds between two lines where there is no terminal


class Picture(Protocol):
    """What is shown."""

    def lines(self, width: int, height: int) -> list[Text]:
        """Return the screen; never wider or longer than it may be."""

    def line(self) -> str:
        """Return the same in one line."""


class Display(Protocol):
    """Where it is shown."""

    def __enter__(self) -> Display:
        """Begin to show."""

    def __exit__(self, *error: object) -> None:
        """Leave the terminal as it was."""

    def close(self) -> None:
        """Leave the terminal as it was: the same, at once."""

    def show(self) -> None:
        """Show how things are now."""

    def say(self, text: str) -> None:
        """Say something that is not part of the picture."""


class Silence:
    """Shows nothing."""

    def __enter__(self) -> Silence:
        """Begin."""
        return self

    def __exit__(self, *error: object) -> None:
        """End."""
        self.close()

    def close(self) -> None:
        """Leave nothing behind."""

    def show(self) -> None:
        """Show nothing."""

    def say(self, text: str) -> None:
        """Say nothing."""


class Lines(Silence):
    """Prints a line now and then, on the error output."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.printed = time.monotonic()
        self.last = ""

    def show(self) -> None:
        """Print a line if it is time to, and there is something new."""
        if time.monotonic() - self.printed < LINE_EVERY:
            return
        self.printed = time.monotonic()
        line = self.picture.line()
        if line != self.last:
            self.last = line
            self.say(line)

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)


class FullScreen(Silence):
    """Draws on the alternate screen of a terminal, which gives back the other one at the end.

    Every drawing writes over the last one, so nothing flickers; what did not change is not drawn.
    """

    def __init__(self, picture: Picture, errors: Console) -> None:
        self.picture = picture
        self.console = errors
        self.live = Live(
            console=errors,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self.drawn: tuple[ConsoleDimensions, list[Text]] | None = None

    def __enter__(self) -> FullScreen:
        """Turn to the alternate screen."""
        self.live.start()
        return self

    def close(self) -> None:
        """Turn back."""
        self.live.stop()

    def show(self) -> None:
        """Draw the picture in the size that the terminal has now."""
        if not self.live.is_started:
            return
        size = self.console.size
        lines = self.picture.lines(size.width, size.height)
        if self.drawn != (size, lines):
            self.drawn = size, lines
            page = Text("\n", no_wrap=True, overflow="crop").join(lines)
            self.live.update(page, refresh=True)


def display_for(picture: Picture, quiet: bool, for_programs: bool) -> Display:
    """Return the display for this terminal."""
    errors = console(stderr=True)
    if quiet:
        return Silence()
    if for_programs or not errors.is_terminal or errors.is_dumb_terminal:
        return Lines(picture)
    return FullScreen(picture, errors)


def with_symbols(look: Look) -> Look:
    """Return the look for the error output; one that cannot encode the symbols gets letters."""
    try:
        "├─■┤│┐┘░█".encode(getattr(sys.stderr, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return Look(ascii=True)
    return look
