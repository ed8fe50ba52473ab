"""``perft --file``: count the positions of a file, and compare with the counts that it has."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from keltis_cli.errors import BadRequest
from keltis_cli.files import read_lines
from keltis_engine import EngineError, State, find_variant
from keltis_engine.play import perft as counting

FIELDS: Final = {"variant": str, "players": int, "seed": int, "moves": list, "counts": list}


@dataclass(frozen=True)
class Position:
    """A line of a file: a name for people, the position, and its counts by depth."""

    name: str
    state: State
    counts: list[int]

    def differing(self, depth: int) -> str | None:
        """Count as deep as this; return the first difference in words."""
        for level, expected in enumerate(self.counts[:depth], start=1):
            found = counting.perft(self.state, level)
            if found != expected:
                return f"{self.name}: depth {level} has {found:,} sequences, not {expected:,}"
        return None


def read_positions(path: Path) -> list[Position]:
    """Return the positions of a file."""
    found = [
        _position(f"{path}, line {number}", line)
        for number, line in enumerate(read_lines(path), start=1)
        if line.strip()
    ]
    if not found:
        raise BadRequest(f"{path} has no positions: one JSON object on each line is expected")
    return found


def _position(where: str, line: str) -> Position:
    try:
        whole: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise BadRequest(f"{where} is not JSON: one object on each line is expected") from None
    if not isinstance(whole, dict):
        raise BadRequest(f"{where} is not a JSON object")
    for field, kind in FIELDS.items():
        if type(whole.get(field)) is not kind:
            raise BadRequest(f"{where}: {field} is missing or is not of the type {kind.__name__}")
    if any(type(count) is not int for count in whole["counts"]) or not whole["counts"]:
        raise BadRequest(f"{where}: counts is a list of whole numbers, one for each depth")
    if any(type(move) is not str for move in whole["moves"]):
        raise BadRequest(f"{where}: moves is a list of decisions in notation")
    try:
        state = _played(whole)
    except EngineError as error:
        raise BadRequest(f"{where}: {error}") from error
    deal = f"{whole['variant']}, {whole['players']} players, seed {whole['seed']}"
    return Position(f"{deal}, after {len(whole['moves'])} decisions", state, whole["counts"])


def _played(whole: dict[str, Any]) -> State:
    rules = find_variant(whole["variant"])
    state = rules.deal(whole["players"], whole["seed"])
    for move in whole["moves"]:
        state.apply(rules.parse(move))
    return state
