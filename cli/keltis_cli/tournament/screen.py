"""The screen of a tournament: progress, the bracket or the standings, and what is played now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rich.text import Text

from keltis_cli.draw.brackets import bracket_lines, table_list
from keltis_cli.draw.journal import Journal
from keltis_cli.draw.look import TITLE, Look
from keltis_cli.draw.match_lines import Live, latest_lines, playing_lines
from keltis_cli.draw.strokes import counted, cut, fitting, progress_bar, stroke
from keltis_cli.draw.tables.standings import Tables, standings_lines
from keltis_cli.ladder.running.screen import title_line, troubles, with_hint
from keltis_ladder.tournaments.plan import SWISS

LEAST_LATEST: Final = 3  # lines for the latest results, the heading included
PAUSING: Final = "Pausing: running matches are handed back. Ctrl-C again stops immediately."


@dataclass(frozen=True)
class Moment:
    """How a tournament stands at one moment."""

    tables: Tables
    played: int
    total: int  # at least
    round: int
    finished: bool


@dataclass
class TournamentState:
    """All that the screen shows."""

    name: str
    journal: Journal
    referees: int
    moment: Moment
    finishing: bool = False
    live: Live = field(default_factory=dict)


def tournament_lines(state: TournamentState, width: int, height: int, look: Look) -> list[Text]:
    """Return the screen; never wider or longer than it may be."""
    top = head_lines(state, width, look)
    playing = playing_lines(state.journal, state.live, width, look, most=max(2, height // 5))
    room = height - len(top) - len(playing) - 2  # blank lines
    tables = state.moment.tables
    if tables.plan.elimination:
        body = _bracket(tables, width, room, look)
    else:
        body = standings_lines(tables, width, look, most=max(3, room - LEAST_LATEST - 1))
    latest = latest_lines(state.journal, width, look, most=room - len(body) - 1)
    blocks = [top, body, playing, latest]
    lines = [line for block in blocks if block for line in [*block, Text()]]
    return [fitting(line, width, look) for line in lines[:-1]][:height]


def head_lines(state: TournamentState, width: int, look: Look) -> list[Text]:
    """Return how far it is, and what went wrong."""
    moment, journal = state.moment, state.journal
    plan = moment.tables.plan
    facts = [
        plan.format,
        f"{journal.per_minute:.0f} matches a minute",
        counted(state.referees, "referee"),
    ]
    first = title_line(state.name, facts, journal, width, look)
    if state.finishing:
        return [first, Text(cut(PAUSING, width, look), TITLE)]
    second = progress_bar(moment.played, moment.total, width // 8, look)
    second.append(f" {moment.played:,} of {moment.total:,} matches")
    dot = f" {stroke('dot', look)} "
    second.append(f"{dot}{round_text(moment)}{dot}")
    second.append_text(troubles(journal, look, all_is_well=""))
    return [first, with_hint(second, "Ctrl-C pauses", width)]


def round_text(moment: Moment) -> str:
    """Return which round is being played."""
    rounds, plan = moment.tables.rounds, moment.tables.plan
    total = plan.length if plan.format == SWISS else rounds[-1].number
    return f"round {moment.round} of {total}"


def _bracket(tables: Tables, width: int, height: int, look: Look) -> list[Text]:
    """Return the bracket, or where it does not fit the tables of this round and the next."""
    drawn = bracket_lines(tables.bracket, tables.names, width, height, look)
    return drawn or table_list(tables.rounds, tables.names, width, height, look)
