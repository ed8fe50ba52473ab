"""``bench``: measure how fast this machine plays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keltis_cli import arguments

app = arguments.group("Measure how fast this machine plays.")


@app.command()
def engine(
    as_json: arguments.JsonOption = False,
    quick: Annotated[bool, typer.Option("--quick", help="A rough measurement only.")] = False,
    reference: Annotated[
        Path | None,
        typer.Option("--reference", metavar="FILE", help="A module that scales the goals."),
    ] = None,
) -> None:
    """Measure the engine: playouts, single decisions and copies in every variant."""
    from keltis_cli.bench.engine import run

    run(as_json, quick, reference)


@app.command()
def referee(
    as_json: arguments.JsonOption = False,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, help="Rounds, each with ours and asyncio's.")
    ] = 3,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="Seconds per round.")] = 5.0,
    games: Annotated[
        int, typer.Option("--games", min=0, help="Games of a long run that looks for leaks.")
    ] = 0,
    sandbox: Annotated[bool, typer.Option(help="Run the bots in the sandbox.")] = True,
) -> None:
    """Measure the referees: decisions per second, the cost of one, and whether they last."""
    import json

    from keltis_cli.bench import referee_report
    from keltis_cli.bench.referee import measure
    from keltis_cli.draw.look import console

    report = measure(rounds, seconds, games, sandbox)
    if as_json:
        print(json.dumps(report.as_json(), indent=2))
    else:
        referee_report.show(report, console())
