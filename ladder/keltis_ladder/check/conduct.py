"""Good manners: what a match seldom shows, and a ladder of many games relies on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from keltis_engine import Rng, Ruleset, find_variant
from keltis_engine.play.policies import eager
from keltis_ladder.check.games import Table
from keltis_ladder.findings import Doing, Event, Finding, Mark, of_fault
from keltis_ladder.match.clock import DEFAULT_CONTROL, Clock, TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import BotFault, Kind
from keltis_ladder.referee.bot_process import FAREWELL, BotProcess
from keltis_ladder.referee.referee import Launcher
from keltis_ladder.referee.solo import Solo, start
from keltis_ladder.sandbox.child import Child
from keltis_ladder.sandbox.limits import Limits

LOW: Final = TimeControl(bank_ms=50, increment_ms=5)
LOOK_SECONDS: Final = 0.05  # between two looks at a bot that should end
LONGEST_GOODBYE_SECONDS: Final = 60.0  # however busy the machine is


class _Trial:
    """Plays single games with fresh processes of one bot."""

    def __init__(
        self,
        entrant: Entrant,
        launcher: Launcher,
        ruleset: Ruleset,
        players: int,
        seed: int,
        limits: Limits,
    ) -> None:
        self.entrant = entrant
        self.launcher = launcher
        self.ruleset = ruleset
        self.players = players
        self.seed = seed
        self.limits = limits
        self.process: BotProcess | None = None
        self.solo: Solo | None = None

    def start(self) -> BotProcess:
        """Start a process and shake hands."""
        self.stop()
        self.process = start(self.launcher, self.entrant, self.limits)
        self.process.greet(DEFAULT_CONTROL.start_ms / 1000)
        return self.process

    def stop(self) -> None:
        """End the process at once."""
        if self.process is not None:
            self.process.kill()

    def log(self) -> str:
        """Return the end of what the last process logged."""
        return self.process.log_text() if self.process else ""

    def play(self, control: TimeControl, most: int | None = None) -> list[int]:
        """Play a game, or its beginning, and return the bot's answers.

        The others' decisions come from a fixed policy and seed, so equal answers to equal requests
        give equal games.
        """
        assert self.process is not None
        solo = self.solo = Solo(self.process, self.ruleset, self.players, 0, self.seed, control)
        clock, rng = Clock(control), Rng(self.seed)
        answers: list[int] = []
        while not solo.state.over and (most is None or len(answers) < most):
            legal = solo.state.legal_actions()
            if solo.is_asked():
                action, effort = solo.ask(clock.left_ms, clock.left)
                clock.spend(effort.charged)
                answers.append(action)
                if action not in legal:
                    text = f"the bot chose {action}, which is not legal"
                    raise BotFault(Kind.ILLEGAL, "not-legal", text)
            else:
                action = eager(solo.state, rng)
            solo.apply(action)
        return answers


def check_manners(
    entrant: Entrant, launcher: Launcher, table: Table | None, seed: int, limits: Limits
) -> Iterator[Event]:
    """Check what happens around games, each time with a fresh process.

    Without a table at which it plays whole games, there is only one thing to be checked.
    """
    variant, players = table or (entrant.variants[0], entrant.players[0])
    trial = _Trial(entrant, launcher, find_variant(variant), players, seed, limits)
    checks = {"goodbye": ("closing its stdin", _goodbye)}
    if table is not None:
        checks |= {
            "restart": ("starting it again after it was killed", _restart),
            "silence": ("looking whether it keeps quiet after a game", _silence),
            "low clock": ("playing with hardly any time", _low_clock),
            "same answers": ("asking the same things twice", _same_answers),
        }
    try:
        for name, (doing, check) in checks.items():
            yield Doing(doing)
            try:
                yield check(trial)
            except BotFault as fault:
                if trial.process is not None:
                    trial.process.dismiss(fault.fault)
                yield of_fault(name, fault.fault, trial.log())
    finally:
        trial.stop()


def _restart(trial: _Trial) -> Finding:
    """Kill the bot in the middle of a game: it must not have left anything in its own way."""
    trial.start()
    trial.play(DEFAULT_CONTROL, most=5)
    trial.start()
    trial.play(DEFAULT_CONTROL)
    return Finding("restart", Mark.OK, "plays on after it was killed and started again")


def _silence(trial: _Trial) -> Finding:
    """Let a second game follow: the first thing that comes must be the answer to its first request.

    As in a match, the end of the first game and the second are told together. Waiting for something
    to come before the request would find a bot quick to speak, but not a slow one.
    """
    process = trial.start()
    trial.play(DEFAULT_CONTROL)
    assert trial.solo is not None
    process.tell(trial.solo.end())
    try:
        trial.play(DEFAULT_CONTROL, most=1)
    except BotFault as failure:
        fault = failure.fault
        if fault.kind is Kind.CRASH:
            text = f"after its first game {fault.text}; it has to play any number of games"
        elif fault.kind is Kind.PROTOCOL:
            text = (
                "after the end of a game something else came than the answer to the next request: "
                + fault.text
            )
        else:
            raise
        raise BotFault(fault.kind, fault.code, text) from None
    return Finding("silence", Mark.OK, "writes nothing after the end of a game")


def _ends_in_time(child: Child) -> bool:
    """Return whether a bot ends within its time; waiting for a busy machine does not count."""
    begin, stalled = time.monotonic(), _stalled(child)
    while not child.wait(LOOK_SECONDS):
        waited = time.monotonic() - begin
        if waited > LONGEST_GOODBYE_SECONDS or waited - (_stalled(child) - stalled) > FAREWELL:
            return child.ended()
    return True


def _stalled(child: Child) -> float:
    """Return for how many seconds it was ready to run, and something else ran."""
    if child.meter is not None:
        return child.meter.stalled()
    try:
        schedule = Path(f"/proc/{child.program()}/schedstat").read_text("ascii")
    except OSError:  # it has ended
        return 0.0
    return int(schedule.split()[1]) / 1e9


def _goodbye(trial: _Trial) -> Finding:
    """Close the bot's input: it should end by itself."""
    process = trial.start()
    begin = time.monotonic()
    process.child.hang_up()
    ended = _ends_in_time(process.child)
    took = time.monotonic() - begin
    result = process.kill()
    if not ended:
        return Finding(
            "goodbye",
            Mark.WARNING,
            f"still there {FAREWELL:.0f} s after its stdin was closed, so it was killed",
            "End when reading stdin gives nothing more; that is how every session ends.",
        )
    if result.code != 0:
        return Finding(
            "goodbye",
            Mark.WARNING,
            f"ended with {result} when its stdin was closed",
            "The end of stdin is no error: end with exit code 0.",
            log=process.log_text(),
        )
    return Finding("goodbye", Mark.OK, f"ended {took * 1000:.0f} ms after its stdin was closed")


def _low_clock(trial: _Trial) -> Finding:
    """Play with hardly any time; to lose is no failure, but good to know."""
    name = f"{LOW.bank_ms} + {LOW.increment_ms} ms"
    trial.start()
    try:
        trial.play(LOW)
    except BotFault as fault:
        if fault.fault.kind is not Kind.TIMEOUT:
            raise
        return Finding(
            "low clock",
            Mark.WARNING,
            f"loses on time with {name}",
            f"The ladder gives {DEFAULT_CONTROL.bank_ms} + {DEFAULT_CONTROL.increment_ms} ms; "
            "a bot that looks at left_ms can play with any clock.",
        )
    return Finding("low clock", Mark.OK, f"plays a game with {name}")


def _same_answers(trial: _Trial) -> Finding:
    """Play the same game twice: a note for the author, not a demand."""
    games = []
    for _ in range(2):
        trial.start()
        games.append(trial.play(DEFAULT_CONTROL))
    if games[0] == games[1]:
        return Finding("same answers", Mark.OK, "gives the same answers to the same requests")
    return Finding(
        "same answers",
        Mark.OK,
        "answers differ from run to run, which is allowed; faults of such "
        "a bot are harder to reproduce",
    )
