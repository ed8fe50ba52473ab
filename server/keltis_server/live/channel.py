"""Channels: what is told about one topic, numbered, to everybody who follows it.

Each subscriber gets a snapshot, and from then on every delta; the numbers have no gaps. A
client that lost the connection for a moment goes on where they were, as long as the deltas since
then are kept.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sized
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from keltis_ladder.store import patience
from keltis_ladder.store.bots.accounts import Bearer
from keltis_server.events import Happening
from keltis_server.http import metrics
from keltis_server.live.envelopes import Envelope, error
from keltis_server.live.subjects import Subject
from keltis_server.play.games import Games
from keltis_server.play.watching import Beginnings
from keltis_server.site.site import Site

if TYPE_CHECKING:
    from keltis_server.live.channels.version import Checks

MOST_KEPT: Final = 400  # deltas: ten seconds at least
MOST_KEPT_BYTES: Final = 512 * 1024  # of their JSON or msgpack, whichever was made
MOST_PENDING: Final = 10_000  # events that were published and not yet sent: it takes 25 ms
FAILED: Final = "failed"  # the code of the error that subscribers of a failed channel get
FAILED_DETAIL: Final = "this topic failed by an internal error: subscribe again"

log = logging.getLogger(__name__)

T = TypeVar("T")
Plain = dict[str, Any]


class Refusal(Exception):
    """A subscription that is not possible."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Overflow(Exception):
    """A channel that cannot keep up with what happens: it fails, and the next one starts afresh."""


class Subscriber(Protocol):
    """Who follows a channel. Nothing here ever waits for one."""

    protocol: str

    def write(self, data: bytes) -> None:
        """Send a frame; a client that is too slow for it is dropped."""

    def write_snapshot(self, data: bytes) -> None:
        """Send a frame that may be long."""

    def ended(self, topic: str) -> None:
        """Take note that nothing more comes."""


class Surroundings(Protocol):
    """What a channel needs of the rest of the server."""

    site: Site
    games: Games
    beginnings: Beginnings
    checks: Checks

    def mark(self, channel: Channel) -> None:
        """Have a channel told soon what has been published."""

    def forget(self, channel: Channel) -> None:
        """Let the next subscriber of a channel's topic have another channel."""

    def spawn(self, work: Coroutine[Any, Any, None], channel: Channel | None = None) -> None:
        """Do something that takes time; if it fails, the channel that wanted it does."""

    def later(
        self, seconds: float, step: Callable[[], None], channel: Channel | None = None
    ) -> None:
        """Do something a little later; if it fails, the channel that wanted it does."""


class Channel:
    """One topic."""

    def __init__(self, live: Surroundings, topic: str, seq: int) -> None:
        self.live = live
        self.topic = topic
        self.first = seq  # deltas after this one are ours
        self.seq = seq
        self.subscribers: dict[Subscriber, None] = {}  # in the order in which they came
        self.over = False
        self.failed = False
        self._pending: list[Plain] = []
        self._kept: deque[tuple[Envelope, int]] = deque()
        self._kept_bytes = 0
        self._snapshot: Envelope | None = None
        self._end: Envelope | None = None

    async def open(self) -> None:
        """Find out how things stand; raise ``Refusal`` if there is nothing to follow."""
        raise NotImplementedError

    def subjects(self) -> Collection[Subject] | None:
        """Return what it is about: it hears of nothing else. None: of everything, for now."""
        return None

    def admit(self, caller: Bearer | None) -> None:
        """Raise ``Refusal`` unless somebody may follow this."""

    def take(self, happening: Happening) -> None:
        """Take note of what happens. Quick: no database, no games."""

    def work(self) -> bool:
        """Publish what takes a little time to work out; return whether there is more of it."""
        return False

    def snapshot(self) -> Any:
        """Return how things stand, everything included that was published."""
        raise NotImplementedError

    def publish(self, *events: Plain) -> None:
        """Tell something to all, soon."""
        if not self.over:
            self._pending += events
            if len(self._pending) > MOST_PENDING:
                raise Overflow(f"{len(self._pending)} events wait to be sent")
            self.live.mark(self)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes time."""
        self.live.spawn(work, self)

    def later(self, seconds: float, step: Callable[[], None]) -> None:
        """Do something a little later."""
        self.live.later(seconds, step, self)

    def changed(self) -> None:
        """Forget the snapshot: it is not how things stand any more, though no event says so."""
        self._snapshot = None

    def flush(self) -> None:
        """Send what was published since the last time."""
        if not self._pending:
            return
        self.seq += 1
        events, self._pending = self._pending, []
        self._snapshot = None
        envelope = Envelope({"op": "delta", "topic": self.topic, "seq": self.seq, "data": events})
        size = self._send(envelope)
        self._keep(envelope, size)

    def end(self, data: Plain) -> None:
        """Say the last word, and let everybody go."""
        self.flush()
        self.over = True
        self._end = Envelope({"op": "end", "topic": self.topic, "seq": self.seq + 1, "data": data})
        self._send(self._end)
        gone, self.subscribers = self.subscribers, {}
        for subscriber in gone:
            subscriber.ended(self.topic)

    def join(self, subscriber: Subscriber, since: int | None) -> None:
        """Let somebody follow: from the beginning, or from where they were."""
        self.flush()  # else the snapshot would hold what the next delta brings
        protocol = subscriber.protocol
        missed = None if since is None else self._missed(since)
        if missed is None:
            if self._snapshot is None:
                self._snapshot = Envelope(
                    {
                        "op": "snapshot",
                        "topic": self.topic,
                        "seq": self.seq,
                        "data": self.snapshot(),
                    }
                )
            subscriber.write_snapshot(self._snapshot.in_form(protocol))
        else:
            resumed = Envelope({"op": "resumed", "topic": self.topic, "seq": since})
            subscriber.write_snapshot(
                b"".join(each.in_form(protocol) for each in (resumed, *missed))
            )
        if self._end is None:
            self.subscribers[subscriber] = None
        else:
            subscriber.write(self._end.in_form(protocol))
            subscriber.ended(self.topic)

    def leave(self, subscriber: Subscriber) -> None:
        """Let somebody go."""
        self.subscribers.pop(subscriber, None)

    def fail(self, failure: BaseException) -> None:
        """Break off after an internal error; clients that subscribe again begin afresh."""
        if self.failed:
            return
        self.failed = self.over = True
        log.error("the channel %s failed", self.topic, exc_info=failure)
        metrics.CHANNELS_FAILED.labels(self.topic.partition("/")[0]).inc()
        self._pending.clear()
        self.live.forget(self)
        gone, self.subscribers = self.subscribers, {}
        envelope = error(FAILED, FAILED_DETAIL, self.topic)
        for subscriber in gone:
            subscriber.write(envelope.in_form(subscriber.protocol))
            subscriber.ended(self.topic)

    def _send(self, envelope: Envelope) -> int:
        size = 0
        for subscriber in list(self.subscribers):
            data = envelope.in_form(subscriber.protocol)
            size = len(data)
            subscriber.write(data)
        return size

    def _keep(self, envelope: Envelope, size: int) -> None:
        self._kept.append((envelope, size))
        self._kept_bytes += size
        while len(self._kept) > MOST_KEPT or self._kept_bytes > MOST_KEPT_BYTES:
            self._kept_bytes -= self._kept.popleft()[1]

    def _missed(self, since: int) -> list[Envelope] | None:
        """Return the deltas after a number; none if they are not all kept, or never were."""
        count = self.seq - since
        if since < self.first or not 0 <= count <= len(self._kept):
            return None
        return [envelope for envelope, _ in list(self._kept)[len(self._kept) - count :]]


async def patiently(read: Callable[[], Awaitable[T]]) -> T:
    """Read something, as soon as the database answers; what it says for good is raised."""
    return await patience.patiently(read, _raise_for_good)


def _raise_for_good(error: DBAPIError) -> None:
    away = isinstance(error, OperationalError | InterfaceError)
    if not away and not error.connection_invalidated:
        raise error


def require_room(waiting: Sized, most: int) -> None:
    """Raise ``Overflow`` if as much waits as may: for a database that is down, or slow."""
    if len(waiting) >= most:
        raise Overflow(f"{len(waiting)} messages wait to be looked up, and there may be no more")
