"""Honest clients for the soak: ``python -m bench.server.soak_honest URL SECONDS``.

Each has an address of its own. It asks for pages and for the API at a steady rate, and has a
websocket on which it follows the lobby and one match after the other. What they saw is printed as
JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from typing import Any, Final

import aiohttp

from bench.server.edge import Asked
from keltis_server.http.endpoints import API

SOURCES: Final = ("127.0.1.1", "127.0.1.2", "127.0.1.3")
PER_SECOND: Final = 3  # requests of each
BACK: Final = 1.0  # seconds until somebody whose websocket was lost comes back
PATHS: Final = (
    "/",
    API,
    "/healthz",
    f"{API}/leaderboard",
    "/leaderboard",
    f"{API}/bots/other-0",
    "/rules",
    "/bots/other-1",
)


class Onlooker:
    """Follows the lobby and one match after the other; looks whether a message is missing."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.finished: set[str] = set()  # the matches of which the lobby told the result
        self._next: dict[str, int] = {}  # the number that comes next, by topic
        self._match: str | None = None  # the topic of the match that is followed

    async def run(self, http: aiohttp.ClientSession, url: str) -> None:
        """Look on for ever."""
        while True:
            try:
                await self._follow(http, url)
                self.counts["closed"] += 1
            except (OSError, aiohttp.ClientError) as error:
                self.counts[type(error).__name__] += 1
            await asyncio.sleep(BACK)

    async def _follow(self, http: aiohttp.ClientSession, url: str) -> None:
        self._next.clear()
        self._match = None
        address = f"{url}{API}/live"
        async with http.ws_connect(
            address, protocols=("keltis.v1.json",), heartbeat=20, max_msg_size=0
        ) as live:
            await live.send_json({"op": "subscribe", "topic": "lobby"})
            async for raw in live:
                if raw.type is aiohttp.WSMsgType.TEXT:
                    wanted = self.take(json.loads(raw.data))
                    if wanted is not None:
                        await live.send_json({"op": "subscribe", "topic": wanted})

    def take(self, message: dict[str, Any]) -> str | None:
        """Take a message; return the match to follow from now on, if a new one is wanted."""
        op, topic = message["op"], str(message.get("topic"))
        if op == "error":
            self.counts[f"error {message['code']}"] += 1
            if topic == self._match:
                self._match = None
        if op in ("snapshot", "delta", "end"):
            self.counts["messages"] += 1
            if op != "snapshot" and message["seq"] != self._next[topic]:
                self.counts["gaps"] += 1
            self._next[topic] = message["seq"] + 1
        if op == "end" and topic == self._match:
            self.counts["matches followed"] += 1
            self._match = None
        if op == "delta" and topic == "lobby":
            return self._news(message["data"])
        return None

    def _news(self, told: list[dict[str, Any]]) -> str | None:
        begun = None
        for news in told:
            if news["kind"] == "finished":
                self.finished.add(news["id"])
            elif news["kind"] == "began":
                begun = news["match"]["id"]
        if begun is None or self._match is not None:
            return None
        self._match = f"match/{begun}"
        return self._match


async def visit(url: str, source: str, seconds: float) -> tuple[Asked, Onlooker]:
    """Be one client for some time."""
    asked, onlooker = Asked(), Onlooker()
    connector = aiohttp.TCPConnector(local_addr=(source, 0))
    async with aiohttp.ClientSession(connector=connector) as http:
        looking = asyncio.create_task(onlooker.run(http, url))
        await asked.ask(http, url, seconds, PATHS, PER_SECOND)
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
    return asked, onlooker


async def visits(url: str, seconds: float) -> dict[str, Any]:
    """Be all clients; return what they saw."""
    statuses: Counter[str] = Counter()
    sockets: Counter[str] = Counter()
    times: list[tuple[float, float]] = []
    finished: set[str] = set()
    for asked, onlooker in await asyncio.gather(*(visit(url, each, seconds) for each in SOURCES)):
        times += asked.times
        statuses += asked.statuses
        sockets += onlooker.counts
        finished |= onlooker.finished
    return {
        "times": sorted((round(due, 2), round(took, 2)) for due, took in times),
        "statuses": dict(statuses),
        "websockets": dict(sockets),
        "finished": sorted(finished),
    }


if __name__ == "__main__":
    where, how_long = sys.argv[1:]
    print(json.dumps(asyncio.run(visits(where, float(how_long)))))
