"""``leaderboard``: the leaderboard of a server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import quote

import typer
from rich.text import Text

from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.strokes import counted, fitting
from keltis_cli.draw.tables.leaderboard import bot_name, leaderboard_lines
from keltis_cli.draw.tables.versus import versus_lines
from keltis_cli.remote.connect.calls import VariantOption
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.completion import complete_bots
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import read
from keltis_engine import find_variant
from keltis_ladder.store.ratings.lines import Joint, Line
from keltis_server.models.leaderboards import AllVersusOut, JointOut, LeaderboardOut, LineOut


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
    versus: Annotated[
        str | None,
        typer.Option(
            "--versus",
            metavar="BOT",
            help="Compare this bot with each other one.",
            autocompletion=complete_bots,
        ),
    ] = None,
) -> Answer:
    """Show the leaderboard of a server.

    The rank is the range of places that a bot may have. "Expected wins" is the share of games that
    it should win against all others, with the interval that holds the truth 95 times in 100. "Rests
    on" says how much of what is known comes from matches of this kind, and from others.
    """
    kind = find_variant(variant).id if variant else None
    if versus is not None:
        return await _versus(server, versus, kind, players, top)
    plain = await server.get("/leaderboard", everybody=everybody, variant=kind, players=players)
    board = read(server, LeaderboardOut, plain)
    lines = [stored_line(line) for line in board.lines[:top]]

    def page(width: int, look: Look) -> list[Text]:
        table = leaderboard_lines(
            lines, width, look, datetime.now(UTC), in_full=True, ordered=board.official
        )
        return [_title(board), Text(), *table]

    return Answer({**plain, "lines": plain["lines"][:top]}, page)


def stored_line(line: LineOut) -> Line:
    """Return a line as the ladder itself has it, which is drawn in one way everywhere."""
    same = line.model_dump(exclude={"version", "low", "high", "seats", "joint"})
    joint = None if line.joint is None else stored_joint(line.joint)
    return Line(version=0, number=line.version, seats=tuple(line.seats), joint=joint, **same)


def stored_joint(joint: JointOut) -> Joint:
    """Return a joint rating as the ladder itself has it."""
    return Joint(**joint.model_dump(exclude={"low", "high"}))


async def _versus(
    server: Server, bot: str, variant: str | None, players: int | None, top: int | None
) -> Answer:
    plain = await server.get(
        f"/bots/{quote(bot, safe='')}/versus", variant=variant, players=players
    )
    found = read(server, AllVersusOut, plain)
    title = f"{bot_name(found.bot, found.version)} against others: "
    title += _kind(found.variant, found.players)

    def page(width: int, look: Look) -> list[Text]:
        head = [fitting(styled(title, TITLE), width, look), Text()]
        return head + versus_lines(found.others[:top], width, look)

    return Answer({**plain, "others": plain["others"][:top]}, page)


def _title(board: LeaderboardOut) -> Text:
    stored = counted(board.matches, "match", "matches")
    kind = _kind(board.variant, board.players)
    title = styled(f"Leaderboard: {kind}", TITLE).append(f"  ({stored} played", QUIET)
    if board.as_of is None and board.lines:
        return title.append("; no joint ratings yet)", QUIET)
    if board.as_of is not None and board.as_of < board.matches:
        title.append(f", joint ratings up to match {board.as_of:,}", QUIET)
    return title.append(")", QUIET)


def _kind(variant: str, players: int) -> str:
    kind = "all variants" if variant == "all" else variant
    return f"{kind}, {players} players" if players else kind
