"""A stored match for people: its games, who won them, and what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from keltis_cli.draw.look import QUIET, TITLE, styled
from keltis_cli.draw.printable import printable
from keltis_cli.draw.tables.aligned import table


def match_page(number: int, games: Sequence[dict[str, Any]]) -> list[Text]:
    """Return a match, game by game."""
    first = games[0]
    names = first["names"]
    headings = ["game", *(f"seat {seat}" for seat in range(first["players"])), "points", "ended by"]
    rows = [_row(game) for game in games]
    options = ", ".join(f"{name}={value}" for name, value in first["options"].items())
    lines = [
        styled(f"Match {number}: {first['variant']}, {' v '.join(names)}", TITLE),
        Text(f"seed {first['seed']}, {options}", QUIET),
        Text(),
        table(headings, rows, left=[*headings[1:-2], "ended by"]),
    ]
    faults = [_fault(game, fault) for game in games for fault in game["faults"]]
    if faults:
        lines += [Text(), *faults]
    hints = [
        "To read a game:",
        f"  keltis-ladder ladder replay {number} --out games.jsonl",
        "  keltis-ladder replay games.jsonl --game 1",
    ]
    return [*lines, Text(), *(Text(hint, QUIET) for hint in hints)]


def _row(game: dict[str, Any]) -> list[str]:
    seats = [
        f"{name} (1st)" if rank == 1 else name
        for name, rank in zip(game["names"], game["ranks"], strict=True)
    ]
    points = " : ".join(map(str, game["scores"]))
    return [str(game["rotation"] + 1), *seats, points, game["ending"]]


def _fault(game: dict[str, Any], fault: dict[str, Any]) -> Text:
    name = game["names"][fault["seat"]]
    what = f"{fault['kind']}/{fault['code']}: {printable(' '.join(fault['text'].split()))}"
    return Text(f"game {game['rotation'] + 1}, decision {fault['decision']}: {name}, {what}")
