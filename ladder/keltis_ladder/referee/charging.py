"""What a decision costs: the time that a bot used, and none that the machine kept from it.

The referee opens an account for each process of a bot. It tells the account when a request goes
out, when it looks for the answer, and when the answer has come; the account says what the decision
costs. ``docs/authors/clock.md`` has the reasons, and what was measured.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Final, final

from keltis_ladder.referee.charging_steal import Steal
from keltis_ladder.sandbox.meter import Meter, own_delay

QUICK: Final = 0.001  # seconds within which an answer comes before anything is looked at
LOOK_AFTER: Final = 0.010  # seconds charged unseen; the kernel's figures need that between looks
LOOK_EVERY: Final = 0.05  # seconds of quick answers between two looks
AFTERMATH: Final = 0.0005  # seconds of CPU to get back to reading, after an answer
_now: Final = time.monotonic
_own_cpu: Final = time.thread_time


@final
class Effort:
    """What one decision cost, in seconds."""

    def __init__(
        self,
        wall: float,
        cpu: float,
        charged: float,
        stalled: float = 0.0,
        delay: float = 0.0,
        stolen: float = 0.0,
    ) -> None:
        self.wall = wall
        self.cpu = cpu
        self.charged = charged  # on the bot's clock
        self.stalled = stalled  # the bot was ready, and the machine ran something else
        self.delay = delay  # the referee was ready to look for the answer, and had no core
        self.stolen = stolen  # given back, because a hypervisor may have had the core meanwhile


@final
class _OwnDelay:
    """Our own waits for a core, and what they came to when somebody last looked."""

    def __init__(self) -> None:
        self.last = 0.0

    def read(self) -> float:
        """Return the seconds for which we were ready to run and had no core."""
        self.last = own_delay()
        return self.last


_DELAY: Final = _OwnDelay()


class Account(ABC):
    """The account of one process of a bot."""

    def __init__(self) -> None:
        self.restless = False  # it was seen computing when it was not asked
        self._begin = 0.0
        self._delay = 0.0  # our own, when we last found no answer, or wrote the request
        self._delay_now = -1.0  # our own, when the last wait ended; none before it is slow
        self._early = 0.0  # for how long we had no core before the request was written

    @abstractmethod
    def meet(self, program: int) -> None:
        """The program has answered for the first time, and this is its process."""

    @abstractmethod
    def close(self) -> None:
        """The process has ended."""

    def note_others(self) -> None:
        """The program has started other processes."""
        self.restless = True  # they may compute where we do not look

    @abstractmethod
    def begin(self, now: float) -> None:
        """A request goes out."""

    def sent(self, now: float) -> None:
        """The request is written: what we waited for a core until then is not the bot's.

        Whose answer was there within an instant need not be told.
        """
        self._early = 0.0
        if now - self._begin > QUICK:
            delay = _DELAY.read()
            self._early, self._delay = max(0.0, delay - self._delay), delay

    def wake(self) -> None:
        """We look for the answer: if it is there, it may have been for as long as we waited."""
        if self._delay_now >= 0.0 or _now() - self._begin > QUICK:
            self._delay_now = _DELAY.read()

    def find_nothing(self, now: float, due: bool, heard: bool) -> None:
        """There was no answer, and our own housekeeping begins. ``due``: by the clock on the wall.

        From the deadline on, our waits count together: the answer may come in any of them.
        ``heard``: the bot had written something else, such as a line of its log.
        """
        if self._delay_now >= 0.0 and not due:
            self._delay = self._delay_now

    @abstractmethod
    def wait_on(self) -> None:
        """Our housekeeping is done."""

    @abstractmethod
    def so_far(self, now: float) -> Effort:
        """Return what the open decision has cost up to now."""

    @abstractmethod
    def answered(self, now: float, cpu: float) -> Effort:
        """Return what it has cost, now that it is over; ``cpu`` is the program's own."""

    def is_machine_busy(self, now: float) -> bool:
        """Return whether others had the core in a way that ``so_far`` cannot tell exactly."""
        return False

    def _own_delay(self, wall: float) -> float:
        """Return for how long the answer may have been there and we had no core to read it."""
        if wall <= QUICK:
            return 0.0
        return min(wall, self._early + max(0.0, _DELAY.read() - self._delay))


@final
class GroupAccount(Account):
    """Charges by what the kernel counts for the control group: exact, and proof against tricks.

    ``charged = max(C + R, A + wall - max(0, S - R) - D - H) - A``. Since the last look: C is the
    CPU time of the group, S its stall, A what was charged for quick answers without a look. R is
    our own CPU time for this bot, reading what it logs, D our own wait for a core since we last
    found no answer, and H what a hypervisor may have stolen of what is left.
    """

    def __init__(self, meter: Meter, steal: Steal) -> None:
        super().__init__()
        self._meter = meter
        self._stalled = self._pressure = meter.stalled()  # at the last look; when last read
        self._used = self._usage = meter.cpu()  # likewise
        self._looked = self._read = _now()
        self._unseen = 0.0  # seconds charged since the last look
        self._unseen_cpu = 0.0
        self._asked = 0  # requests since the last look
        self._thinks = True  # its last decision was slow
        self._greeted = False
        self._own_cpu = -1.0  # ours when the decision became slow, our housekeeping left out
        self._housekeeping = 0.0  # ours when that began
        self._steal = steal
        self._explained = 0.0  # by theft, of the open decision

    def meet(self, program: int) -> None:
        """The program has answered for the first time: of no interest, the group is known."""

    def close(self) -> None:
        """The process has ended; the meter goes with its group."""

    def begin(self, now: float) -> None:
        """A request goes out."""
        self._begin = now
        self._own_cpu = self._delay_now = -1.0
        self._asked += 1
        # To read it takes as long as a quick decision. Who was quick before is, at the worst, given
        # back what we waited since our last look at anybody.
        self._delay = _DELAY.read() if self._thinks else _DELAY.last
        self._steal.begin(self._thinks)

    def find_nothing(self, now: float, due: bool, heard: bool) -> None:
        """There was no answer, and our own housekeeping begins.

        It has begun already if the bot had written nothing at all. On a crowded core, where a
        decision takes seconds, we look for its answer so often that it adds up.
        """
        super().find_nothing(now, due, heard)
        if self._own_cpu < 0.0:
            if now - self._begin > QUICK:
                self._own_cpu = self._housekeeping = _own_cpu()
        elif heard:
            self._housekeeping = _own_cpu()

    def wait_on(self) -> None:
        """Our housekeeping is done, and not the bot's to pay for."""
        if self._own_cpu >= 0.0:
            before, self._housekeeping = self._housekeeping, _own_cpu()
            self._own_cpu += self._housekeeping - before

    def so_far(self, now: float) -> Effort:
        """Return what the open decision has cost up to now: at least the CPU time of the group."""
        if now - self._read >= LOOK_AFTER:
            self._pressure, self._read = self._meter.stalled(), now
        self._usage = self._meter.cpu()
        cpu, wall = self._usage - self._used, now - self._begin
        ours = _own_cpu() - self._own_cpu if self._own_cpu >= 0.0 else 0.0
        stalled = max(0.0, self._pressure - self._stalled - ours)
        delay = self._own_delay(wall)
        least, most = cpu + ours, self._unseen + wall - stalled - delay
        self._explained = self._steal.explain(most - least)
        charged = max(least, most - self._explained) - self._unseen
        own = max(0.0, cpu - self._unseen_cpu)
        return Effort(wall, own, charged, stalled, delay, self._explained)

    def answered(self, now: float, cpu: float) -> Effort:
        """Return what it has cost; for quick answers that is the time on the wall, until we look.

        The CPU time of what runs on after an answer, or out of turn, is charged with the next look.
        """
        wall = now - self._begin
        self._thinks = wall > QUICK
        unseen = self._unseen + wall
        if unseen <= LOOK_AFTER and now - self._looked <= LOOK_EVERY and self._greeted:
            self._unseen = unseen
            self._unseen_cpu += cpu
            return Effort(wall, cpu, wall)
        effort = self.so_far(now)
        self._steal.settle(self._explained)
        # Not when it greets: bubblewrap's own work, before the program runs, is no restlessness.
        if self._greeted and self._usage - self._used > unseen + AFTERMATH * self._asked:
            self.restless = True
        self._greeted = True
        self._stalled, self._used, self._looked = self._pressure, self._usage, now
        self._unseen = self._unseen_cpu = 0.0
        self._asked = 0
        return effort
