"""Names for shell completion: within a short timeout, and never an error."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Any, Final

from keltis_engine import VARIANTS

TIMEOUT_SECONDS: Final = 1.0
MOST_NAMES: Final = 100


def complete_variants(incomplete: str) -> list[str]:
    """Return the variants that begin like this."""
    return [name for name in VARIANTS if name.startswith(incomplete)]


def complete_bots(incomplete: str) -> list[str]:
    """Return the bots of the server that begin like this."""
    query = {"prefix": incomplete} if incomplete else {}
    return _names(incomplete, "/bots", "name", query)


def complete_matches(incomplete: str) -> list[str]:
    """Return the latest matches whose number begins like this."""
    return _names(incomplete, "/matches", "number", {"state": "finished"})


def complete_tournaments(incomplete: str) -> list[str]:
    """Return the tournaments of the server that begin like this."""
    return _names(incomplete, "/tournaments", "name", {})


def complete_things(incomplete: str) -> list[str]:
    """Return whatever ``show`` can show: matches by their number, bots, tournaments."""
    if incomplete.isdecimal():
        return complete_matches(incomplete)
    return [*complete_bots(incomplete), *complete_tournaments(incomplete)]


def _names(incomplete: str, path: str, field: str, query: dict[str, Any]) -> list[str]:
    # A shell that waits for us has no use for what went wrong.
    with contextlib.suppress(Exception):
        import aiohttp  # noqa: F401  (loading it is not the server's fault, and not timed)

        found = asyncio.run(asyncio.wait_for(_asked(path, query), TIMEOUT_SECONDS))
        names = [str(each[field]) for each in found]
        return [name for name in names if name.startswith(incomplete) and name.isprintable()]
    return []


async def _asked(path: str, query: dict[str, Any]) -> list[Any]:
    from keltis_cli.remote.connect.connection import Server
    from keltis_cli.remote.connect.servers import find_place

    place = find_place(os.environ.get("KELTIS_SERVER", ""), os.environ.get("KELTIS_TOKEN", ""))
    async with Server(place, read_seconds=TIMEOUT_SECONDS) as server:
        return await server.pages(path, MOST_NAMES, **query)
