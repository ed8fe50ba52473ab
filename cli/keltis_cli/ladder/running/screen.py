"""The screen of a ladder: progress, leaderboard, running matches, latest results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from rich.text import Text

from keltis_cli.draw.boards.pieces import spread
from keltis_cli.draw.journal import Journal
from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.match_lines import Live, latest_lines, playing_lines
from keltis_cli.draw.strokes import counted, cut, fitting, lasting, stroke
from keltis_cli.draw.tables.leaderboard import ALARM, leaderboard_lines
from keltis_ladder.run.pace import Tempo
from keltis_ladder.store.ratings.lines import Line

LEAST_LATEST: Final = 4  # lines for the latest results, the heading included
WIDE: Final = 120  # cells from which the leaderboard shows all it has
FINISHING: Final = "Finishing: running matches are handed back. Ctrl-C again stops immediately."


@dataclass
class LadderState:
    """All that the screen shows."""

    journal: Journal
    referees: int
    title: str = "Ladder"
    lines: list[Line] = field(default_factory=list)
    total: int = 0  # matches on the ladder
    finishing: bool = False
    live: Live = field(default_factory=dict)


def ladder_lines(
    state: LadderState, width: int, height: int, look: Look, now: datetime
) -> list[Text]:
    """Return the screen; never wider or longer than it may be."""
    top = head_lines(state, width, look)
    playing = playing_lines(state.journal, state.live, width, look, most=max(2, height // 4))
    room = height - len(top) - len(playing) - 3  # blank lines
    board = leaderboard_lines(
        state.lines, width, look, now, most=max(3, room - LEAST_LATEST), in_full=width >= WIDE
    )
    latest = latest_lines(state.journal, width, look, most=room - len(board))
    blocks = [top, board, playing, latest]
    lines = [line for block in blocks if block for line in [*block, Text()]]
    return [fitting(line, width, look) for line in lines[:-1]][:height]


def head_lines(state: LadderState, width: int, look: Look) -> list[Text]:
    """Return what counts in two lines: how much, how quickly, how long, and what went wrong."""
    journal = state.journal
    elsewhere = f" ({state.total:,} in all)" if state.total > journal.stored else ""
    facts = [
        counted(journal.stored, "match", "matches") + elsewhere,
        f"{journal.per_minute:.0f} a minute",
        counted(state.referees, "referee"),
        *pace_facts(journal),
    ]
    first = title_line(state.title, facts, journal, width, look)
    if state.finishing:
        return [first, Text(cut(FINISHING, width, look), TITLE)]
    return [first, with_hint(troubles(journal, look), "Ctrl-C ends", width)]


def pace_facts(journal: Journal) -> list[str]:
    """Say why few matches are played, if that is so."""
    if journal.pace is None or journal.pace.per_minute is None:
        return []
    settled = "ratings are settled: " if journal.pace.tempo is Tempo.SETTLED else ""
    return [f"{settled}at most {journal.pace.per_minute:g} a minute"]


def title_line(title: str, facts: Sequence[str], journal: Journal, width: int, look: Look) -> Text:
    """Return the first line: a title, some facts, and how long it has been going on."""
    left = styled(title, TITLE)
    for fact in facts:
        left.append(f" {stroke('dot', look)} {fact}")
    return spread(left, Text(lasting(journal.seconds)), width)


def with_hint(line: Text, hint: str, width: int) -> Text:
    """Put a hint at the right edge, if there is room for it."""
    if line.cell_len + len(hint) + 1 > width:
        return line
    return spread(line, Text(hint, QUIET), width)


def troubles(journal: Journal, look: Look, all_is_well: str = "no platform trouble") -> Text:
    """Say what went wrong: the bots' faults, and the platform's."""
    found = styled(counted(journal.faults, "fault"), ALARM if journal.faults else QUIET)
    if journal.troubles:
        count = counted(journal.troubles, "platform trouble")
        words, style = f"{count}: {journal.trouble}", ALARM
    else:
        words, style = all_is_well, QUIET
    return found.append(f" {stroke('dot', look)} ", QUIET).append(words, style) if words else found
