"""The referee plays matches: one at a time, blocking, on the core it is pinned to.

Every rotation of a match is played by processes of its own, which stay for the next match. So no
process ever meets a deal twice, and no bot can remember in one game what it saw in another.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from keltis_engine import Ruleset, State
from keltis_ladder.match.clock import DEFAULT_CONTROL, Clock, TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.excuses import Excuses
from keltis_ladder.match.faults import BotFault, Fault, InDoubt, Kind, PlatformFault
from keltis_ladder.match.results import GameResult, Loss, MatchResult, SeatTime, rank_seats
from keltis_ladder.match.rotation import by_seat, entrants_by_seat
from keltis_ladder.referee.bot_process import FOREVER, BotProcess
from keltis_ladder.referee.caretaker import Caretaker
from keltis_ladder.referee.charging import Effort
from keltis_ladder.referee.crash_cards import crash_card
from keltis_ladder.referee.messages import FAULT, GameMessages
from keltis_ladder.sandbox.child import CannotStart, Child, Exit
from keltis_ladder.sandbox.limits import PLAY, Limits
from keltis_ladder.spectate.vocabulary import vocabulary

NEVER_RAN: Final = Exit(code=None, signal=None, cpu=0.0, peak_memory=0)
MOST_PROCESSES: Final = 64  # idle ones beyond this are ended, the longest unused first
IDLE_LOOK_SECONDS: Final = 0.1  # between two looks at what idle ones hold, where that takes time
NO_BUDGET: Final = 1 << 62  # bytes, or tasks

# A match that takes this long, though no clock ran out, is played on a machine that is too busy.
MATCH_SECONDS: Final = 600.0
MATCH_CLOCKS: Final = 4.0  # times what all clocks of the match have together
MANY_DECISIONS: Final = 200  # of one bot in a game

Slot = tuple[str, int, int]  # the bot's key, which of its copies in the match, the rotation


class Watcher(Protocol):
    """Is told of a match as it goes on. Bots wait meanwhile: nothing here may take long."""

    def decided(self, rotation: int, seat: int, action: int, spent_us: int) -> None:
        """Take note of a decision, and of its microseconds on the clock: 0 if nobody was asked."""

    def dropped(self, rotation: int, seat: int, fault: Fault) -> None:
        """Take note that a bot dropped out."""

    def waiting(self) -> None:
        """Take note that nothing may happen for longer than an instant; again every second."""

    def ended(self, rotation: int) -> None:
        """Take note that a game has ended."""


class Launcher(Protocol):
    """Starts bots, in a sandbox or without one."""

    def start(self, entrant: Entrant, limits: Limits) -> Child:
        """Start one process of a bot."""


@dataclass
class _Seat:
    """One seat of a game under way; without a process nobody plays it any more."""

    slot: Slot
    entrant: Entrant
    clock: Clock
    process: BotProcess | None = None
    efforts: list[Effort] = field(default_factory=list)
    request: bytes | None = None  # the one that is or was open
    left_ms: int | None = None  # what the clock said then


@dataclass
class _Table:
    """A game under way."""

    ruleset: Ruleset
    seed: int
    rotation: int
    state: State
    messages: GameMessages
    seats: list[_Seat]
    actions: list[int] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)

    @property
    def in_play(self) -> int:
        """How many seats still have their bot."""
        return len(self.seats) - len(self.losses)


class Referee:
    """Plays matches with the bot processes that it keeps."""

    def __init__(
        self,
        launcher: Launcher,
        control: TimeControl = DEFAULT_CONTROL,
        limits: Limits = PLAY,
        idle_bytes: int = NO_BUDGET,
        idle_tasks: int = NO_BUDGET,
    ) -> None:
        self.launcher = launcher
        self.control = control
        self.limits = limits
        self.idle_bytes = idle_bytes  # of memory that processes may hold together between games
        self.idle_tasks = idle_tasks  # processes and threads that all of them may have
        self.largest_idle: dict[str, int] = {}  # bytes of those that were ended for it, by bot
        self._looked = 0.0  # when, at what they hold
        self._processes: dict[Slot, BotProcess] = {}  # in the order of their last use
        self._awake: list[BotProcess] = []  # not stopped; the one asked last is at the end
        self._watcher: Watcher | None = None  # of the game under way
        self._ends = FOREVER  # when the match under way has taken too long
        self.excuses = Excuses()  # of bots, for faults that may be ours

    def play_match(
        self,
        ruleset: Ruleset,
        seed: int,
        entrants: Sequence[Entrant],
        watcher: Watcher | None = None,
    ) -> MatchResult:
        """Play a deal in all rotations; ``match.rotation`` says who has which seat.

        After a platform fault the processes that saw the deal are ended, so that it can be played
        again by others.
        """
        self._ends = _latest_end(self.control, len(entrants))
        games = []
        try:
            for rotation in range(len(entrants)):
                games.append(self.play_game(ruleset, seed, entrants, rotation, watcher))
                self._end_largest()
        except BaseException:
            for slot in _all_slots(entrants):
                self._drop(slot)
            raise
        finally:
            self._ends = FOREVER
        result = MatchResult(games)
        self.excuses.settle([entrant.key for entrant in entrants], result)
        self._end_idle(keep=_all_slots(entrants))
        return result

    def play_game(
        self,
        ruleset: Ruleset,
        seed: int,
        entrants: Sequence[Entrant],
        rotation: int,
        watcher: Watcher | None = None,
    ) -> GameResult:
        """Play one rotation of a match."""
        self._watcher = watcher
        table = self._lay_table(ruleset, seed, entrants, rotation)
        state, messages = table.state, table.messages
        caretaker: Caretaker | None = None
        while not state.over and table.in_play > 1:
            actor = int(state.seat)
            legal = state.legal_actions()
            asked = False
            if len(legal) == 1:
                action = legal[0]
            elif table.seats[actor].process is None:
                caretaker = caretaker or Caretaker(ruleset)
                action = caretaker.choose(legal)
            else:
                try:
                    action = self._ask(table, actor, legal)
                except BotFault as fault:
                    self._take_out(table, actor, fault)
                    continue
                asked = True
            messages.note(state, action)
            state.apply(action)
            table.actions.append(action)
            if watcher is not None:
                spent = _last_spent_us(table.seats[actor]) if asked else 0
                watcher.decided(rotation, actor, action, spent)
        result = self._clear_table(table)
        if watcher is not None:
            watcher.ended(rotation)
        return result

    def close(self) -> None:
        """End all bot processes in good order."""
        for slot in list(self._processes):
            self._processes.pop(slot).close()
        self._awake.clear()

    def kill(self) -> None:
        """End all bot processes at once."""
        for slot in list(self._processes):
            self._drop(slot)

    def slots(self) -> list[tuple[Slot, BotProcess]]:
        """Return the processes that are kept, with what each is kept for."""
        return list(self._processes.items())

    def _lay_table(
        self, ruleset: Ruleset, seed: int, entrants: Sequence[Entrant], rotation: int
    ) -> _Table:
        """Seat the bots, start those that are not running, and tell them that a game begins."""
        players = len(entrants)
        bank, increment = self.control.bank_ms, self.control.increment_ms
        table = _Table(
            ruleset=ruleset,
            seed=seed,
            rotation=rotation,
            state=ruleset.deal(players, seed),
            messages=GameMessages(ruleset, players, bank, increment, vocabulary(ruleset)),
            seats=[],
        )
        slots = slots_of(entrants, rotation)
        for slot, entrant in by_seat(list(zip(slots, entrants, strict=True)), rotation):
            table.seats.append(_Seat(slot, entrant, Clock(self.control)))
        self._stop_all()
        for number, seat in enumerate(table.seats):
            try:
                seat.process = self._process(seat.slot, seat.entrant)
            except BotFault as fault:
                seat.process = self._processes.get(seat.slot)
                self._take_out(table, number, fault)
                continue
            seat.process.games += 1
            seat.process.tell(table.messages.game(number))
        return table

    def _process(self, slot: Slot, entrant: Entrant) -> BotProcess:
        """Return the bot's process for this slot, started if need be, and moved to the end."""
        process = self._processes.pop(slot, None)
        if process is not None and not process.was_lost:
            self._processes[slot] = process
            return process
        self._tell_waiting()
        if process is not None:
            process.kill()
        try:
            child = self.launcher.start(entrant, self.limits)
        except CannotStart as error:
            if error.of_platform:
                raise PlatformFault(str(error)) from None
            raise BotFault(Kind.CRASH, "cannot-start", str(error)) from None
        process = self._processes[slot] = BotProcess(child, self.limits)
        process.ends = self._ends
        process.greet(self.control.start_ms / 1000, self._tell_waiting)
        process.pause()
        return process

    def _ask(self, table: _Table, actor: int, legal: list[int]) -> int:
        """Ask a seat's bot for its decision, on its clock, while all others are stopped."""
        seat = table.seats[actor]
        process, clock = seat.process, seat.clock
        assert process is not None
        process.requests += 1
        process.ends = self._ends
        seat.left_ms = clock.left_ms
        request = table.messages.request(table.state, actor, legal, process.requests, seat.left_ms)
        seat.request = request
        self._give_way(process)
        action, effort = process.ask(request, process.requests, clock.left, self._when_slow)
        clock.spend(effort.charged)
        seat.efforts.append(effort)
        if action not in legal:
            raise BotFault(Kind.ILLEGAL, "not-legal", _refusal(table, action, legal))
        return action

    def _take_out(self, table: _Table, number: int, fault: BotFault) -> None:
        """End the bot's process, and write its crash card."""
        seat = table.seats[number]
        process = seat.process
        self._excuse(seat.entrant, process, fault)
        if self._watcher is not None:
            self._watcher.dropped(table.rotation, number, fault.fault)
        seat.process = None
        ended, log, fatal = NEVER_RAN, "", None
        if process is not None:
            fatal = process.fatal_effort
            ended = process.dismiss(fault.fault)
            log = process.log_text()
            self._processes.pop(seat.slot, None)
            self._forget_awake(process)
        card = crash_card(
            bot=seat.entrant.name,
            fault=fault.fault,
            ruleset=table.ruleset,
            names=[seat.entrant.name for seat in table.seats],
            seat=number,
            seed=table.seed,
            actions=table.actions,
            request=seat.request,
            left_ms=seat.left_ms,
            control=self.control,
            log=log,
            ended=ended,
            efforts=seat.efforts,
            fatal=fatal,
        )
        table.losses.append(Loss(number, len(table.actions), fault.fault, card))

    def _excuse(self, entrant: Entrant, process: BotProcess | None, fault: BotFault) -> None:
        """Take a fault upon us, where nobody can tell whose it was; but not for ever."""
        if process is not None and process.excuse and self.excuses.grant(entrant.key):
            text = f"{entrant.name} failed while {process.excuse}: {fault.fault.text}"
            raise InDoubt(text, entrant.key)

    def _clear_table(self, table: _Table) -> GameResult:
        """Say how the game ended, to those who are still there too."""
        self._stop_all()
        scores = table.state.scores()
        ranks = rank_seats(scores, {loss.seat: loss.decision for loss in table.losses})
        ending = table.state.ending or FAULT
        for number, seat in enumerate(table.seats):
            if seat.process is not None:
                seat.process.tell(table.messages.end(number, ending, scores, ranks))
        return GameResult(
            rotation=table.rotation,
            entrants=entrants_by_seat(table.rotation, len(table.seats)),
            actions=table.actions,
            ending=ending,
            scores=scores,
            ranks=ranks,
            times=[_time_of(seat.efforts) for seat in table.seats],
            losses=table.losses,
        )

    def _give_way(self, process: BotProcess) -> None:
        """Leave the core to one bot: stop those that ran before it and would not sit still.

        A bot that only waits for its next request needs no stopping, which costs as much as a
        quick decision. It is stopped all the same when the answer takes longer than an instant.
        """
        if self._awake and self._awake[-1] is process:
            return
        for other in self._awake:
            if other.restless and other is not process:
                other.pause()
        self._awake = [
            other for other in self._awake if other is not process and not other.child.paused
        ]
        self._awake.append(process)

    def _when_slow(self) -> None:
        """Do what there is to do when a decision takes longer than an instant."""
        self._stop_others()
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        """Let spectators know that it may take time until the next decision."""
        if self._watcher is not None:
            self._watcher.waiting()

    def _stop_others(self) -> None:
        """Stop all bots but the one that was asked last."""
        for other in self._awake[:-1]:
            other.pause()
        del self._awake[:-1]

    def _stop_all(self) -> None:
        for process in self._awake:
            process.pause()
        self._awake.clear()

    def _forget_awake(self, process: BotProcess) -> None:
        if process in self._awake:
            self._awake.remove(process)

    def _end_idle(self, keep: set[Slot]) -> None:
        """End the processes that have not been used for longest, if there are too many."""
        idle = [slot for slot in self._processes if slot not in keep]
        for slot in idle[: max(0, len(self._processes) - MOST_PROCESSES)]:
            self._tell_waiting()
            self._processes.pop(slot).close()

    def _end_largest(self) -> None:
        """End the largest processes, all of which are idle now, if they hold too much together.

        That costs nobody a game: the next one is played by a new process. They are not asked to
        end: many that run once more could take what the bots of other referees need.
        """
        now = time.monotonic()
        any_process = next(iter(self._processes.values()), None)
        if any_process is None or (
            now - self._looked < IDLE_LOOK_SECONDS and not any_process.child.counts_memory
        ):
            return
        self._looked = now
        held = {slot: process.held() for slot, process in self._processes.items()}
        memory = {slot: each.memory for slot, each in held.items()}
        tasks = {slot: each.tasks for slot, each in held.items()}
        for slot in _largest(memory, self.idle_bytes) | _largest(tasks, self.idle_tasks):
            self.largest_idle[slot[0]] = max(memory[slot], self.largest_idle.get(slot[0], 0))
            self._tell_waiting()
            self._drop(slot)

    def _drop(self, slot: Slot) -> None:
        process = self._processes.pop(slot, None)
        if process is not None:
            self._forget_awake(process)
            process.kill()


def _largest(sizes: dict[Slot, int], most: int) -> set[Slot]:
    """Return the largest, so many that the others are not too much together."""
    excess = sum(sizes.values()) - most
    found = set()
    for slot in sorted(sizes, key=lambda each: -sizes[each]):
        if excess <= 0:
            break
        excess -= sizes[slot]
        found.add(slot)
    return found


def _latest_end(control: TimeControl, players: int) -> float:
    """Return the moment at which a match that begins now has taken too long."""
    clocks = players * players * (control.bank_ms + MANY_DECISIONS * control.increment_ms) / 1000
    return time.monotonic() + MATCH_SECONDS + MATCH_CLOCKS * clocks


def slots_of(entrants: Sequence[Entrant], rotation: int) -> list[Slot]:
    """Return the slot of each entrant's process in a rotation; a bot may be there twice."""
    seen: Counter[str] = Counter()
    found = []
    for entrant in entrants:
        found.append((entrant.key, seen[entrant.key], rotation))
        seen[entrant.key] += 1
    return found


def _all_slots(entrants: Sequence[Entrant]) -> set[Slot]:
    rotations = range(len(entrants))
    return {slot for rotation in rotations for slot in slots_of(entrants, rotation)}


def _last_spent_us(seat: _Seat) -> int:
    """Return what the seat's last decision cost; a bot that was asked took at least an instant."""
    return max(1, round(seat.efforts[-1].charged * 1e6))


def _refusal(table: _Table, action: int, legal: list[int]) -> str:
    ruleset = table.ruleset
    name = repr(ruleset.format(action)) if 0 <= action < ruleset.actions else "no action at all"
    shown = ", ".join(f"{other} ({ruleset.format(other)})" for other in legal)
    return f"the bot chose {action}, which is {name}; the legal actions were {shown}"


def _time_of(efforts: list[Effort]) -> SeatTime:
    return SeatTime(
        asked=len(efforts),
        wall=sum(effort.wall for effort in efforts),
        cpu=sum(effort.cpu for effort in efforts),
        longest=max((effort.charged for effort in efforts), default=0.0),
        charged=sum(effort.charged for effort in efforts),
    )
