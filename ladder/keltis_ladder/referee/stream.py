"""The referee's end of the pipe to its parent: what it tells of a match, in batches."""

from __future__ import annotations

import os
import select
import time
from typing import Any, Final

from keltis_bots.framing import frame
from keltis_ladder.match.faults import Fault
from keltis_ladder.spectate.batches import BatchWriter

QUIET_SECONDS: Final = 0.02  # without a word after which a decision is sent at once
SIGN_OF_LIFE: Final = 0.9  # seconds without a word, while waiting, after which an empty batch is
_now: Final = time.monotonic


class Outlet:
    """A pipe that takes what it can while a clock runs, and the rest afterwards.

    A referee that waited for its reader would let bots pay for it.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._unsent = b""
        self._room = select.poll()
        self._room.register(target, select.POLLOUT)
        os.set_blocking(target, False)

    def clear(self) -> bool:
        """Write what is left over, as far as the pipe takes it; return whether nothing is left."""
        while self._unsent:
            try:
                self._unsent = self._unsent[os.write(self._target, self._unsent) :]
            except BlockingIOError:
                return False
        return True

    def offer(self, data: bytes) -> None:
        """Write as much as the pipe takes now, and keep the rest."""
        self._unsent += data
        self.clear()

    def deliver(self, data: bytes) -> None:
        """Write all of it, however long that takes."""
        self.offer(data)
        while not self.clear():
            self._room.poll()


class Pulse:
    """Watches the matches of a referee for signs of life alone: nobody looks at the decisions."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._id = ""
        self._sent = 0.0  # when there was the last word

    def begin(self, id: str) -> None:
        """Begin a match."""
        self._id = id
        self._sent = _now()

    def decided(self, rotation: int, seat: int, action: int, spent_us: int) -> None:
        """Take no note: a game of quick decisions is over in no time."""

    def dropped(self, rotation: int, seat: int, fault: Fault) -> None:
        """Take note that a bot is ended, which takes time."""
        self.waiting()

    def waiting(self) -> None:
        """Give a sign of life if there was none for some time, and the reader took the last one."""
        if _now() - self._sent > SIGN_OF_LIFE:
            self._sent = _now()
            if self._outlet.clear():
                self._outlet.offer(frame({"kind": "batch", "id": self._id, "entries": []}))

    def ended(self, rotation: int) -> None:
        """Take note that a game has ended."""
        self.waiting()

    def rest(self) -> bytes:
        """Return what has not been sent: nothing is kept."""
        return b""


class Stream:
    """Watches the matches of a referee, and sends what happens before anybody misses it.

    A decision is sent at once if there was no word for some time, and in any case before the
    referee waits for longer than an instant. So thousands of quick decisions need few messages,
    and none is withheld while a bot thinks.
    """

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._batch = BatchWriter()
        self._id = ""
        self._sent = 0.0  # when there was the last word

    def begin(self, id: str) -> None:
        """Begin a match; what was left of the one before is not wanted any more."""
        self._id = id
        self._batch.take()

    def decided(self, rotation: int, seat: int, action: int, spent_us: int) -> None:
        """Take note of a decision."""
        self._batch.decided(rotation, seat, action, spent_us)
        if _now() - self._sent > QUIET_SECONDS:
            self._send()

    def dropped(self, rotation: int, seat: int, fault: Fault) -> None:
        """Take note that a bot dropped out: it takes time to end it."""
        self._batch.dropped(rotation, seat, fault)
        self._send()

    def waiting(self) -> None:
        """Send what there is, or a sign of life."""
        if self._batch or _now() - self._sent > SIGN_OF_LIFE:
            self._send()

    def ended(self, rotation: int) -> None:
        """Take note that a game has ended; the next one, or the result, follows at once."""
        self._batch.ended(rotation)

    def rest(self) -> bytes:
        """Return what has not been sent, to go out with the result."""
        return frame(self._message()) if self._batch else b""

    def _send(self) -> None:
        self._sent = _now()
        if self._outlet.clear():  # else more is collected meanwhile
            self._outlet.offer(frame(self._message()))

    def _message(self) -> dict[str, Any]:
        return {"kind": "batch", "id": self._id, "entries": self._batch.take()}
