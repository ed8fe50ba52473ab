"""``matches`` and ``bots``: lists of what is on a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.draw.estimates import percent
from keltis_cli.draw.look import QUIET, TITLE, Look
from keltis_cli.draw.strokes import ago
from keltis_cli.draw.tables.columns import fitted, numbers, texts
from keltis_cli.remote.connect.calls import DEFAULT_ITEMS, VariantOption
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.completion import complete_bots
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import read, read_all
from keltis_cli.remote.pages.match import entrants_text
from keltis_engine import find_variant
from keltis_ladder.store.schema.moments import now
from keltis_server.models.accounts import AccountOut
from keltis_server.models.bots import BotOut
from keltis_server.models.matches import MatchOut


@remote(draws=True)
async def matches(
    server: Server,
    bot: Annotated[
        str | None,
        typer.Option(
            "--bot", metavar="BOT", help="Only matches of this bot.", autocompletion=complete_bots
        ),
    ] = None,
    variant: VariantOption = None,
    running: Annotated[
        bool, typer.Option("--running", help="Running matches instead of finished ones.")
    ] = False,
    limit: arguments.LimitOption = DEFAULT_ITEMS,
) -> Answer:
    """List matches, the newest first."""
    kind = find_variant(variant).id if variant else None
    state = "playing" if running else "finished"
    plain = await server.pages("/matches", limit, bot=bot, variant=kind, state=state)
    listed = read_all(server, MatchOut, plain)
    return Answer(plain, lambda width, look: match_lines(listed, width, look, running))


def match_lines(listed: Sequence[MatchOut], width: int, look: Look, running: bool) -> list[Text]:
    """Return a line for each match."""
    if not listed:
        return [Text("No match is being played." if running else "No matches yet.", QUIET)]
    moment = now()
    since = [(moment - (each.finished or each.created)).total_seconds() for each in listed]
    kinds = [each.purpose if each.rated else f"{each.purpose} (unrated)" for each in listed]
    who = "who" if running else "bots, the winner first"
    columns = [
        numbers("match", [str(each.number or each.id) for each in listed]),
        texts("variant", [each.variant for each in listed], look, least=7, spare=1),
        texts(who, [entrants_text(each) for each in listed], look, least=24),
        texts("kind", kinds, look, least=8, spare=2),
        numbers("since" if running else "played", [f"{ago(s)} ago" for s in since], spare=3),
    ]
    return fitted(columns, width, look)


@remote(draws=True)
async def bots(
    server: Server,
    author: Annotated[
        str | None, typer.Option("--author", metavar="NAME", help="Only bots of this author.")
    ] = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only your own bots.")] = False,
    limit: arguments.LimitOption = 200,
) -> Answer:
    """List the bots, by name."""
    whose = author
    if mine:
        whose = read(server, AccountOut, await server.get("/account")).name
    plain = await server.pages("/bots", limit, author=whose)
    listed = read_all(server, BotOut, plain)
    return Answer(plain, lambda width, look: bot_lines(listed, width, look))


def bot_lines(listed: Sequence[BotOut], width: int, look: Look) -> list[Text]:
    """Return a line for each bot."""
    if not listed:
        return [Text("No bots yet: keltis-ladder submit DIRECTORY", QUIET)]
    overall = [bot.overall for bot in listed]
    states = [Text(bot.state, TITLE if bot.state == "active" else QUIET) for bot in listed]
    columns = [
        texts(
            "bot",
            [bot.name for bot in listed],
            look,
            12,
            end=[f" v{bot.version}" for bot in listed],
        ),
        texts("author", [bot.author for bot in listed], look, least=6, spare=1),
        texts("state", states, look),
        numbers("rank", ["-" if r is None or r.rank is None else str(r.rank) for r in overall]),
        numbers("rating", ["-" if r is None else f"{r.mu:.1f}" for r in overall]),
        numbers("matches", ["-" if r is None else f"{r.matches:,}" for r in overall], spare=2),
        numbers(
            "won",
            ["-" if r is None or not r.games else percent(r.wins / r.games) for r in overall],
            spare=4,
        ),
        texts("description", [bot.description for bot in listed], look, least=12, spare=3),
    ]
    return fitted(columns, width, look)
