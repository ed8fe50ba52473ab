"""Connections: how long each may take, and how many there may be.

aiohttp ends connections that are idle between two requests. Everything else that a client can draw
out is watched here: the head of a request, and answers that are not taken.
"""

from __future__ import annotations

import asyncio
import resource
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, Final, cast

from aiohttp import StreamReader, hdrs, web
from aiohttp.http import RawRequestMessage
from aiohttp.http_exceptions import HttpProcessingError

from keltis_server.http import metrics
from keltis_server.http.edge.refusals import Refusals
from keltis_server.http.problems import Problem
from keltis_server.http.rate_limits import home_of
from keltis_server.settings import Settings
from keltis_server.site.budgets import NETWORK_SHARE, Limiter, network_of

# What all websockets of an address may send: frames of a few bytes are parsed one by one, and those
# that are answered without us, such as pings, are seen by nobody else.
SOCKET_BYTES: Final = 64 * 1024  # at once
SOCKET_SECONDS: Final = 8.0  # until there is as much again
UNWANTED_BYTES: Final = 256 * 1024  # of a body that goes on when its request is answered
# A body may come in small pieces, but each is parsed by itself: a chunk of one byte costs as much
# as one of 64 KiB. So what is not the body itself, such as the lengths of chunks, is limited. The
# first of these is more than a parser that pauses may keep unread.
FRAMING_BYTES: Final = 512 * 1024  # of one request
FRAMING_PART: Final = 64  # and a byte more for this many of the body
FRAMING_OF_RECEIPT: Final = 8  # bytes that each receipt counts for: one of 512 bytes costs no more
STEP: Final = 64 * 1024  # bytes of an answer that count as progress
LOOK_EVERY: Final = 1.0  # seconds; more often where a deadline is shorter
RESERVED_FILES: Final = 256  # descriptors for databases, referees, uploads
FEWEST: Final = 16

_END: Final = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\n" + _END
NOT_HTTP: Final = "the request is not well-formed HTTP, or its head is too large\n"
FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\n" + _END


class Stage(Enum):
    """What a connection waits for."""

    HEAD = auto()  # the client: for the head of a request
    IDLE = auto()  # nobody: between two requests
    BUSY = auto()  # the server, or the rest of a body
    SOCKET = auto()  # it has become a websocket
    HELD = auto()  # the end of a pause: its client was refused too often


class Connection(web.RequestHandler):
    """One connection, which knows since when it waits for its client."""

    def __init__(self, crowd: Crowd, manager: web.Server, **options: Any) -> None:
        super().__init__(manager, **options)
        self.stage = Stage.HEAD
        self.since = 0.0
        self.home = ""
        self.network = ""
        self._crowd = crowd
        self._wire: asyncio.Transport | None = None  # until it is lost, also while it closes
        self._owed = 0  # bytes that the client had not taken when it last made progress
        self._owed_since = 0.0
        self._unwanted = 0  # bytes that came since the last answer, and are no request yet
        self._body: StreamReader | None = None  # that comes at the moment, or came last
        self._body_before = 0  # bytes of it that came with its head
        self._body_wire = 0  # bytes that came since then, and what their receipts count for
        self._spoilt = (
            False  # nothing more of it is read: it is broken, or its pieces are too small
        )
        self._asked = False  # a request of it was complete once
        self._early = b""  # what came while it was held
        self._held: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, unless there are too many."""
        self._wire = cast(asyncio.Transport, transport)  # uvloop's are of no such class
        self._enter(Stage.HEAD)
        peer = transport.get_extra_info("peername")
        self.home = home_of(str(peer[0])) if peer else "unknown"
        self.network = network_of(self.home) or self.home
        refusals = self._crowd.refusals
        if not self._crowd.admit(self):
            if refusals.are_too_many(self.network):
                self._wire.abort()  # it has been told why
            else:
                self._wire.write(FULL)
                self._wire.close()
            return
        super().connection_made(transport)
        if refusals.are_too_many(self.network):
            metrics.CUT_OFF.labels("held").inc()
            self._enter(Stage.HELD)
            self._held = self._loop.call_later(refusals.pause, self._let_go)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Make room for another."""
        if self._held is not None:
            self._held.cancel()
        if self._crowd.leave(self) and not self._asked and self.stage is not Stage.HELD:
            self._crowd.refusals.note(self.network)
        super().connection_lost(exc)
        self._wire = None

    def data_received(self, data: bytes) -> None:
        """Note that the next request begins: its head may not take for ever.

        What comes between two requests may also be the rest of a body that nobody wants.
        """
        if self._spoilt:
            return
        if self.stage is Stage.HELD:
            self._early += data
            if self._wire is not None:
                self._wire.pause_reading()  # the system keeps the rest
            return
        if self.stage is Stage.SOCKET:
            if not self._crowd.admits_frames(self, len(data)):
                self.abort()
                return
        elif self.stage is not Stage.BUSY:
            self._unwanted += len(data)
            if self._unwanted > UNWANTED_BYTES:
                metrics.CUT_OFF.labels("unwanted body").inc()
                self.abort()
                return
            if data and self.stage is Stage.IDLE:
                self._enter(Stage.HEAD)
        super().data_received(data)
        if self.stage is not Stage.SOCKET:
            self._note_body(len(data))

    def _let_go(self) -> None:
        """Read what came while the connection was held."""
        self._held = None
        self._enter(Stage.HEAD)
        early, self._early = self._early, b""
        if early and self._wire is not None and not self._wire.is_closing():
            self._wire.resume_reading()
            self.data_received(early)

    def _note_body(self, size: int) -> None:
        """Note bytes that came: of a request that is complete but for its body, or not."""
        if self._messages and not isinstance(self._messages[-1][0], RawRequestMessage):
            self._note_broken()
            return
        if self._messages:
            if self.stage is not Stage.BUSY:
                self.begin()  # its handler may start only when much of the body has come
            newest = self._messages[-1][1]
            if newest is not self._body:
                self._body, self._body_before = newest, newest.total_bytes
                self._body_wire = size = 0
        body = self._body
        if body is None or not size or body.is_eof():
            return
        self._body_wire += size + FRAMING_OF_RECEIPT
        came = body.total_bytes
        framing = self._body_wire - (came - self._body_before)
        if framing > FRAMING_BYTES + came // FRAMING_PART:
            metrics.CUT_OFF.labels("small pieces").inc()
            self._spoil(body, too_small_pieces())

    def _note_broken(self) -> None:
        """What came is not HTTP. If it is in a body, its handler would wait for the rest of it."""
        body = self._body
        if body is not None and not body.is_eof() and body.exception() is None:
            self._messages.pop()  # one answer will do
            self._spoil(body, broken_body())

    def _spoil(self, body: StreamReader, problem: Problem) -> None:
        self._spoilt = True
        body.set_exception(problem)

    def begin(self) -> None:
        """Note that the head of a request is complete."""
        self._unwanted = 0
        self._asked = True
        self._enter(Stage.BUSY)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send an answer, and note that it is sent, or waits to be taken.

        Of requests that came together each waits its turn: where a handler that does not wait for
        anything is run at once (Python 3.12), nobody else would get theirs until all are answered.
        """
        if self._messages:
            await asyncio.sleep(0)
        refused = resp.status == HTTPStatus.TOO_MANY_REQUESTS
        if refused and not self._crowd.refusals.note(self.network):
            resp.force_close()
        try:
            finished = await super().finish_response(request, resp, start_time)
        finally:
            if self.stage is not Stage.SOCKET:
                self._enter(Stage.IDLE)
        if self._spoilt and self._body is not None:
            self.close()
            await asyncio.sleep(self._crowd.linger)  # until it reads the answer, or has left
            self._body.feed_eof()
        return finished

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what is not HTTP, and log nothing: anybody could fill the disk with traces."""
        if isinstance(exc, HttpProcessingError):
            self._crowd.refusals.note(self.network)
            response = web.Response(status=status, text=NOT_HTTP)
            response.force_close()
            return response
        return super().handle_error(request, status, exc, message)

    def set_parser(self, *args: Any, **kwargs: Any) -> None:
        """Become a websocket: those have limits and heartbeats of their own."""
        self._enter(Stage.SOCKET)
        self._crowd.upgraded(self)
        super().set_parser(*args, **kwargs)

    def resume_writing(self) -> None:
        """Note that the client has taken most of what it was sent."""
        self._owed = 0
        super().resume_writing()

    def is_stuck(self, at: float, patience: float) -> bool:
        """Return whether the client has not taken enough of an answer for too long."""
        size = self._wire.get_write_buffer_size() if self._wire is not None else 0
        if not size:
            self._owed = 0
            return False
        if not self._owed or size + STEP <= self._owed:
            self._owed, self._owed_since = size, at
        self._owed = max(self._owed, size)
        return at - self._owed_since >= patience

    @property
    def owes(self) -> bool:
        """Whether the client had something to take when we looked last."""
        return self._owed > 0

    def time_out(self) -> None:
        """Tell the client that the head of its request took too long, and close."""
        if self._wire is not None and not self._wire.is_closing():
            if not self._owed:
                self._wire.write(TOO_SLOW)
            if self._asked:  # else that is noted when it is lost
                self._crowd.refusals.note(self.network)
            self.force_close()

    def abort(self) -> None:
        """End at once; what was not taken is thrown away."""
        if self._wire is not None:
            self._wire.abort()

    def _enter(self, stage: Stage) -> None:
        self.stage = stage
        self.since = self._loop.time()


class Crowd:
    """All connections of a server."""

    def __init__(self, settings: Settings) -> None:
        quotas = settings.quotas
        self._deadlines = settings.deadlines
        # Behind a proxy all connections are the proxy's, and it has to tell clients apart.
        self._most_of_one = quotas.all_connections if settings.forwarded else quotas.connections
        self.most = min(quotas.all_connections, _files_for_connections())
        self.linger = self._deadlines.linger
        self._interval = min(LOOK_EVERY, self._deadlines.head / 4, self._deadlines.answer / 4)
        self._homes: defaultdict[str, dict[Connection, None]] = defaultdict(dict)
        self._networks: defaultdict[str, dict[Connection, None]] = defaultdict(dict)
        self._sockets: dict[Connection, None] = {}
        self._shares_home = not settings.forwarded
        self.refusals = Refusals(settings)
        self._inflow = Limiter(SOCKET_BYTES, SOCKET_SECONDS)
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """Return how many there are."""
        return self._count

    def admit(self, newcomer: Connection) -> bool:
        """Count a connection; where there are too many, the one that waits longest goes first.

        Those of a client that was refused too often do not make room for each other: it waits.
        """
        for mine, most in (
            (self._homes.get(newcomer.home, {}), self._most_of_one),
            (self._networks.get(newcomer.network, {}), NETWORK_SHARE * self._most_of_one),
        ):
            if len(mine) >= most:
                if self.refusals.are_too_many(newcomer.network) or not self._evict(mine):
                    return self._refuse()
                self.refusals.note(newcomer.network)
        if self._count >= self.most:
            largest = max(self._networks.values(), key=len, default={})
            if not self._evict(largest) and not self._evict(self._plain()):
                return self._refuse()
        self._homes[newcomer.home][newcomer] = None
        self._networks[newcomer.network][newcomer] = None
        self._count += 1
        if self._timer is None:
            self._look_later()
        return True

    def upgraded(self, connection: Connection) -> None:
        """Count a connection among the websockets; how many one address has is limited there."""
        if self._forget(connection):
            self._sockets[connection] = None
            self._count += 1

    def admits_frames(self, connection: Connection, size: int) -> bool:
        """Return whether websockets of this client may send this many bytes now."""
        who = connection.home if self._shares_home else str(id(connection))
        if not self._inflow.take(who, size):
            return True
        metrics.CUT_OFF.labels("too many frames").inc()
        return False

    def leave(self, connection: Connection) -> bool:
        """Count a connection no more; return whether it was counted until now."""
        if connection not in self._sockets:
            return self._forget(connection)
        del self._sockets[connection]
        self._count -= 1
        return True

    def _plain(self) -> Iterable[Connection]:
        return (connection for mine in self._homes.values() for connection in mine)

    def _forget(self, connection: Connection) -> bool:
        if connection not in self._homes.get(connection.home, {}):
            return False
        for groups, name in (
            (self._homes, connection.home),
            (self._networks, connection.network),
        ):
            del groups[name][connection]
            if not groups[name]:
                del groups[name]
        self._count -= 1
        return True

    def _evict(self, among: Iterable[Connection]) -> bool:
        """End the connection that has waited longest for its client; return whether one was."""
        waiting = [each for each in among if each.stage is not Stage.BUSY or each.owes]
        if not waiting:
            return False
        victim = min(waiting, key=lambda each: (each.stage is Stage.BUSY, each.since))
        self._forget(victim)  # at once: the loss of a connection is told later
        metrics.CUT_OFF.labels("crowded out").inc()
        victim.abort()
        return True

    def _refuse(self) -> bool:
        metrics.CUT_OFF.labels("refused").inc()
        return False

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._look)

    def _look(self) -> None:
        """End the connections whose clients take too long."""
        self._timer = None
        at = asyncio.get_running_loop().time()
        for connection in [*self._plain(), *self._sockets]:
            if connection.is_stuck(at, self._deadlines.answer):
                metrics.CUT_OFF.labels("answer not taken").inc()
                connection.abort()
            elif connection.stage is Stage.HEAD and at - connection.since >= self._deadlines.head:
                metrics.CUT_OFF.labels("head too slow").inc()
                connection.time_out()
        if self._count:
            self._look_later()


def too_small_pieces() -> Problem:
    """Return the problem that a body comes in pieces that cost more than what is in them."""
    return Problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "the body comes in too many small pieces: send it with a Content-Length, or in chunks of"
        " 1 KiB or more",
        kind="small-pieces",
        headers={hdrs.CONNECTION: "close"},
    )


def broken_body() -> Problem:
    """Return the problem that nobody can tell where a body goes on."""
    return Problem(
        HTTPStatus.BAD_REQUEST,
        "the body is not well-formed HTTP: each chunk is its length in hexadecimal, a line end, so"
        " many bytes, and a line end",
        kind="broken-body",
        headers={hdrs.CONNECTION: "close"},
    )


def _files_for_connections() -> int:
    """Return how many connections there may be before descriptors run out."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 2**31
    return max(FEWEST, soft - RESERVED_FILES)
