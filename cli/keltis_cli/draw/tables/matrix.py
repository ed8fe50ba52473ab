"""Head to head: how often each bot was ahead of each other one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rich.text import Text

from keltis_cli.draw.look import QUIET, Look
from keltis_cli.draw.strokes import cut, stroke
from keltis_cli.draw.tables.leaderboard import bot_name
from keltis_ladder.store.ratings.leaderboards import Encounter
from keltis_ladder.store.ratings.lines import Line

CELLS: Final = (6, 5)  # of a column, the blanks before it included: if there is room, and if not
NAME_WIDTH: Final = 12  # cells for a name at least
THOUSAND: Final = 1000
AHEAD, BEHIND = 0.55, 0.45  # shares that are coloured
GOOD: Final = "green"
BAD: Final = "red"

Encounters = Mapping[tuple[int, int], Encounter]


def share(encounter: Encounter) -> float:
    """Return the part of the matches in which one was ahead; a draw is half of one."""
    return (encounter.wins + encounter.draws / 2) / encounter.matches


def matrix_lines(
    lines: Sequence[Line], encounters: Encounters, width: int, look: Look
) -> list[Text]:
    """Return the table: per cent, and below it the number of matches."""
    numbered = len(str(len(lines))) + 1
    room = width - numbered - NAME_WIDTH
    cell = CELLS[0] if CELLS[0] * len(lines) <= room else CELLS[1]
    shown = lines[: max(1, room // cell)]
    name = min(
        max([NAME_WIDTH, *(len(bot_name(line.bot, line.number)) for line in shown)]),
        width - numbered - cell * len(shown),
    )
    head = " " * (numbered + name) + "".join(f"{k:>{cell}}" for k in range(1, len(shown) + 1))
    found = [Text(head, QUIET)]
    for number, line in enumerate(shown, 1):
        title = cut(bot_name(line.bot, line.number), name, look)
        top = Text(f"{number:>{numbered - 1}} {title:<{name}}")
        below = Text(" " * (numbered + name))
        for other in shown:
            value, count = _cell(line, other, encounters, look)
            top.append(f"{value.plain:>{cell}}", value.style)
            below.append(f"{count:>{cell}}", QUIET)
        found += [top, below]
    for each in found:
        each.rstrip()
        each.truncate(width)
    if len(shown) < len(lines):
        found.append(Text(f"{len(shown)} of {len(lines)} fit: use a wider terminal", QUIET))
        found[-1].truncate(width)
    return found


def _cell(one: Line, other: Line, encounters: Encounters, look: Look) -> tuple[Text, str]:
    if one is other:
        return Text(stroke("self", look) * 3, QUIET), ""
    encounter = encounters.get((one.version, other.version))
    if encounter is None:
        return Text(stroke("never", look), QUIET), ""
    won = share(encounter)
    style = GOOD if won > AHEAD else BAD if won < BEHIND else ""
    return Text(f"{won:.0%}", style), _short(encounter.matches)


def _short(count: int) -> str:
    """Return a number in four cells."""
    for size, unit in ((THOUSAND**2, "M"), (THOUSAND, "k")):
        if count >= 10 * size:
            return f"{count // size}{unit}"
        if count >= size:
            return f"{count // (size // 10) / 10}{unit}"
    return str(count)
