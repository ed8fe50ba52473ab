"""The live messages: one connection to a server, shared by all subscribers on the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, Self

import aiohttp

from keltis_cli.remote.connect.calls import part
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.servers import Place
from keltis_cli.remote.connect.troubles import Unreachable
from keltis_cli.watch.model import Message
from keltis_server.client.live import LiveAway, LiveClient, LiveClosed

Take = Callable[[Message], None]

LONGEST_ABSENCE_SECONDS: Final = 600.0  # of a server that we come back to


class Feed(Protocol):
    """What a screen needs: topics that are told, and games that can be asked for."""

    connected: bool

    @property
    def author(self) -> str | None:
        """Who the server thinks we are."""

    async def follow(self, topic: str, take: Take) -> None:
        """Pass on what is told of a topic, a snapshot first."""

    async def leave(self, topic: str) -> None:
        """Follow a topic no more."""

    async def match(self, match: str) -> Any:
        """Return a match; none if there is no such one."""

    async def frames(self, match: str, rotation: int, viewer: str) -> Any:
        """Return a game of a match, as far as it has been played."""

    async def run(self) -> None:
        """Pass on messages until we are cancelled."""


class ServerFeed:
    """A real server."""

    def __init__(
        self,
        find: Callable[[], Place],
        notice: Callable[[bool], None] | None = None,
    ) -> None:
        self.connected = True
        self._find = find  # the server; asked again when it does not know us any more
        self._notice = notice  # of the connection: whether it is there
        self._takers: dict[str, Take] = {}
        self._turn_to(find())

    def _turn_to(self, place: Place) -> None:
        self.place = place
        self.server = Server(place)
        self._live = LiveClient(
            place.url, place.token or None, longest_absence=LONGEST_ABSENCE_SECONDS
        )

    @property
    def author(self) -> str | None:
        """Who the server thinks we are."""
        return self._live.author

    async def __aenter__(self) -> Self:
        """Connect; say in one line if that cannot be."""
        await self.server.__aenter__()
        try:
            await self._live.__aenter__()
        except (aiohttp.ClientError, OSError) as error:
            await self.server.__aexit__(None, None, None)
            raise Unreachable(f"cannot watch {self.server.url}: {error}") from None
        except BaseException:
            await self.server.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        """Disconnect."""
        await self._live.__aexit__(*error)
        await self.server.__aexit__(*error)

    async def follow(self, topic: str, take: Take) -> None:
        """Pass on what is told of a topic, a snapshot first."""
        self._takers[topic] = take
        await self._live.subscribe(topic)

    async def leave(self, topic: str) -> None:
        """Follow a topic no more."""
        if self._takers.pop(topic, None) is not None:
            await self._live.unsubscribe(topic)

    async def match(self, match: str) -> Any:
        """Return a match; none if there is no such one."""
        return await self.server.find(f"/matches/{part(match)}")

    async def frames(self, match: str, rotation: int, viewer: str) -> Any:
        """Return a game of a match, as far as it has been played."""
        return await self.server.get(f"/matches/{match}/games/{rotation}/frames", viewer=viewer)

    async def run(self) -> None:
        """Pass on messages until we are cancelled."""
        while True:
            try:
                async for message in self._live:
                    self._pass_on(message)
            except LiveAway as away:
                raise Unreachable(f"cannot watch {self.server.url} any longer: {away}") from None
            except LiveClosed:
                # A server of this machine has a new key each time that it starts.
                place = self._find()
                if place == self.place:
                    raise
                await self.__aexit__(None, None, None)
                self._turn_to(place)
                await self.__aenter__()
                for topic in self._takers:
                    await self._live.subscribe(topic)
                self._pass_on({"op": "back"})

    def _pass_on(self, message: Message) -> None:
        if message["op"] in ("lost", "back"):
            self.connected = message["op"] == "back"
            if self._notice is not None:
                self._notice(self.connected)
        take = self._takers.get(message.get("topic") or "")
        if take is not None:
            take(message)
