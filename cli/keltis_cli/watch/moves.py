"""The moves of a game in words and in notation, as a list that is always where the onlooker is."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from keltis_cli.draw.endings import SENTENCES
from keltis_cli.draw.look import FIGURE_STYLE, QUIET, SEAT_MARKS, STYLES, TITLE, Look, styled
from keltis_cli.draw.narrator import Step, clauses
from keltis_cli.draw.strokes import cut
from keltis_cli.watch.model import Dropout, Game

CARDS: Final = [(re.compile(rf"\b{letter}(?:10|\d|E)\b"), STYLES[letter]) for letter in STYLES]
ALARM: Final = "red"
LATER: Final = 4  # a part of the list so large may show what comes after


def words_of(game: Game, ply: int) -> str:
    """Return what a decision did; nothing if its notation says it all."""
    frame = game.frames[ply]
    return "; ".join(clauses(Step(game.views[ply], frame.notation, game.views[ply + 1])))


def painted(text: str, style: str = "") -> Text:
    """Return a text with its cards in their colours."""
    found = Text(text, style)
    for pattern, colour in CARDS:
        found.highlight_regex(pattern, colour)
    return found


def standing(game: Game, ply: int, names: Sequence[str]) -> str:
    """Return the points of everybody, the most first."""
    scores = game.scores_at(ply)
    order = sorted(range(len(scores)), key=lambda seat: -scores[seat])
    return ", ".join(f"{names[seat]} {scores[seat]}" for seat in order)


def ending(game: Game, names: Sequence[str]) -> str:
    """Return how a game has ended."""
    view = game.views[-1]
    why = SENTENCES.get(view.get("ending") or "", "")
    if view["phase"] != "over":
        why = "a fault decided it"
    return f"Game over{f', {why}' if why else ''}: {standing(game, game.plies, names)}"


def dropped(dropout: Dropout, names: Sequence[str]) -> str:
    """Return who dropped out and why."""
    code = f" ({dropout.code})" if dropout.code else ""
    return f"{names[dropout.seat]} drops out: {dropout.kind}{code}"


def short_lines(
    game: Game, ply: int, names: Sequence[str], width: int, most: int, look: Look
) -> list[Text]:
    """Return the latest decisions, each in a line, the newest last; faults and the end as well."""
    lines: list[Text] = []
    if ply == game.plies and game.ended and not game.missing:
        lines.append(Text(cut(ending(game, names), width, look), TITLE))
    place = ply
    while len(lines) < most and place >= 0:
        lines += [
            Text(cut(dropped(dropout, names), width, look), ALARM)
            for dropout in reversed(game.dropouts)
            if dropout.ply == place
        ]
        if place:
            lines.append(_short(game, place - 1, width, look, newest=place == ply))
        place -= 1
    if not lines or place < 0:
        lines.append(Text("The cards are dealt.", QUIET))
    return lines[:most][::-1]


def _short(game: Game, ply: int, width: int, look: Look, newest: bool) -> Text:
    frame = game.frames[ply]
    line = styled(f"{ply + 1:>4} ", QUIET).append(SEAT_MARKS[frame.seat], FIGURE_STYLE).append(" ")
    line.append_text(painted(frame.notation, TITLE if newest else ""))
    words = words_of(game, ply)
    if words:
        line.pad_right(max(1, 20 - line.cell_len))
        line.append_text(painted(cut(words, max(0, width - line.cell_len), look)))
    line.truncate(width)
    return line


def long_lines(
    game: Game, ply: int, names: Sequence[str], width: int, height: int, look: Look
) -> list[Text]:
    """Return the list of decisions around the newest one shown; those after it are faint."""
    later: list[Text] = []
    turn = _turn(game, ply - 1) if ply else None
    for place in range(ply, game.plies):
        if len(later) >= height // LATER:
            break
        if _turn(game, place) != turn:
            turn = _turn(game, place)
            later.append(_heading(game, place, names, width, look))
        later += _entry(game, place, width, look, newest=False)
    for line in later:
        line.stylize(QUIET)
    later = later[: height // LATER]
    if ply == game.plies and game.ended and not game.missing:
        later = [Text(line, TITLE) for line in textwrap.wrap(ending(game, names), width)]
    room = height - len(later)
    return [*_until(game, ply, names, width, room, look), *later]


def _until(
    game: Game, ply: int, names: Sequence[str], width: int, room: int, look: Look
) -> list[Text]:
    """Return what fits of the decisions before a ply; if all do, they begin with the deal."""
    lines: list[Text] = []
    place = ply
    while place >= 0 and len(lines) < room:
        block = [
            Text(line, ALARM)
            for dropout in game.dropouts
            if dropout.ply == place
            for line in textwrap.wrap(dropped(dropout, names), width)
        ]
        if place:
            entry = _entry(game, place - 1, width, look, newest=place == ply)
            if place == 1 or _turn(game, place - 2) != _turn(game, place - 1):
                entry.insert(0, _heading(game, place - 1, names, width, look))
            block = [*entry, *block]
        else:
            block = [Text("The cards are dealt.", QUIET), *block]
        lines = [*block, *lines]
        place -= 1
    return lines[-room:] if room > 0 else []


def _turn(game: Game, ply: int) -> tuple[int, int]:
    view = game.views[ply]
    return view["turn"], view["seat"]


def _heading(game: Game, ply: int, names: Sequence[str], width: int, look: Look) -> Text:
    turn, seat = _turn(game, ply)
    line = styled(f"{turn:>3} ", QUIET).append(SEAT_MARKS[seat], FIGURE_STYLE)
    return line.append(f" {cut(names[seat], width - 6, look)}", TITLE)


def _entry(game: Game, ply: int, width: int, look: Look, newest: bool) -> list[Text]:
    """Return a decision: its notation, and the words in further lines if they need them."""
    frame = game.frames[ply]
    mark = look.mark("turn") if newest else " "
    first = Text(f"  {mark} ").append_text(painted(frame.notation, TITLE if newest else ""))
    words = words_of(game, ply)
    if words and first.cell_len + 2 + len(words) <= width:
        return [first.append("  ").append_text(painted(words))]
    lines = textwrap.wrap(words, width - 6)
    return [first, *(Text("      ").append_text(painted(line)) for line in lines)]
