"""A connection to a server: requests, answers, and every way in which they fail, in one line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.servers import Place, another_server
from keltis_cli.remote.connect.troubles import Refused, Unreachable

if TYPE_CHECKING:
    import aiohttp

API: Final = "/api/v1"
PAGE: Final = 200  # items that one request asks for at most
RETRY_PAUSES: Final = (0.3, 1.0)  # seconds before each retry
CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 60.0  # without a byte of the answer
QUOTED: Final = 200  # characters of an odd answer
LATER: Final = "urn:keltis-ladder:problem:too-many-requests"  # its text says when

Query = str | int | bool | None


class Server:
    """A connection to a server; used in ``async with``."""

    def __init__(self, place: Place, read_seconds: float = READ_SECONDS) -> None:
        self.place = place
        self.read_seconds = read_seconds
        self._session: aiohttp.ClientSession | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return self.place.url

    @property
    def headers(self) -> dict[str, str]:
        """The access token, sent with every request."""
        return {"Authorization": f"Bearer {self.place.token}"} if self.place.token else {}

    async def __aenter__(self) -> Server:
        """Open a session; nothing is sent yet."""
        import aiohttp  # takes a while to load: not for --help

        self._session = aiohttp.ClientSession(timeout=self._timeout(self.read_seconds))
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close the connection."""
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, **query: Query | list[str]) -> Any:
        """Return what the server has at a path; retried twice if the connection fails."""
        for pause in RETRY_PAUSES:
            try:
                return await self._asked("GET", path, params=_parameters(query))
            except Unreachable as trouble:
                if trouble.__cause__ is None:  # it answered
                    raise
                await asyncio.sleep(pause)
        return await self._asked("GET", path, params=_parameters(query))

    async def find(self, path: str, **query: Query | list[str]) -> Any | None:
        """Return what the server has at a path, or none if there is nothing."""
        try:
            return await self.get(path, **query)
        except Refused as refused:
            if refused.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    async def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask the server to do something; once, since twice might do it twice."""
        return await self._asked("POST", path, json=body)

    async def delete(self, path: str) -> None:
        """Ask the server to end something."""
        await self._asked("DELETE", path)

    async def upload(
        self, path: str, media: str, size: int, chunks: Callable[[], AsyncIterator[bytes]]
    ) -> tuple[int, Any]:
        """Send a file as it is read; its size is said first, so too large a one is refused early.

        The status is returned with the answer. The server opens the file before it answers, which
        takes as long as it takes: the caller ends the waiting.
        """
        headers = {"Content-Type": media, "Content-Length": str(size)}
        how = {"data": chunks(), "headers": headers, "timeout": self._timeout(None)}
        async with self._answer("POST", path, **how) as response:
            return response.status, self._judge(response, await response.read())

    async def pages(self, path: str, limit: int, **query: Query | list[str]) -> list[Any]:
        """Return the first ``limit`` items of a list that comes in pages."""
        found: list[Any] = []
        after = ""
        while len(found) < limit:
            part = min(PAGE, limit - len(found))
            page = await self.get(path, **query, limit=part, after=after or None)
            try:
                found += page["items"]
                after = page["next"] or ""
            except (TypeError, KeyError):
                raise self.odd("a page of a list without its fields") from None
            if not after or not page["items"]:
                break
        return found[:limit]

    @asynccontextmanager
    async def stream(self, path: str) -> AsyncIterator[aiohttp.StreamReader]:
        """Open what the server has at a path, to be read piece by piece."""
        async with self._answer("GET", path) as response:
            if response.status != HTTPStatus.OK:
                self._judge(response, await response.read())
            yield response.content

    def _timeout(self, read_seconds: float | None) -> aiohttp.ClientTimeout:
        import aiohttp

        connect = min(CONNECT_SECONDS, self.read_seconds)
        return aiohttp.ClientTimeout(total=None, connect=connect, sock_read=read_seconds)

    async def _asked(self, method: str, path: str, **how: Any) -> Any:
        try:
            return await self._asked_once(method, path, **how)
        except Refused as refused:
            renewed = self.place.after_restart()
            if refused.status != HTTPStatus.UNAUTHORIZED or renewed is None:
                raise
            self.place = renewed
        return await self._asked_once(method, path, **how)

    async def _asked_once(self, method: str, path: str, **how: Any) -> Any:
        async with self._answer(method, path, **how) as response:
            return self._judge(response, await response.read())

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, **how: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        import aiohttp

        assert self._session is not None
        how["headers"] = {**self.headers, **how.get("headers", {})}
        try:
            # A redirect is an error, not followed: it may lead where our token must not go.
            async with self._session.request(
                method, self.url + API + path, allow_redirects=False, **how
            ) as response:
                yield response
        except TimeoutError as error:
            raise Unreachable(
                f"{self.url} does not answer: try again later{another_server(self.url)}"
            ) from error
        except (aiohttp.ClientError, ConnectionError) as error:
            reason = printable(" ".join(str(error).split())) or type(error).__name__
            raise Unreachable(
                f"cannot reach {self.url}: {reason}{another_server(self.url)}"
            ) from error

    def _judge(self, response: aiohttp.ClientResponse, body: bytes) -> Any:
        """Return the plain data of an answer; raise what an error says."""
        status = response.status
        if status == HTTPStatus.NO_CONTENT:
            return None
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            target = printable(response.headers.get("Location", "another place"))
            raise Refused(f"{self.url} has moved to {target}: use that address", status)
        try:
            plain = json.loads(body)
        except (ValueError, RecursionError):
            kind = printable(response.content_type)
            raise self.odd(f"{status} and {kind} instead of JSON") from None
        if status < HTTPStatus.BAD_REQUEST:
            return plain
        detail = plain.get("detail") if isinstance(plain, dict) else None
        if not isinstance(detail, str):
            raise self.odd(f"{status} without an explanation")
        text = printable(" ".join(detail.split()))
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unreachable(f"{self.url} has an internal error: {text}")
        retry_after = response.headers.get("Retry-After")
        if status == HTTPStatus.UNAUTHORIZED and self.place.token:
            text += f"; log in again: keltis-ladder login {self.url}"
        elif status == HTTPStatus.TOO_MANY_REQUESTS and retry_after and plain.get("type") != LATER:
            text += f": try again in {printable(retry_after)} s"
        raise Refused(text, status)

    def odd(self, what: str) -> Unreachable:
        """Return the trouble that an answer is not what a server of ours would say."""
        return Unreachable(
            f"{self.url} answered with {what[:QUOTED]}: is it a keltis-ladder server,"
            " and as new as this program?"
        )


def _parameters(query: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the parameters of a query; those that are none are left out."""
    return [
        (name, str(each).lower() if isinstance(each, bool) else str(each))
        for name, value in query.items()
        for each in (value if isinstance(value, list) else [value])
        if each is not None
    ]
