"""``show``: everything about one bot, version, match or tournament of a server."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.draw.look import Look, console, look
from keltis_cli.draw.printable import printable
from keltis_cli.errors import BadRequest
from keltis_cli.remote.connect.calls import (
    JsonOption,
    ServerOption,
    TokenOption,
    part,
    print_json,
    print_lines,
    talk,
)
from keltis_cli.remote.connect.completion import complete_things
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import Bot, Match, Version, Versions, read, read_all
from keltis_cli.remote.connect.tournament_shapes import Tournament
from keltis_cli.remote.pages.bot import bot_page, version_page
from keltis_cli.remote.pages.match import match_page
from keltis_cli.remote.pages.tournament import tournament_page

LATEST: Final = 5  # matches on the page of a bot
UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Page = tuple[Any, list[Text]]  # as plain data, and for people


def show(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="A bot, BOT/VERSION, a match (number or id), or a tournament.",
            autocompletion=complete_things,
        ),
    ],
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Show a bot, one of its versions, a match or a tournament."""
    width, drawn = console().width, look(ascii_only)

    async def fetch(found: Server) -> Page:
        if what.isdecimal() or UUID.fullmatch(what):
            return await _match(found, what, width, drawn)
        name, slash, rest = what.partition("/")
        if slash and name == "tournament":
            return await _tournament(found, rest, width, drawn)
        if slash:
            return await _version(found, name, rest, width, drawn)
        return await _bot_or_tournament(found, name, width, drawn)

    plain, lines = talk(server, token, fetch)
    if as_json:
        print_json(plain)
    else:
        print_lines(lines)


async def _match(server: Server, name: str, width: int, drawn: Look) -> Page:
    plain = await server.get(f"/matches/{part(name)}")
    return plain, match_page(read(server, Match, plain), width, drawn)


async def _version(server: Server, bot: str, number: str, width: int, drawn: Look) -> Page:
    if not number.isdecimal():
        raise BadRequest(f"{printable(number)!r} is not the number of a version: write BOT/3")
    plain = await server.get(f"/bots/{part(bot)}/versions/{int(number)}")
    return plain, version_page(printable(bot), read(server, Version, plain), width, drawn)


async def _tournament(server: Server, name: str, width: int, drawn: Look) -> Page:
    plain = await server.get(f"/tournaments/{part(name)}")
    return plain, tournament_page(read(server, Tournament, plain), width, drawn)


async def _bot_or_tournament(server: Server, name: str, width: int, drawn: Look) -> Page:
    plain = await server.find(f"/bots/{part(name)}")
    if plain is None:
        held = await server.find(f"/tournaments/{part(name)}")
        if held is None:
            raise BadRequest(
                f"there is neither a bot nor a tournament {printable(name)!r} on {server.url}:"
                " keltis-ladder bots, and keltis-ladder tournament list, say what there is"
            )
        return held, tournament_page(read(server, Tournament, held), width, drawn)
    versions = await server.get(f"/bots/{part(name)}/versions")
    latest = await server.pages("/matches", LATEST, bot=name, state="finished")
    page = bot_page(
        read(server, Bot, plain),
        read(server, Versions, versions).versions,
        read_all(server, Match, latest),
        f"{server.url}/bots/{part(name)}",
        (width, drawn),
    )
    return {**plain, "versions": versions["versions"], "latest": latest}, page
