"""Small aligned tables: no frames, no trailing blanks, the same in a pipe as in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from keltis_cli.draw.look import QUIET, TITLE

GAP = "  "


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> Text:
    """Return a table; the columns in ``left`` are texts, the others numbers to align right."""
    widths = [
        max(cell_len(row[column]) for row in [headings, *rows]) for column in range(len(headings))
    ]

    def line(cells: Sequence[str], style: str) -> Text:
        parts = []
        for cell, width, heading in zip(cells, widths, headings, strict=True):
            blanks = " " * (width - cell_len(cell))
            parts.append(cell + blanks if heading in left else blanks + cell)
        return Text(GAP.join(parts).rstrip(), style)

    lines = [line(headings, QUIET)]
    lines += [line(row, TITLE if row[-1].startswith("wins") else "") for row in rows]
    return Text("\n").join(lines)
