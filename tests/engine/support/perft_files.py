"""Perft counts as data, in ``tests/engine/perft``; its README says how others can run them.

``python -m tests.engine.support.perft_files`` counts every position again, as deep as its line has
it, and writes the files; review them as a diff. It takes minutes unless the engine is compiled.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Final

from keltis_engine import VARIANTS, State, find_variant
from keltis_engine.play.perft import perft
from tests.places import ROOT

FOLDER: Final = ROOT / "tests/engine/perft"


@dataclass(frozen=True)
class Counted:
    """A position and how many sequences of 1, 2, 3, ... decisions there are from it."""

    variant: str
    players: int
    seed: int
    moves: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.variant} {self.players} {self.seed} {len(self.moves)}"

    def state(self) -> State:
        rules = find_variant(self.variant)
        state = rules.deal(self.players, self.seed)
        for move in self.moves:
            state.apply(rules.parse(move))
        return state


def read() -> list[Counted]:
    """Return the positions of all files."""
    lines = [
        json.loads(line)
        for variant in VARIANTS
        for line in (FOLDER / f"{variant}.jsonl").read_text().splitlines()
    ]
    return [
        Counted(
            line["variant"],
            line["players"],
            line["seed"],
            tuple(line["moves"]),
            tuple(line["counts"]),
        )
        for line in lines
    ]


def line_of(position: Counted) -> str:
    """Return the line of a position, counted again as deep as it was."""
    state = position.state()
    depths = range(1, len(position.counts) + 1)
    whole = asdict(position) | {"counts": [perft(state, depth) for depth in depths]}
    return json.dumps(whole)


def main() -> None:
    positions = read()
    for variant in VARIANTS:
        lines = [line_of(position) for position in positions if position.variant == variant]
        (FOLDER / f"{variant}.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
