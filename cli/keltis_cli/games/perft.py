"""``perft``: count all ways the next decisions can go, to compare engines."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from keltis_cli import arguments
from keltis_cli.draw.look import TITLE, console
from keltis_cli.draw.tables.aligned import table
from keltis_cli.exit_codes import ExitCode
from keltis_cli.games.perft_file import read_positions
from keltis_engine.play import perft as counting


def perft(
    variant: arguments.VariantOption = "keltis",
    players: arguments.PlayersOption = 2,
    seed: arguments.SeedOption = 1,
    depth: Annotated[
        int, typer.Option("--depth", "-d", min=1, max=20, help="Decisions to look ahead.")
    ] = 3,
    divide: Annotated[
        bool, typer.Option("--divide", help="Also count below each first decision.")
    ] = False,
    option: arguments.RuleOptions = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="FILE", help="Check the counts of this file (JSON lines) instead."
        ),
    ] = None,
) -> None:
    """Count all sequences of decisions from a deal, depth by depth.

    With --file the positions of a file are counted, and the exit code is 1 if a count differs.
    """
    if file is not None:
        if not _check(file, depth):
            raise typer.Exit(ExitCode.FAILED)
        return
    state = arguments.ruleset(variant, option).deal(players, seed)
    out = console()
    out.print(f"{variant}, {players} players, seed {seed}", style=TITLE)
    rows = []
    for level in range(1, depth + 1):
        begin = time.perf_counter()
        count = counting.perft(state, level)
        rows.append([str(level), f"{count:,}", f"{time.perf_counter() - begin:.3f}"])
    out.print(table(["depth", "sequences", "seconds"], rows, left=[]))
    if divide:
        parts = [[text, f"{count:,}"] for text, count in counting.divide(state, depth).items()]
        out.print()
        out.print(table(["first decision", "sequences"], parts, left=["first decision"]))


def _check(file: Path, depth: int) -> bool:
    """Count the positions of a file, and print which counts differ."""
    positions = read_positions(file)
    differences = [text for position in positions if (text := position.differing(depth))]
    for text in differences:
        print(text)
    equal = len(positions) - len(differences)
    print(f"{equal:,} of {len(positions):,} positions have the counts of {file}, to depth {depth}.")
    return not differences
