"""``retire`` and ``restore``: take a bot off a server's ladder, and bring it back."""

from __future__ import annotations

from typing import Annotated

import typer

from keltis_cli.draw.printable import printable
from keltis_cli.draw.tables.leaderboard import bot_name
from keltis_cli.remote.connect.calls import BotArgument, part
from keltis_cli.remote.connect.command import Answer, remote
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import read
from keltis_server.models.bots import VersionOut


@remote(sure="Take {bot} off the ladder?")
async def retire(
    server: Server,
    bot: BotArgument,
    reason: Annotated[
        str, typer.Option("--reason", help="Reason; only you can see it.")
    ] = "taken back",
) -> Answer:
    """Take your bot off the ladder; its results stay, and `restore` brings it back."""
    plain = await server.post(f"/bots/{part(bot)}/retire", {"reason": reason})
    name = bot_name(printable(bot), read(server, VersionOut, plain).number)
    return Answer(plain, f"{name} is off the ladder; its results stay.")


@remote()
async def restore(server: Server, bot: BotArgument) -> Answer:
    """Bring your bot back: its newest retired version is checked again, and plays."""
    plain = await server.post(f"/bots/{part(bot)}/restore")
    version, name = read(server, VersionOut, plain), printable(bot)
    return Answer(
        plain,
        f"{bot_name(name, version.number)} is {version.state}; to see: keltis-ladder logs {name}",
    )
