"""The runner: aiohttp's, with connections that are watched and bodies that are not unpacked."""

from __future__ import annotations

import asyncio
from logging import Logger
from typing import Any, Final

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from aiohttp.streams import StreamReader

from keltis_server.http.edge.connections import Connection, Crowd
from keltis_server.settings import Settings

LONGEST_LINE: Final = 8190  # bytes of a request line, with path and query
LONGEST_FIELD: Final = 8190  # bytes of one header
MOST_FIELDS: Final = 64


class EdgeServer(web.Server):
    """Makes a watched connection for each client."""

    def __init__(self, plain: web.Server, crowd: Crowd, **options: Any) -> None:
        super().__init__(
            plain.request_handler, request_factory=self._begin, handler_cancellation=True
        )
        self._make = plain.request_factory
        self._crowd = crowd
        self._options = {"loop": asyncio.get_running_loop(), **options}

    def __call__(self) -> web.RequestHandler:
        """Return the protocol of a new connection."""
        return Connection(self._crowd, self, **self._options)

    def _begin(
        self,
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: asyncio.Task[None],
    ) -> web.BaseRequest:
        assert isinstance(protocol, Connection)
        protocol.begin()
        return self._make(message, payload, protocol, writer, task)


class EdgeRunner(web.AppRunner):
    """Runs an application behind the edge."""

    __slots__ = ("_options", "_settings")

    def __init__(
        self,
        app: web.Application,
        settings: Settings,
        shutdown_timeout: float,
        access_log: Logger | None = None,
    ) -> None:
        super().__init__(app, shutdown_timeout=shutdown_timeout)
        self._settings = settings
        self._options = {
            "access_log": access_log,
            "auto_decompress": False,
            "keepalive_timeout": settings.deadlines.idle,
            "lingering_time": settings.deadlines.linger,
            "max_line_size": LONGEST_LINE,
            "max_field_size": LONGEST_FIELD,
            "max_headers": MOST_FIELDS,
        }

    async def _make_server(self) -> web.Server:
        plain = await super()._make_server()
        return EdgeServer(plain, Crowd(self._settings), **self._options)
