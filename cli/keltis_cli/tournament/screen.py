"""The screen of a tournament: progress, the bracket or the standings, and what is played now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.text import Text

from keltis_cli.draw.brackets import bracket_lines, table_line
from keltis_cli.draw.journal import Journal
from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.match_lines import Live, latest_lines, playing_lines
from keltis_cli.draw.standings_table import Tables, standings_lines
from keltis_cli.draw.strokes import counted, cut, fitting, stroke
from keltis_cli.ladder.screen import title_line, troubles, with_hint
from keltis_ladder.tournaments.plan import SWISS
from keltis_ladder.tournaments.views import RoundView, State

LEAST_LATEST: Final = 3  # lines for the latest results, the heading included
PAUSING: Final = "Pausing: matches under way are handed back. Ctrl-C again stops at once."


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


def progress_bar(played: int, total: int, width: int, look: Look) -> Text:
    """Return a bar that fills."""
    full = width * played // total if total else 0
    bar = styled(stroke("full", look) * full, "cyan")
    return bar.append(stroke("rest", look) * (width - full), QUIET)


def _bracket(tables: Tables, width: int, height: int, look: Look) -> list[Text]:
    """Return the bracket, or where it does not fit the tables of this round and the next."""
    drawn = bracket_lines(tables.bracket, tables.names, width, height, look)
    return drawn or table_list(tables.rounds, tables.names, width, height, look)


def table_list(
    rounds: Sequence[RoundView], names: Sequence[str], width: int, most: int, look: Look
) -> list[Text]:
    """Return the rounds that are being played, table by table; what is done comes last."""
    lines: list[Text] = []
    for view in rounds:
        if view.state not in (State.OPEN, State.WAITING):
            continue
        order = [State.OPEN, State.WAITING, State.DONE, State.NOT_NEEDED]
        tables = sorted(view.tables, key=lambda table: order.index(table.state))
        done = sum(table.state == State.DONE for table in tables)
        head = f"Round {view.number}: {done} of {counted(len(tables), 'table')} decided"
        lines += [Text(head, TITLE), *(table_line(table, names, look) for table in tables)]
    if len(lines) > most:
        lines = [*lines[: max(0, most - 1)], Text(f"and {len(lines) - most + 1} more", QUIET)]
    return [fitting(line, width, look) for line in lines]
