"""The two boards: the five paths of ``keltis`` and the network of ``neue-wege``."""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import u8

from keltis_engine.cards.kinds import COLOURS, LETTERS
from keltis_engine.packing import texts
from keltis_engine.table.board import Board

# ``keltis``: five paths of nine stones.
PATH_STONES: Final = 9
PATH_BOARD: Final = Board(
    names=["start"] + [f"{c}{stone}" for c in LETTERS for stone in range(1, PATH_STONES + 1)],
    colours=[""] + [c for c in LETTERS for _ in range(PATH_STONES)],
    values=[0] + [-4, -3, -2, 1, 2, 3, 6, 7, 10] * COLOURS,
    edges=[
        ("start" if stone == 1 else f"{c}{stone - 1}", f"{c}{stone}")
        for c in LETTERS
        for stone in range(1, PATH_STONES + 1)
    ],
    goal=[f"{c}{stone}" for c in LETTERS for stone in (7, 8, 9)],
    one_per_path=True,
)
PATH_TILES: Final = [
    "R3", "R5", "R6", "R7", "R9",
    "Y2", "Y4", "Y6", "Y7", "Y9",
    "V2", "V3", "V5", "V7", "V9",
    "G2", "G4", "G5", "G7", "G9",
    "B3", "B4", "B6", "B7", "B9",
]  # fmt: skip
PATH_TILE_FIELDS: Final = vec[u8]([PATH_BOARD.names.index(stone) for stone in PATH_TILES])

# ``neue-wege``, row by row: each field, t a tile spot, S a stack of wish stones.
NETWORK_ROWS: Final = [
    (-4, "1a R, 1b Y, 1c *, 1d B"),
    (-2, "2a R S, 2b Y t, 2c * t, 2d B S"),
    (0, "3a R t, 3b Y S, 3c V t, 3d G t, 3e B t"),
    (5, "4a *, 4b V, 4c G"),
    (3, "5a * t, 5b B t, 5c V t, 5d G t"),
    (6, "6a G S, 6b B t, 6c Y t, 6d R t, 6e V S"),
    (8, "7a G, 7b B, 7c Y, 7d R, 7e V"),
    (7, "8a G t, 8b Y t, 8c R t, 8d V t"),
    (6, "9a V t, 9b R t, 9c G t, 9d B t, 9e Y t"),
    (10, "10a V, 10b R, 10c G, 10d B, 10e Y"),
]
NETWORK_EDGES: Final = """
    start-1a 1b 1c 1d; 1a-2a; 1b-2b; 1c-2c; 1d-2d; 2a-3a; 2b-3b; 2c-3c 3d; 2d-3e; 3a-4a;
    3b-4a 4b; 3c-4b; 3d-4c; 3e-4c; 4a-5a 5b; 4b-5b 5c; 4c-5c 5d; 5a-6a; 5b-6a 6b; 5c-6c 6d;
    5d-6d 6e; 6a-7a; 6b-7b 7c; 6c-7c; 6d-7d; 6e-7e; 7a-8a; 7b-8a 8b; 7c-8b 8c; 7d-8c 8d;
    7e-8d; 8a-9a 9b; 8b-9b 9c; 8c-9c 9d; 8d-9d 9e; 9a-10a; 9b-10b; 9c-10c; 9d-10d; 9e-10e
"""
NETWORK_FIELDS: Final = [entry.split() for _, row in NETWORK_ROWS for entry in row.split(", ")]
NETWORK: Final = Board(
    names=["start"] + [field[0] for field in NETWORK_FIELDS],
    colours=[""] + [field[1] for field in NETWORK_FIELDS],
    values=[0] + [value for value, row in NETWORK_ROWS for _ in row.split(", ")],
    edges=[
        (edge.split("-")[0].strip(), target)
        for edge in NETWORK_EDGES.split(";")
        for target in edge.split("-")[1].split()
    ],
    goal=[field[0] for field in NETWORK_FIELDS if field[0][:-1] in ("8", "9", "10")],
    one_per_path=False,
)
NETWORK_TILE_FIELDS: Final = vec[u8](
    [k + 1 for k, field in enumerate(NETWORK_FIELDS) if field[2:] == ["t"]]
)
STACK_NAMES: Final = ["2a", "3b", "6e", "6a", "2d"]  # by colour
PACKED_STACKS: Final = texts(STACK_NAMES)
STACK_SIZE: Final = 5
NO_STACK: Final = COLOURS
STACK_ON: Final = vec[u8](
    [STACK_NAMES.index(name) if name in STACK_NAMES else 5 for name in NETWORK.names]
)
