"""``show``: everything about one bot, version, match or tournament of a server."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer

from keltis_cli.draw.printable import printable
from keltis_cli.errors import BadRequest
from keltis_cli.remote.connect.calls import part
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.completion import complete_things
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import read, read_all
from keltis_cli.remote.pages.bot import bot_page, version_page
from keltis_cli.remote.pages.match import match_page
from keltis_cli.remote.tournaments import tournament_answer
from keltis_server.models.bots import BotOut, VersionOut
from keltis_server.models.matches import MatchOut

LATEST_MATCHES: Final = 5  # matches on the page of a bot
VERSIONS: Final = 1000  # of it that are asked for
UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@remote(draws=True)
async def show(
    server: Server,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="A bot, BOT/VERSION, a match (number or id), or a tournament.",
            autocompletion=complete_things,
        ),
    ],
) -> Answer:
    """Show a bot, one of its versions, a match or a tournament."""
    if what.isdecimal() or UUID.fullmatch(what):
        plain = await server.get(f"/matches/{part(what)}")
        match = read(server, MatchOut, plain)
        return Answer(plain, lambda width, look: match_page(match, width, look))
    name, slash, rest = what.partition("/")
    if slash and name == "tournament":
        return tournament_answer(server, await server.get(f"/tournaments/{part(rest)}"))
    if slash:
        return await _version(server, name, rest)
    return await _bot_or_tournament(server, name)


async def _version(server: Server, bot: str, number: str) -> Answer:
    if not number.isdecimal():
        raise BadRequest(f"{printable(number)!r} is not the number of a version: write BOT/3")
    plain = await server.get(f"/bots/{part(bot)}/versions/{int(number)}")
    version = read(server, VersionOut, plain)
    return Answer(plain, lambda width, look: version_page(printable(bot), version, width, look))


async def _bot_or_tournament(server: Server, name: str) -> Answer:
    plain = await server.find(f"/bots/{part(name)}")
    if plain is None:
        held = await server.find(f"/tournaments/{part(name)}")
        if held is None:
            raise BadRequest(
                f"there is neither a bot nor a tournament {printable(name)!r} on {server.url}:"
                " keltis-ladder bots, and keltis-ladder tournament list, say what there is"
            )
        return tournament_answer(server, held)
    versions = await server.pages(f"/bots/{part(name)}/versions", VERSIONS)
    latest = await server.pages("/matches", LATEST_MATCHES, bot=name, state="finished")
    bot = read(server, BotOut, plain)
    its_versions = read_all(server, VersionOut, versions)
    matches = read_all(server, MatchOut, latest)
    url = f"{server.url}/bots/{part(name)}"
    return Answer(
        {**plain, "versions": versions, "latest": latest},
        lambda width, look: bot_page(bot, its_versions, matches, url, (width, look)),
    )
