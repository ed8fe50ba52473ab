"""How the games look in a terminal: symbols, colours and the console they are printed on.

The symbols are characters of code page 437: every terminal font has them, down to the Linux
console's, each is one cell wide, and none of them is ever drawn as an emoji. They stand for the
knots of the art direction: spiral, sun, triskele, leaf and wave.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.text import Text
from rich.theme import Theme

LETTERS: Final = "RYVGB"
SYMBOLS: Final = {"R": "@", "Y": "☼", "V": "▲", "G": "♦", "B": "≈"}
COLOUR_WORDS: Final = {
    "R": "red", "Y": "yellow", "V": "violet", "G": "green", "B": "blue", "P": "points",
}  # fmt: skip

# Numbers of the 256-colour palette next to the five colours of the art direction. Each is a
# background with a text that stands out from it, so the terminal's own colours do not matter.
STYLES: Final = {
    "R": "bold color(231) on color(52)",
    "Y": "bold color(16) on color(228)",
    "V": "bold color(16) on color(212)",
    "G": "bold color(16) on color(70)",
    "B": "bold color(231) on color(25)",
    "P": "bold color(16) on color(252)",
}
FIGURE_STYLE: Final = "bold reverse"
QUIET: Final = "dim"
TITLE: Final = "bold"

SEAT_MARKS: Final = "ABCD"  # the big figures; the small ones are the same in lower case

# What lies on a board: as a symbol, and with letters only.
MARKS: Final = {
    "clover": ("♣", "&"),
    "wish": ("○", "o"),
    "drop": ("↓", "v"),
    "stack": ("■", "#"),
    "empty": ("·", "."),
    "joker": ("*", "*"),
    "goal": ("║", "|"),
    "turn": ("►", ">"),
    "up": ("↑", "^"),
    "down": ("↓", "v"),
    "more": ("…", "~"),
    "times": ("×", "x"),
    "dot": ("·", "-"),
    "none": ("–", "-"),
}


def styled(text: str, style: str) -> Text:
    """Return a text whose style ends with it: what is appended later has its own."""
    return Text().append(text, style)


@dataclass(frozen=True)
class Look:
    """How to draw: with symbols, or with letters only."""

    ascii: bool = False

    def mark(self, name: str) -> str:
        """Return the sign of something other than a colour."""
        return MARKS[name][self.ascii]

    def symbol(self, letter: str) -> str:
        """Return the sign of a colour; the points cards have no other than their letter."""
        return letter if self.ascii else SYMBOLS.get(letter, letter)

    def label(self, letter: str) -> Text:
        """Return the letter of a colour and its symbol, which explain each other."""
        symbol = "" if self.ascii else SYMBOLS.get(letter, " ")
        return styled(letter + symbol, STYLES[letter])

    def card(self, name: str) -> Text:
        """Return a card or tile, named as in the notation."""
        return styled(self.symbol(name[0]) + name[1:], STYLES[name[0]])

    def cards(self, names: list[str]) -> Text:
        """Return several cards side by side."""
        return Text(" ").join(self.card(name) for name in names)

    def tile(self, name: str) -> Text:
        """Return a tile of a board: two cells."""
        if name.isdigit():
            return styled(f"+{name}", TITLE)
        kind, _, letter = name.partition(" ")
        tile = Text(self.mark(kind))
        return tile.append(self.symbol(letter), STYLES[letter]) if letter else tile.append(" ")


class _CardNames(RegexHighlighter):
    """Paints card names in a narration in their colours."""

    base_style = "card."
    highlights = [rf"\b(?P<{letter}>{letter}(?:10|\d|E))\b" for letter in [*LETTERS, "P"]]  # noqa: RUF012


_THEME: Final = Theme({f"card.{letter}": style for letter, style in STYLES.items()})


def console(stderr: bool = False) -> Console:
    """Return a console that prints in colour only where that is welcome.

    With NO_COLOR texts carry no escape codes at all: bold and reverse would be codes, too.
    """
    return Console(
        stderr=stderr,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        theme=_THEME,
        highlighter=_CardNames(),
        markup=False,
        emoji=False,
    )


def look(ascii_only: bool) -> Look:
    """Return the look asked for; an output that cannot encode the symbols gets letters."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        "".join(SYMBOLS.values()).encode(encoding)
    except UnicodeEncodeError:
        return Look(ascii=True)
    return Look(ascii=ascii_only)
