"""``recheck``: have a version checked again that the server could not check."""

from __future__ import annotations

from typing import Any

from keltis_cli import arguments
from keltis_cli.draw.printable import printable
from keltis_cli.draw.tables.leaderboard import bot_name
from keltis_cli.remote.connect.calls import (
    BotArgument,
    ServerOption,
    TokenOption,
    part,
    talk,
)
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.following import SILENCE_SECONDS, TimeoutOption, WaitOption
from keltis_cli.remote.connect.shapes import read
from keltis_cli.remote.submission.submit import conclude
from keltis_server.models.bots import VersionOut


def recheck(
    bot: BotArgument,
    wait: WaitOption = True,
    timeout: TimeoutOption = SILENCE_SECONDS,
    server: ServerOption = "",
    token: TokenOption = "",
    as_json: arguments.JsonOption = False,
) -> None:
    """Retry the check of a bot that the server could not check, and follow it.

    The exit codes are those of `submit`.
    """

    async def ask(found: Server) -> tuple[Any, VersionOut]:
        plain = await found.post(f"/bots/{part(bot)}/recheck")
        return plain, read(found, VersionOut, plain)

    plain, version = talk(server, token, ask)
    if not as_json:
        print(f"{bot_name(printable(bot), version.number)} is being checked again.", flush=True)
    conclude(server, token, {"bot": bot}, plain, timeout if wait else None, as_json)
