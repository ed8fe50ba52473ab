"""Live: the websockets, the channels that they carry, and the clock that both keep to."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from aiohttp import WSCloseCode, web
from sqlalchemy.exc import DBAPIError

from keltis_ladder.errors import LadderError
from keltis_ladder.store.bots.accounts import Bearer, bearer_of
from keltis_ladder.store.schema.moments import now
from keltis_server.events import AccessEnded, Happening
from keltis_server.http import metrics
from keltis_server.http.auth import LONGEST_TOKEN, identify
from keltis_server.http.edge.hosts import is_of_ours
from keltis_server.http.problems import Problem, forbidden, too_many
from keltis_server.http.rate_limits import address_of
from keltis_server.live.channel import FAILED, FAILED_DETAIL, Channel, Refusal
from keltis_server.live.channels.version import Checks
from keltis_server.live.envelopes import error
from keltis_server.live.socket import Socket
from keltis_server.live.subjects import Subject, subjects_of
from keltis_server.live.topics import Opener, find_topic
from keltis_server.play.games import Games
from keltis_server.play.watching import Beginnings
from keltis_server.site.site import Site

FLUSH: Final = 0.025  # seconds over which events are collected
BUDGET: Final = 0.010  # seconds of them for working things out
LINGER: Final = 15.0  # seconds that a channel lives on without anybody: somebody may come back
GOODBYE: Final = 1.0  # seconds for everybody to go
MOST_CHANNELS: Final = 8_192  # topics that are followed by anybody
ALWAYS: Final = ("lobby", "leaderboard")  # of which there are few in any case
COME_AGAIN: Final = 10.0  # seconds, to those who have too many connections

log = logging.getLogger(__name__)

Key = tuple[str, bool]  # a topic, and whether it is told to the author


class Live:
    """Everything that is told while it happens."""

    def __init__(self, site: Site, games: Games) -> None:
        self.site = site
        self.games = games
        self.epoch = secrets.token_hex(8)
        self.beginnings = Beginnings()
        self.checks = Checks()
        self._sockets: set[Socket] = set()
        self._addresses: Counter[str] = Counter()
        self._channels: dict[Key, Channel] = {}
        self._hearing: dict[Subject | None, dict[Channel, None]] = {}  # none: of everything
        self._heard_by: dict[Channel, list[Subject | None]] = {}
        self._opening: dict[Key, asyncio.Future[Channel]] = {}
        self._marked: dict[Channel, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timers: set[asyncio.TimerHandle] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_seq = 0  # higher than that of any channel that was closed
        self._ended = 0  # how often somebody lost their access
        self._stopped = False

    async def start(self) -> None:
        """Begin to listen."""
        self.site.listen(self._hear)

    async def stop(self) -> None:
        """Say goodbye to everybody; nobody can make us wait for long."""
        self._stopped = True
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        if self._timer is not None:
            self._timer.cancel()
        for task in list(self._tasks):
            task.cancel()
        if self._sockets:
            sockets = list(self._sockets)
            goodbyes = [
                asyncio.create_task(socket.close(WSCloseCode.GOING_AWAY, b"the server stops"))
                for socket in sockets
            ]
            _, late = await asyncio.wait(goodbyes, timeout=GOODBYE)
            for goodbye in late:
                goodbye.cancel()
            for socket in sockets:
                socket.abort()
            await asyncio.gather(*goodbyes, return_exceptions=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # Sockets

    async def socket(self, request: web.Request) -> web.StreamResponse:
        """Serve one client's websocket."""
        if self._stopped:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "the server stops")
        if not self._is_welcome(request):
            raise forbidden("pages of another site may not open a websocket here")
        address = address_of(self.site, request)
        if self._addresses[address] >= self.site.settings.quotas.sockets:
            raise too_many("too many websockets from this address", COME_AGAIN)
        self._addresses[address] += 1
        try:
            caller = await self._surely(lambda: identify(self.site, request))
            socket = Socket(self, caller, address)
            if not socket.response.can_prepare(request):
                raise Problem(
                    HTTPStatus.UPGRADE_REQUIRED,
                    "this is a websocket: connect with one",
                    headers={"Upgrade": "websocket", "Connection": "Upgrade"},
                )
            await self._serve(socket, request)
            return socket.response
        finally:
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]

    async def _serve(self, socket: Socket, request: web.Request) -> None:
        self._sockets.add(socket)
        self.games.scheduler.be_watched(True)
        metrics.SOCKETS.inc()
        try:
            await socket.run(request)
        finally:
            metrics.SOCKETS.dec()
            self._sockets.discard(socket)
            self.games.scheduler.be_watched(bool(self._sockets))
            socket.leave_all()

    def _is_welcome(self, request: web.Request) -> bool:
        """Return whether a page may connect: one of ours, or of a site that we were told of."""
        allowed = {url.rstrip("/").lower() for url in self.site.settings.origins}
        origin = request.headers.get("Origin", "").lower()
        return origin in allowed or is_of_ours(self.site.settings, request)

    async def bearer(self, token: str) -> Bearer | None:
        """Return whose token this is."""
        if not 0 < len(token) <= LONGEST_TOKEN or not token.isascii():
            return None
        if self.site.local_key.fits(token):
            return await self.site.local_author()
        return await self._surely(lambda: self.site.read(bearer_of, token, now()))

    async def _surely(self, ask: Callable[[], Awaitable[Bearer | None]]) -> Bearer | None:
        """Find out who somebody is; ask again if anybody lost their access meanwhile."""
        while True:
            before = self._ended
            found = await ask()
            if before == self._ended:
                return found

    def _send_away(self, happening: AccessEnded) -> None:
        """Let go of the sockets of somebody who is not let in any more."""
        self._ended += 1
        for socket in list(self._sockets):
            caller = socket.caller
            if caller is None or caller.author_id != happening.author_id:
                continue
            if happening.token_id in (None, caller.token_id):
                socket.shut_out()

    # Channels

    async def subscribe(self, socket: Socket, topic: str, since: int | None) -> None:
        """Let a client follow a topic, or tell it why not."""
        try:
            opener = await find_topic(self, topic, socket.caller)
            channel = await self._channel((topic, opener.for_author), opener)
            channel.admit(socket.caller)
        except Refusal as refusal:
            socket.ended(topic)
            socket.send(error(refusal.code, str(refusal), topic))
            return
        except DBAPIError:
            socket.ended(topic)
            socket.send(error("unavailable", "the database does not answer: try again", topic))
            return
        except LadderError as problem:
            socket.ended(topic)
            socket.send(error("unavailable", str(problem), topic))
            return
        except Exception as failure:
            log.error("the channel %s could not be opened", topic, exc_info=failure)
            metrics.CHANNELS_FAILED.labels(topic.partition("/")[0]).inc()
            socket.ended(topic)
            socket.send(error(FAILED, FAILED_DETAIL, topic))
            return
        if topic in socket.following and socket in self._sockets:
            self._join(socket, channel, since)

    def _join(self, socket: Socket, channel: Channel, since: int | None) -> None:
        try:
            if not channel.failed:  # a moment ago
                socket.following[channel.topic] = channel
                channel.join(socket, since)
        except Exception as failure:
            channel.leave(socket)
            channel.fail(failure)
        if channel.failed:
            socket.ended(channel.topic)
            socket.send(error(FAILED, FAILED_DETAIL, channel.topic))
        else:
            self._close_later(channel)

    def leave(self, socket: Socket, channel: Channel) -> None:
        """Let a client follow a topic no more."""
        channel.leave(socket)
        self._close_later(channel)

    async def _channel(self, key: Key, opener: Opener) -> Channel:
        """Return the channel of a topic, which is opened if need be: once for all who come."""
        if key not in self._opening:
            kind = key[0].partition("/")[0]
            if len(self._channels) >= MOST_CHANNELS and kind not in ALWAYS:
                raise Refusal("too-many", "too many topics are followed by everybody: try again")
            channel = opener.make(self, key[0], self._next_seq)
            self._channels[key] = channel
            self._attend(channel)  # from now on it hears what happens
            self._opening[key] = opening = asyncio.ensure_future(self._open(key, channel))
            # The client that wanted it may be gone when it fails.
            opening.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(self._opening[key])

    async def _open(self, key: Key, channel: Channel) -> Channel:
        try:
            await channel.open()
        except BaseException:
            self.forget(channel)
            raise
        if channel in self._heard_by:
            self._attend(channel)  # only now it may know what it is about
        self._close_later(channel)
        return channel

    def _attend(self, channel: Channel) -> None:
        """Let a channel hear of what it is about, and of nothing else."""
        self._disregard(channel)
        subjects = channel.subjects()
        found: list[Subject | None] = [None] if subjects is None else [*subjects]
        self._heard_by[channel] = found
        for subject in found:
            self._hearing.setdefault(subject, {})[channel] = None

    def _disregard(self, channel: Channel) -> None:
        for subject in self._heard_by.pop(channel, ()):
            hearing = self._hearing[subject]
            del hearing[channel]
            if not hearing:
                del self._hearing[subject]

    def _close_later(self, channel: Channel) -> None:
        if not channel.subscribers:
            self.later(LINGER, lambda: self._close(channel))

    def _close(self, channel: Channel) -> None:
        """Forget a channel that nobody follows."""
        if not channel.subscribers:
            self.forget(channel)

    def forget(self, channel: Channel) -> None:
        """Let the next subscriber of a channel's topic have another channel."""
        self._disregard(channel)
        for key, other in list(self._channels.items()):
            if other is channel:
                del self._channels[key]
                self._opening.pop(key, None)
                self._marked.pop(channel, None)
                # The numbers of the next one go on, so that nobody takes the one for the other.
                self._next_seq = max(self._next_seq, channel.seq + 2)

    def _hear(self, happening: Happening) -> None:
        """Tell the channels what happens."""
        if isinstance(happening, AccessEnded):
            self._send_away(happening)
        self.beginnings.note(happening)
        self.checks.note(happening)
        concerned = dict(self._hearing.get(None, {}))
        for subject in subjects_of(happening):
            concerned |= self._hearing.get(subject, {})
        for channel in concerned:
            if not channel.over:
                try:
                    channel.take(happening)
                except Exception as failure:
                    channel.fail(failure)

    # Time

    def mark(self, channel: Channel) -> None:
        """Have a channel work and flush at the next tick."""
        self._marked[channel] = None
        if self._timer is None and not self._stopped:
            self._timer = asyncio.get_running_loop().call_later(FLUSH, self._tick)

    def _tick(self) -> None:
        """Let the channels that have something to tell do so, as many as there is time for."""
        self._timer = None
        loop = asyncio.get_running_loop()
        until = loop.time() + BUDGET
        marked, self._marked = self._marked, {}
        unfinished: list[Channel] = []
        for channel in marked:
            if loop.time() > until:
                self._marked[channel] = None
                continue
            try:
                if channel.work():
                    unfinished.append(channel)
                channel.flush()
            except Exception as failure:
                channel.fail(failure)
            self._marked.pop(channel, None)
        for channel in unfinished:
            if not channel.failed:
                self._marked[channel] = None
        if self._marked:
            self.mark(next(iter(self._marked)))

    def spawn(self, work: Coroutine[Any, Any, None], channel: Channel | None = None) -> None:
        """Do something that takes time; if it fails, the channel that wanted it does."""
        if self._stopped:
            work.close()
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(partial(self._done, channel))

    def _done(self, channel: Channel | None, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (failure := task.exception()) is None:
            return
        if channel is not None:
            channel.fail(failure)
        else:
            log.error("live: %r failed", task.get_coro(), exc_info=failure)

    def later(
        self, seconds: float, step: Callable[[], None], channel: Channel | None = None
    ) -> None:
        """Do something a little later; if it fails, the channel that wanted it does."""
        if self._stopped:
            return

        def run() -> None:
            self._timers.discard(timer)
            try:
                step()
            except Exception as failure:
                if channel is None:
                    raise
                channel.fail(failure)

        timer = asyncio.get_running_loop().call_later(seconds, run)
        self._timers.add(timer)


LIVE: Final[web.AppKey[Live]] = web.AppKey("live", Live)
