"""Which match is meant: by its number, its id or the beginning of it, or by one of its bots."""

from __future__ import annotations

import re
import uuid
from typing import Final

from keltis_cli.draw.printable import printable
from keltis_cli.errors import BadRequest
from keltis_cli.remote.connect.calls import part
from keltis_cli.remote.connect.connection import Server

PREFIX: Final = re.compile(r"[0-9a-f]{4,8}(-[0-9a-f-]*)?")
SEARCHED: Final = 200  # matches of each kind, the newest, among which a prefix is looked for


async def find_match(server: Server, text: str) -> str:
    """Return the id of a match; of a bot's, the one it plays, the next one, or the last one."""
    wanted = text.strip().lower()
    if wanted.isdecimal() or _is_uuid(wanted):
        found = await server.find(f"/matches/{part(wanted)}")
        if found is not None:
            return str(found["id"])
    if await server.find(f"/bots/{part(wanted)}") is not None:
        return await _of_bot(server, wanted)
    if PREFIX.fullmatch(wanted) and not wanted.isdecimal():
        return await _by_prefix(server, wanted)
    raise BadRequest(
        f"there is no match and no bot {printable(text)!r}: give a match's number or id, or the "
        "name of a bot; `keltis-ladder watch` alone lists what is being played"
    )


async def _of_bot(server: Server, bot: str) -> str:
    for state in ("playing", "waiting", "finished"):
        found = await server.pages("/matches", 1, bot=bot, state=state)
        if found:
            return str(found[0]["id"])
    raise BadRequest(f"{bot} has not played yet, and no match of it is waiting")


async def _by_prefix(server: Server, prefix: str) -> str:
    found = {
        str(match["id"])
        for state in ("playing", "waiting", "finished")
        for match in await server.pages("/matches", SEARCHED, state=state)
        if match["id"].startswith(prefix)
    }
    if len(found) == 1:
        return found.pop()
    if not found:
        raise BadRequest(f"no recent match begins with {prefix}: give its number or its whole id")
    raise BadRequest(f"{len(found)} matches begin with {prefix}: give more of the id")


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
