"""Lines, corners and small words that tables and brackets are drawn with.

All are characters of code page 437, as in ``look``, or letters where those are not welcome.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from rich.text import Text

from keltis_cli.draw.look import QUIET, Look, styled

_STROKES: Final = {
    "from": ("├", "|"),
    "line": ("─", "-"),
    "to": ("┤", "|"),
    "mean": ("■", "o"),
    "self": ("░", "."),
    "never": ("-", "-"),
    "full": ("█", "#"),
    "rest": ("░", "."),
    "dot": ("·", "-"),
    "reach": ("±", "+-"),
}
# A joint of a bracket by whether a line goes up, down, left and right from it.
_JOINTS: Final = {
    (False, True, True, False): "┐",
    (False, True, True, True): "┬",
    (True, False, True, False): "┘",
    (True, False, True, True): "┴",
    (True, True, False, False): "│",
    (True, True, False, True): "├",
    (True, True, True, False): "┤",
    (True, True, True, True): "┼",
}
_CUT: Final = ("…", "~")
_PARTS: Final = {Fraction(1, 4): "¼", Fraction(1, 2): "½"}


def stroke(name: str, look: Look) -> str:
    """Return a sign."""
    return _STROKES[name][look.ascii]


def joint(up: bool, down: bool, left: bool, right: bool, look: Look) -> str:
    """Return where the lines of a bracket meet."""
    sign = _JOINTS[up, down, left, right]
    if not look.ascii:
        return sign
    return "|" if sign == "│" else "+"


def cut(text: str, width: int, look: Look) -> str:
    """Return a text that fits; one that was cut ends with a mark."""
    if len(text) <= width:
        return text
    return text[: max(0, width - 1)] + _CUT[look.ascii] if width > 0 else ""


def fitting(line: Text, width: int, look: Look) -> Text:
    """Return a line that fits; one that was cut ends with a mark."""
    if line.cell_len <= width:
        return line
    short = line[: max(0, width - 1)]
    return short.append(_CUT[look.ascii])


def wins(twelfths: int, look: Look) -> str:
    """Return won games in twelfths of a win as people write them: 1½."""
    whole, rest = divmod(Fraction(twelfths, 12), 1)
    if not rest:
        return str(whole)
    if rest in _PARTS and not look.ascii:
        return (str(whole) if whole else "") + _PARTS[rest]
    return f"{twelfths / 12:.2f}".rstrip("0")


def score_text(score: Fraction, look: Look) -> str:
    """Return matches won, draws as halves, as people write them."""
    return wins(int(score * 12), look)


def ago(seconds: float) -> str:
    """Return how long something is past, in one unit."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"


def lasting(seconds: float) -> str:
    """Return how long something takes, as a clock shows it."""
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02}:{second:02}" if hour else f"{minute}:{second:02}"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number of things: 1 match, 2 matches."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def progress_bar(played: int, total: int, width: int, look: Look) -> Text:
    """Return a bar that fills."""
    full = width * played // total if total else 0
    bar = styled(stroke("full", look) * full, "cyan")
    return bar.append(stroke("rest", look) * (width - full), QUIET)
