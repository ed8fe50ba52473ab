"""``leaderboard``: who leads on a server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.draw.leaderboard_table import leaderboard_lines
from keltis_cli.draw.look import QUIET, TITLE, console, look, styled
from keltis_cli.draw.strokes import counted
from keltis_cli.remote.connect.calls import (
    JsonOption,
    ServerOption,
    TokenOption,
    VariantOption,
    print_json,
    print_lines,
    talk,
)
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import Leaderboard, Line, read
from keltis_engine import find_variant
from keltis_ladder.store.ratings.lines import Line as StoredLine


def leaderboard(
    variant: VariantOption = None,
    players: Annotated[
        int | None,
        typer.Option("--players", "-p", min=2, max=4, help="Only matches with so many players."),
    ] = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Also versions that no longer play.")
    ] = False,
    top: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="So many lines.")] = None,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Show who leads."""
    wish: dict[str, Any] = {"everybody": everybody}
    if variant is not None:
        wish["variant"] = find_variant(variant).id
    if players is not None:
        wish["players"] = players

    async def fetch(found: Server) -> tuple[Any, Leaderboard]:
        plain = await found.get("/leaderboard", **wish)
        return plain, read(found, Leaderboard, plain)

    plain, board = talk(server, token, fetch)
    if as_json:
        print_json({**plain, "lines": plain["lines"][:top]})
        return
    lines = [stored_line(line) for line in board.lines[:top]]
    page = leaderboard_lines(
        lines, console().width, look(ascii_only), datetime.now(UTC), in_full=True
    )
    print_lines([_title(board), Text(), *page])


def stored_line(line: Line) -> StoredLine:
    """Return a line as the ladder itself has it, which is drawn in one way everywhere."""
    return StoredLine(
        version=0,
        bot=line.bot,
        number=line.version,
        author=line.author,
        state=line.state,
        mu=line.mu,
        sigma=line.sigma,
        matches=line.matches,
        firsts=line.firsts,
        shared=line.shared,
        games=line.games,
        wins=line.wins,
        faults=line.faults,
        seats=tuple(line.seats),
        last_match=line.last_match,
        last_played=line.last_played,
        provisional=line.provisional,
        rank=line.rank,
        tied=line.tied,
    )


def _title(board: Leaderboard) -> Text:
    kind = "all variants" if board.variant == "all" else board.variant
    if board.players:
        kind += f", {board.players} players"
    stored = counted(board.matches, "match", "matches")
    return styled(f"Leaderboard: {kind}", TITLE).append(f"  ({stored} played)", QUIET)
