"""The lobby as lines: what is being played, and the latest results, one of which is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, TypeVar

from rich.text import Text

from keltis_cli.draw.boards.pieces import spread
from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.strokes import ago, counted, fitting
from keltis_cli.draw.tables.columns import fitted, numbers, texts
from keltis_cli.watch.lobby import LobbyModel, Past, Running
from keltis_cli.watch.moves import ALARM
from keltis_cli.watch.screens.match_picture import names_text, result_text
from keltis_engine import VARIANTS
from keltis_ladder.match.rotation import by_entrant

T = TypeVar("T")

CHOSEN: Final = "reverse"
NAMES_WIDTH: Final = 24  # cells for the bots of a match, if they need them
RESULT: Final = 46  # cells for a result, if it needs them
_VARIANT: Final = f"{'variant':<{max(map(len, VARIANTS))}}"  # of one width, whatever is played


def lobby_lines(
    lobby: LobbyModel,
    chosen: str,
    connected: bool,
    width: int,
    height: int,
    look: Look,
    now: datetime,
) -> list[Text]:
    """Return the screen; never wider or longer than it may be."""
    running = list(lobby.running.values())
    dot = f" {look.mark('dot')} "
    left = styled("Lobby", TITLE).append(
        f"{dot}{counted(len(running), 'match', 'matches')} running"
    )
    head = spread(left, connection_text(connected), width)
    foot = Text("Up, Down: choose   Enter: watch   t: TV   ?: keys   q: quit", QUIET)
    room = height - 5  # head, foot and the blank lines between
    most = max(3, min(len(running) + 1, room - min(len(lobby.recent) + 1, room // 2)))
    playing = running_lines(running, chosen, width, most, look, now)
    latest = past_lines(lobby.recent, chosen, width, room - len(playing), look, now)
    lines = [head, Text(), *playing, Text(), *latest]
    lines += [Text()] * (height - 1 - len(lines))
    return [fitting(line, width, look) for line in [*lines[: height - 1], foot]]


def connection_text(connected: bool) -> Text:
    """Say if the connection is lost."""
    return Text() if connected else styled("connection lost, trying again", ALARM)


def running_lines(
    running: Sequence[Running], chosen: str, width: int, most: int, look: Look, now: datetime
) -> list[Text]:
    """Return the matches under way, around the chosen one."""
    if not running:
        return [Text("Nothing is being played.", QUIET)]
    shown = _window(running, [one.facts.id for one in running], chosen, most - 1)
    columns = [
        texts(_VARIANT, [one.facts.variant for one in shown], look),
        texts("bots", [names_text(one.facts.entrants) for one in shown], look, least=NAMES_WIDTH),
        texts("standing", [_standing(one) for one in shown], look, spare=1),
        numbers("moves", [str(one.plies) for one in shown], spare=3),
        numbers("for", [ago((now - one.since).total_seconds()) for one in shown], spare=4),
        texts("because", [_why(one) for one in shown], look, least=12, spare=2),
    ]
    return _marked(fitted(columns, width, look), [one.facts.id for one in shown], chosen, width)


def past_lines(
    recent: Sequence[Past], chosen: str, width: int, most: int, look: Look, now: datetime
) -> list[Text]:
    """Return the latest results, around the chosen one."""
    if most < 2 or not recent:
        return []
    shown = _window(recent, [one.facts.id for one in recent], chosen, most - 1)
    columns = [
        numbers("latest", [f"{one.facts.number or 0:,}" for one in shown]),
        texts(_VARIANT, [one.facts.variant for one in shown], look),
        texts("result", [result_text(one.facts, look) for one in shown], look, least=RESULT),
        numbers("ended", [_ended(one, now) for one in shown], spare=2),
        texts("because", [_why(one) for one in shown], look, least=10, spare=3),
    ]
    return _marked(fitted(columns, width, look), [one.facts.id for one in shown], chosen, width)


def _standing(running: Running) -> str:
    facts = running.facts
    text = f"game {running.rotation + 1}/{facts.players}"
    if len(running.scores) != facts.players:
        return text
    points = by_entrant(running.scores, running.rotation)
    return f"{text}  {':'.join(map(str, points))}"


def _why(one: Running | Past) -> str:
    facts = one.facts
    return facts.reason or facts.purpose


def _ended(past: Past, now: datetime) -> str:
    return f"{ago((now - past.finished).total_seconds())} ago" if past.finished else ""


def _window(items: Sequence[T], ids: list[str], chosen: str, most: int) -> list[T]:
    """Return as many as fit, the chosen one among them."""
    most = max(1, most)
    at = ids.index(chosen) if chosen in ids else 0
    first = max(0, min(at - most // 2, len(items) - most))
    return list(items[first : first + most])


def _marked(lines: list[Text], ids: list[str], chosen: str, width: int) -> list[Text]:
    """Mark the chosen line over its whole width."""
    for line, name in zip(lines[1:], ids, strict=True):
        if name == chosen:
            line.pad_right(width - line.cell_len)
            line.stylize(CHOSEN)
    return lines
