"""The leaderboard: ranks that say how sure they are, and intervals drawn on one scale.

Once joint ratings are published a line has both, and the places that a bot may have: "3-5". Until
then there is live TrueSkill alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import ceil, floor
from typing import Final

from rich.text import Text

from keltis_cli.draw.estimates import percent
from keltis_cli.draw.look import QUIET, TITLE, Look
from keltis_cli.draw.strokes import ago, stroke
from keltis_cli.draw.tables.columns import GAP, Column, fitted, least_width, numbers, texts
from keltis_ladder.ratings.joint.ranges import range_text
from keltis_ladder.ratings.official import Official
from keltis_ladder.store.ratings.lines import Line

NAME_WIDTH: Final = 14  # cells for a bot's name at least
SCALE: Final = (12, 48)  # cells for the intervals, at least and at most
CLEAR: Final = 28  # cells for them before there is room for more columns
LABEL: Final = 6  # cells from one number of the scale to the next, at least
STEPS: Final = (1, 2, 5, 10, 20, 50, 100)  # of the numbers on the scale
LEAST_SAID: Final = 0.005  # by other matches, as a share of what is known
NARROWEST: Final = 4.0  # a scale shows so much at least

Interval = tuple[float, float, float]  # low, mean, high

INTERVAL: Final = "cyan"
ALARM: Final = "red"


def leaderboard_lines(
    lines: Sequence[Line],
    width: int,
    look: Look,
    now: datetime,
    most: int | None = None,
    in_full: bool = False,
    ordered: str = Official.JOINT,
) -> list[Text]:
    """Return a leaderboard; with ``most`` lines at most, the last of which counts the others.

    ``ordered`` is the official rating.
    """
    if not lines:
        return [Text("Nobody has played yet.", QUIET)]
    shown = lines if most is None or len(lines) + 1 <= most else lines[: max(1, most - 2)]
    table = fitted(_columns(shown, width, look, now, in_full, ordered), width, look)
    if len(shown) < len(lines):
        left = len(lines) - len(shown)
        table.append(Text(f"and {left} more: keltis-ladder ladder show", QUIET))
        table[-1].truncate(width)
    return table


def rank_text(line: Line, ordered: str = Official.JOINT) -> str:
    """Return the rank, or the places that a bot may have: "3-5".

    By live TrueSkill shared ranks are marked, and who is rated too uncertainly has none.
    """
    if line.joint is not None and ordered == Official.JOINT:
        return range_text(line.joint.best, line.joint.worst)
    if line.rank is not None:
        return f"{line.rank}=" if line.tied > 1 else f"{line.rank}"
    return "?" if line.plays else "-"


def bot_name(bot: str, number: int) -> str:
    """Return a bot and its version as they are shown everywhere."""
    return f"{bot} v{number}"


def _columns(
    lines: Sequence[Line], width: int, look: Look, now: datetime, in_full: bool, ordered: str
) -> list[Column]:
    names = [Text(line.bot, TITLE if line.rank == 1 else "") for line in lines]
    versions = [f" v{line.number}" for line in lines]
    faults = [Text(f"{line.faults:,}", ALARM if line.faults else QUIET) for line in lines]
    passed = [ago((now - line.last_played).total_seconds()) for line in lines]
    columns = [
        numbers("rank", [_rank(line, ordered) for line in lines]),
        texts("bot", names, look, least=NAME_WIDTH, end=versions),
        *(_both(lines, look, ordered) if any(line.joint for line in lines) else _live(lines, look)),
        numbers("matches", [f"{line.matches:,}" for line in lines], spare=1),
        numbers("won", [_won(line.wins, line.games) for line in lines], spare=5),
        numbers("faults", faults, spare=4),
        numbers("played", [f"{text} ago" for text in passed], spare=6),
    ]
    return columns + (_further(lines, look, width - least_width(columns)) if in_full else [])


def _live(lines: Sequence[Line], look: Look) -> list[Column]:
    """Return the live rating alone."""
    intervals = [(line.low, line.mu, line.high) for line in lines]
    return [
        numbers("rating", [f"{line.mu:.1f}" for line in lines]),
        scale("95 % interval", intervals, look, spare=2),
    ]


def _both(lines: Sequence[Line], look: Look, ordered: str) -> list[Column]:
    """Return both ratings, the official one drawn; who has no joint one has a dash there."""
    reach = stroke("reach", look)
    joint = [line.joint for line in lines]
    ratings = [
        "-" if each is None else f"{each.rating:.1f} {reach}{each.high - each.rating:.1f}"
        for each in joint
    ]
    shares = [
        "-" if each is None else f"{each.share:.0%} ({each.share_low:.0%}-{each.share_high:.0%})"
        for each in joint
    ]
    if ordered == Official.JOINT:
        drawn = [None if each is None else (each.low, each.rating, each.high) for each in joint]
    else:
        drawn = [(line.low, line.mu, line.high) for line in lines]
    live = [Text(f"{line.mu:.1f} {reach}{line.high - line.mu:.1f}", QUIET) for line in lines]
    return [
        numbers("rating", ratings),
        scale("95 % interval", drawn, look, spare=3),
        numbers("expected wins", shares, spare=1),
        numbers("TrueSkill", live, spare=2),
        *_rests(lines),
    ]


def _rests(lines: Sequence[Line]) -> list[Column]:
    """Return what joint ratings rest on: matches of the kind, and others, if those say anything."""
    joint = [line.joint for line in lines]
    if not any(each is not None and each.others >= LEAST_SAID for each in joint):
        return []
    parts = ["-" if each is None else f"{each.own:.0%} + {each.others:.0%}" for each in joint]
    return [numbers("rests on", [Text(part, QUIET) for part in parts], spare=4)]


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


def _rank(line: Line, ordered: str) -> Text:
    text = rank_text(line, ordered)
    style = QUIET if line.provisional else TITLE if line.rank == 1 else ""
    # Aligned by the number: the mark stands behind it.
    return Text(text if text.endswith("=") else f"{text} ", style)


def _won(wins: float, games: int) -> str:
    return percent(wins / games) if games else "-"


def scale(heading: str, intervals: Sequence[Interval | None], look: Look, spare: int) -> Column:
    """Return a column of intervals (low, mean, high) on one scale, with numbers above it."""
    known = [each for each in intervals if each is not None]
    low = floor(min((low for low, _, _ in known), default=0))
    high = ceil(max((high for _, _, high in known), default=0))
    high = max(high, low + ceil(NARROWEST))

    def draw(width: int) -> list[Text]:
        head = axis(low, high, width) if width >= 2 * LABEL else heading[:width]
        return [
            Text(head, QUIET),
            *(
                Text() if each is None else interval(*each, (low, high), width, look)
                for each in intervals
            ),
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
