"""``bench``: measure how fast this machine plays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Measure how fast this machine plays.", no_args_is_help=True, add_completion=False
)


@app.callback()
def bench() -> None:
    """Measure how fast this machine plays."""


@app.command()
def engine(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A rough measurement only.")] = False,
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="FILE", help="A module to scale goals by.")
    ] = None,
) -> None:
    """Measure the engine: playouts, single decisions and copies in every variant."""
    from keltis_cli.bench_engine import run

    run(as_json, quick, reference)
