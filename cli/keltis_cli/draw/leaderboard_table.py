"""The leaderboard: ranks that say how sure they are, and intervals drawn on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import ceil, floor
from typing import Final

from rich.text import Text

from keltis_cli.draw.columns import GAP, Column, fitted, least_width, numbers, texts
from keltis_cli.draw.estimates import percent
from keltis_cli.draw.look import QUIET, TITLE, Look
from keltis_cli.draw.strokes import ago, stroke
from keltis_ladder.store.ratings.lines import Line

NAME: Final = 14  # cells for a bot's name at least
SCALE: Final = (12, 48)  # cells for the intervals, at least and at most
CLEAR: Final = 28  # cells for them before there is room for more columns
LABEL: Final = 6  # cells from one number of the scale to the next, at least
STEPS: Final = (1, 2, 5, 10, 20, 50, 100)  # of the numbers on the scale
NARROWEST: Final = 4.0  # a scale shows so much at least

INTERVAL: Final = "cyan"
ALARM: Final = "red"


def leaderboard_lines(
    lines: Sequence[Line],
    width: int,
    look: Look,
    now: datetime,
    most: int | None = None,
    in_full: bool = False,
) -> list[Text]:
    """Return a leaderboard; with ``most`` lines at most, the last of which counts the others."""
    if not lines:
        return [Text("Nobody has played yet.", QUIET)]
    shown = lines if most is None or len(lines) + 1 <= most else lines[: max(1, most - 2)]
    table = fitted(_columns(shown, width, look, now, in_full), width, look)
    if len(shown) < len(lines):
        left = len(lines) - len(shown)
        table.append(Text(f"and {left} more: keltis-ladder ladder show", QUIET))
        table[-1].truncate(width)
    return table


def rank_text(line: Line) -> str:
    """Return the rank: shared ones are marked, and who is rated too uncertainly has none."""
    if line.rank is not None:
        return f"{line.rank}=" if line.tied > 1 else f"{line.rank}"
    return "?" if line.plays else "-"


def bot_name(bot: str, number: int) -> str:
    """Return a bot and its version as they are shown everywhere."""
    return f"{bot} v{number}"


def _columns(
    lines: Sequence[Line], width: int, look: Look, now: datetime, in_full: bool
) -> list[Column]:
    names = [Text(line.bot, TITLE if line.rank == 1 else "") for line in lines]
    versions = [f" v{line.number}" for line in lines]
    faults = [Text(f"{line.faults:,}", ALARM if line.faults else QUIET) for line in lines]
    passed = [ago((now - line.last_played).total_seconds()) for line in lines]
    columns = [
        numbers("rank", [_rank(line) for line in lines]),
        texts("bot", names, look, least=NAME, end=versions),
        numbers("rating", [f"{line.mu:.1f}" for line in lines]),
        scale("95 % interval", [(line.low, line.mu, line.high) for line in lines], look, spare=2),
        numbers("matches", [f"{line.matches:,}" for line in lines], spare=1),
        numbers("won", [_won(line.wins, line.games) for line in lines], spare=5),
        numbers("faults", faults, spare=3),
        numbers("played", [f"{text} ago" for text in passed], spare=6),
    ]
    return columns + (_further(lines, look, width - least_width(columns)) if in_full else [])


def _further(lines: Sequence[Line], look: Look, room: int) -> list[Column]:
    """Return what there is room for, if intervals can be seen clearly all the same."""
    seats = max(sum(seat is not None for seat in line.seats) for line in lines)
    by_seat = [
        numbers(
            f"seat {seat}",
            ["-" if (won := line.seats[seat]) is None else f"{won:.0%}" for line in lines],
            spare=10 + seat,
        )
        for seat in range(seats)
    ]
    found = [
        *by_seat,
        numbers("won alone", [f"{line.firsts:,}" for line in lines], spare=20),
        numbers("shared", [f"{line.shared:,}" for line in lines], spare=21),
        texts("author", [line.author for line in lines], look, least=6, spare=22),
    ]
    if any(not line.plays for line in lines):
        found.append(texts("state", [line.state for line in lines], look, spare=6))
    while found and least_width(found) + GAP + CLEAR - SCALE[0] > room:
        found.remove(max(found, key=lambda column: column.spare))
    return found


def _rank(line: Line) -> Text:
    text = rank_text(line)
    # Aligned by the number: the mark stands behind it.
    return Text(text if text.endswith("=") else f"{text} ", TITLE if line.rank == 1 else "")


def _won(wins: float, games: int) -> str:
    return percent(wins / games) if games else "-"


def scale(
    heading: str, intervals: Sequence[tuple[float, float, float]], look: Look, spare: int
) -> Column:
    """Return a column of intervals (low, mean, high) on one scale, with numbers above it."""
    low = floor(min(low for low, _, _ in intervals))
    high = ceil(max(high for _, _, high in intervals))
    high = max(high, low + ceil(NARROWEST))

    def draw(width: int) -> list[Text]:
        head = axis(low, high, width) if width >= 2 * LABEL else heading[:width]
        return [
            Text(head, QUIET),
            *(interval(*each, (low, high), width, look) for each in intervals),
        ]

    return Column(*SCALE, draw, spare=spare)


def axis(low: int, high: int, width: int) -> str:
    """Return the numbers above a scale, each over its place."""
    step = next((s for s in STEPS if (width - 1) * s / (high - low) >= LABEL), STEPS[-1])
    line = [" "] * width
    for number in range(ceil(low / step) * step, high + 1, step):
        label = str(number)
        # In the middle over its place, but within the column.
        start = _place(number, (low, high), width) - (len(label) - 1) // 2
        start = min(max(0, start), width - len(label))
        line[start : start + len(label)] = label
    return "".join(line)


def interval(
    low: float, mean: float, high: float, ends: tuple[int, int], width: int, look: Look
) -> Text:
    """Return an interval as a bar with its mean marked."""
    first, middle, last = (_place(value, ends, width) for value in (low, mean, high))
    signs = [" "] * width
    signs[first : last + 1] = stroke("line", look) * (last + 1 - first)
    signs[first], signs[last] = stroke("from", look), stroke("to", look)
    signs[middle] = stroke("mean", look)
    bar = Text("".join(signs), INTERVAL)
    bar.stylize(TITLE, middle, middle + 1)
    return bar


def _place(value: float, ends: tuple[int, int], width: int) -> int:
    low, high = ends
    return min(width - 1, max(0, round((value - low) / (high - low) * (width - 1))))
