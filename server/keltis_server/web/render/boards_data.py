"""What a browser needs of the engine to draw boards: fields, ways, symbols and scoring tables.

``python -m keltis_server.web.render.boards_data`` writes it as a module for browsers. A test
compares the file with the engine, so that the two cannot come apart.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from keltis_engine.games import kartenspiel, weg_der_steine
from keltis_engine.table.board import GOAL_FIGURES, Board
from keltis_engine.table.boards import (
    NETWORK,
    NETWORK_TILE_FIELDS,
    PATH_BOARD,
    PATH_STONES,
    PATH_TILES,
    STACK_NAMES,
)

FILE: Final = Path(__file__).parents[1] / "static" / "boards" / "data.js"

# Where the fields of each row of the network stand, in columns, so that every way leads to a
# neighbour and no two ways cross.
COLUMNS: Final = 5
FIVE: Final = (0.0, 1.0, 2.0, 3.0, 4.0)
PLACES: Final = {
    1: (0.0, 1.0, 2.5, 4.0),
    2: (0.0, 1.0, 2.5, 4.0),
    3: FIVE,
    4: (0.5, 1.75, 3.25),
    5: (0.0, 1.1, 2.5, 3.65),
    6: FIVE,
    7: FIVE,
    8: (0.5, 1.5, 2.5, 3.5),
    9: FIVE,
    10: FIVE,
}

LINE: Final = 120
HEAD: Final = """\
// @ts-check
// Written by `python -m keltis_server.web.render.boards_data` from the engine: do not edit.

/** @type {Drawing.Data} */
"""

Plain = dict[str, Any]


def boards_data() -> Plain:
    """Return everything about the boards that does not change during a game."""
    return {
        "paths": {
            "stones": PATH_STONES,
            "values": [_value(PATH_BOARD, f"R{stone}") for stone in range(1, PATH_STONES + 1)],
            "goal": sorted({int(stone[1:]) for stone in _goal(PATH_BOARD)}),
            "tiles": PATH_TILES,
        },
        "network": {
            "columns": COLUMNS,
            "fields": [_field(name) for name in NETWORK.names[1:]],
            "edges": [edge.split("-") for edge in NETWORK.edge_names],
        },
        "symbols": weg_der_steine.SYMBOLS,
        "goalFigures": GOAL_FIGURES,
        "rowScores": _numbers(kartenspiel.ROW_SCORES),
    }


def module_text() -> str:
    """Return the data as a module for browsers."""
    return f"{HEAD}export const DATA = {_written(boards_data(), '')};\n"


def _written(value: Any, indent: str) -> str:
    """Return JSON for readers: on one line what fits there."""
    short = json.dumps(value)
    is_flat = isinstance(value, list) and not isinstance(value[0], dict | list)
    if is_flat or len(short) + len(indent) < LINE:
        return short
    inner = indent + "  "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(k)}: {_written(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    lines = [inner + _written(v, inner) for v in value]
    return "[\n" + ",\n".join(lines) + f"\n{indent}]"


def _field(name: str) -> Plain:
    row, column = int(name[:-1]), "abcde".index(name[-1])
    index = NETWORK.names.index(name)
    return {
        "name": name,
        "row": row,
        "x": PLACES[row][column],
        "colour": NETWORK.colours[index],
        "value": _value(NETWORK, name),
        "goal": name in _goal(NETWORK),
        "tile": index in {int(field) for field in NETWORK_TILE_FIELDS},
        "stack": name in STACK_NAMES,
    }


def _value(board: Board, name: str) -> int:
    return int(board.values[board.names.index(name)])


def _goal(board: Board) -> set[str]:
    """Return the fields of the goal area: those behind the edges that lead into it."""
    edges = [edge.split("-") for edge in board.edge_names]
    goal = {target for e, (_, target) in enumerate(edges) if int(board.into_goal) >> e & 1}
    for source, target in edges:  # in the order of the rows
        if source in goal:
            goal.add(target)
    return goal


def _numbers(table: Any) -> list[int]:
    return [int(number) for number in table]


if __name__ == "__main__":
    FILE.write_text(module_text(), encoding="utf-8")
