"""``leaderboard``: the leaderboard of a server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.text import Text

from keltis_cli.draw.leaderboard_table import leaderboard_lines
from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.strokes import counted
from keltis_cli.remote.connect.calls import VariantOption
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import read
from keltis_engine import find_variant
from keltis_ladder.store.ratings.lines import Line
from keltis_server.models.leaderboards import LeaderboardOut, LineOut


@remote(draws=True)
async def leaderboard(
    server: Server,
    variant: VariantOption = None,
    players: Annotated[
        int | None,
        typer.Option(
            "--players", "-p", min=2, max=4, help="Only matches with this number of players."
        ),
    ] = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Include versions that no longer play.")
    ] = False,
    top: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Maximum number of lines.")
    ] = None,
) -> Answer:
    """Show the leaderboard of a server."""
    kind = find_variant(variant).id if variant else None
    plain = await server.get("/leaderboard", everybody=everybody, variant=kind, players=players)
    board = read(server, LeaderboardOut, plain)
    lines = [stored_line(line) for line in board.lines[:top]]

    def page(width: int, look: Look) -> list[Text]:
        table = leaderboard_lines(lines, width, look, datetime.now(UTC), in_full=True)
        return [_title(board), Text(), *table]

    return Answer({**plain, "lines": plain["lines"][:top]}, page)


def stored_line(line: LineOut) -> Line:
    """Return a line as the ladder itself has it, which is drawn in one way everywhere."""
    same = line.model_dump(exclude={"version", "low", "high", "seats"})
    return Line(version=0, number=line.version, seats=tuple(line.seats), **same)


def _title(board: LeaderboardOut) -> Text:
    kind = "all variants" if board.variant == "all" else board.variant
    if board.players:
        kind += f", {board.players} players"
    stored = counted(board.matches, "match", "matches")
    return styled(f"Leaderboard: {kind}", TITLE).append(f"  ({stored} played)", QUIET)
