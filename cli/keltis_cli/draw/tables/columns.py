"""Tables that fit: columns give way, the least important first, until no line is too wide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from keltis_cli.draw.look import QUIET, Look
from keltis_cli.draw.strokes import cut

GAP: Final = 2  # cells between two columns


@dataclass(frozen=True)
class Column:
    """A column of a table, between two widths; ``draw`` returns its heading and its cells."""

    least: int
    most: int
    draw: Callable[[int], list[Text]]
    right: bool = False  # numbers are aligned right
    spare: int = 0  # columns with the highest number go first; those with 0 stay


def texts(
    heading: str,
    cells: Sequence[str | Text],
    look: Look,
    least: int | None = None,
    spare: int = 0,
    end: Sequence[str] = (),
) -> Column:
    """Return a column of texts, which may be cut to ``least`` cells, but not what is in ``end``."""
    ends = end or [""] * len(cells)
    natural = max([len(heading), *(len(c) + len(e) for c, e in zip(cells, ends, strict=True))])
    least = natural if least is None else min(natural, least)

    def draw(width: int) -> list[Text]:
        found = [Text(cut(heading, width, look), QUIET)]
        for cell, rest in zip(cells, ends, strict=True):
            text = cell if isinstance(cell, Text) else Text(cell)
            short = cut(text.plain, width - len(rest), look)
            found.append(Text(short, text.style).append(rest, QUIET))
        return found

    return Column(least, natural, draw, spare=spare)


def numbers(heading: str, cells: Sequence[str | Text], spare: int = 0) -> Column:
    """Return a column of numbers, which are never cut."""
    natural = max(len(cell) for cell in [heading, *cells])

    def draw(width: int) -> list[Text]:
        shown = [cell if isinstance(cell, Text) else Text(cell) for cell in cells]
        return [Text(heading, QUIET), *shown]

    return Column(natural, natural, draw, right=True, spare=spare)


def fitted(columns: Sequence[Column], width: int, look: Look) -> list[Text]:
    """Return the lines of a table, the headings first; none is wider than ``width``."""
    shown = list(columns)
    while least_width(shown) > width and any(column.spare for column in shown):
        last = max(shown, key=lambda column: column.spare)
        shown.remove(last)
    widths = _share(shown, width)
    cells = [column.draw(size) for column, size in zip(shown, widths, strict=True)]
    lines = []
    for row in zip(*cells, strict=True):
        line = Text()
        for column, size, cell in zip(shown, widths, row, strict=True):
            blanks = " " * (size - len(cell))
            if line.plain or column is not shown[0]:
                line.append(" " * GAP)
            line.append(blanks if column.right else "")
            line.append_text(cell)
            line.append("" if column.right else blanks)
        line.truncate(width)
        line.rstrip()
        lines.append(line)
    return lines


def least_width(columns: Sequence[Column]) -> int:
    """Return how narrow a table can be."""
    return sum(column.least for column in columns) + GAP * (len(columns) - 1)


def _share(columns: Sequence[Column], width: int) -> list[int]:
    """Give each column its least width, and what is left to those that want more, in turn."""
    widths = [column.least for column in columns]
    left = width - least_width(columns)
    while left > 0 and any(size < c.most for size, c in zip(widths, columns, strict=True)):
        for place, column in enumerate(columns):
            if left > 0 and widths[place] < column.most:
                widths[place] += 1
                left -= 1
    return widths
