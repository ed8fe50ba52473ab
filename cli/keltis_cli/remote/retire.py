"""``retire`` and ``restore``: take a bot off a server's ladder, and bring it back."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from keltis_cli.draw.leaderboard_table import bot_name
from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.calls import (
    BotArgument,
    JsonOption,
    ServerOption,
    TokenOption,
    YesOption,
    confirm,
    part,
    print_json,
    talk,
)
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.shapes import Version, read


def retire(
    bot: BotArgument,
    reason: Annotated[str, typer.Option("--reason", help="Why, for yourself.")] = "taken back",
    yes: YesOption = False,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Take your bot off the ladder; its results stay, and `restore` brings it back."""
    confirm(f"Take {printable(bot)} off the ladder?", yes)
    plain, version = _changed(server, token, bot, "retire", {"reason": reason})
    if as_json:
        print_json(plain)
    else:
        print(f"{bot_name(printable(bot), version.number)} is off the ladder; its results stay.")


def restore(
    bot: BotArgument,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Bring your bot back: its newest retired version is checked again, and plays."""
    plain, version = _changed(server, token, bot, "restore", None)
    if as_json:
        print_json(plain)
        return
    name = printable(bot)
    print(f"{bot_name(name, version.number)} is {version.state}; to see: keltis-ladder logs {name}")


def _changed(
    server: str, token: str, bot: str, what: str, body: dict[str, Any] | None
) -> tuple[Any, Version]:
    async def change(found: Server) -> tuple[Any, Version]:
        plain = await found.post(f"/bots/{part(bot)}/{what}", body)
        return plain, read(found, Version, plain)

    return talk(server, token, change)
