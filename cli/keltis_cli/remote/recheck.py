"""``recheck``: have a version checked again that the server could not check."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from keltis_cli import arguments
from keltis_cli.draw.leaderboard_table import bot_name
from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.calls import (
    BotArgument,
    ServerOption,
    TokenOption,
    part,
    print_json,
    talk,
)
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.following import SILENCE_SECONDS, TimeoutOption
from keltis_cli.remote.connect.shapes import read
from keltis_cli.remote.submit import end_with, wait_for_version
from keltis_cli.remote.submit_following import Outcome
from keltis_server.models.bots import VersionOut


def recheck(
    bot: BotArgument,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for its check and its first match.")
    ] = True,
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
    outcome = Outcome(plain)
    if wait:
        outcome = wait_for_version(server, token, bot, plain, as_json, timeout)
    if as_json:
        print_json({"bot": bot, **outcome.to_plain()})
    end_with(outcome)
