"""Make a fault happen again: the same conversation, from the start to the request that failed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from keltis_ladder.match.clock import Clock
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import BotFault, Fault, Kind
from keltis_ladder.referee.bot_process import BotProcess
from keltis_ladder.referee.crash_cards import Card
from keltis_ladder.referee.referee import Launcher
from keltis_ladder.referee.solo import Solo, start

SLOWEST: Final = 10.0  # seconds for a decision that went well then: only the last one is on trial


@dataclass(frozen=True)
class Difference:
    """An answer that is not the one on record."""

    request: int  # counted from 1
    then: str
    now: str


@dataclass
class Rerun:
    """What happened this time."""

    fault: Fault | None = None
    requests: int = 0  # that were answered or failed
    answer: str = ""  # the last one, if it was legal
    seconds: float = 0.0  # that the last answer, or the start, took
    differences: int = 0
    first_difference: Difference | None = None
    log: str = ""


def reproduce(card: Card, entrant: Entrant, launcher: Launcher) -> Rerun:
    """Hold the conversation of a crash card again and return what came of it."""
    rerun = Rerun()
    process: BotProcess | None = None
    try:
        process = start(launcher, entrant)
        begin = time.monotonic()
        process.greet(card.control.start_ms / 1000)
        process.pause()
        rerun.seconds = time.monotonic() - begin
        if card.request_id is not None:
            _play(card, process, rerun)
        process.close()
    except BotFault as fault:
        rerun.fault = fault.fault
        if process is not None:
            process.dismiss(fault.fault)
    except BaseException:
        if process is not None:
            process.kill()
        raise
    if process is not None:
        rerun.log = process.log_text()
    return rerun


def earlier_games(card: Card) -> bool:
    """Return whether the process that failed had been asked in other games before this one."""
    return card.request_id is not None and card.request_id > card.asked + 1


def _play(card: Card, process: BotProcess, rerun: Rerun) -> None:
    """Go through the game up to the request that failed."""
    assert card.request_id is not None
    process.requests = card.request_id - 1 - card.asked  # the very ids of the record
    solo = Solo(process, card.ruleset, card.players, card.seat, card.seed, card.control)
    clock = Clock(card.control)
    for then in card.actions:
        if solo.is_asked():
            now = _ask(solo, rerun, clock.left_ms, SLOWEST)
            if rerun.requests <= len(card.spent):
                clock.spend(card.spent[rerun.requests - 1])
            if now != then:
                _note_difference(card, rerun, then, now)
        solo.apply(then)
    left_ms = clock.left_ms if card.left_ms is None else card.left_ms
    rerun.answer = card.ruleset.format(_ask(solo, rerun, left_ms, left_ms / 1000))


def _ask(solo: Solo, rerun: Rerun, left_ms: int, seconds: float) -> int:
    rerun.requests += 1
    legal = solo.state.legal_actions()
    action, effort = solo.ask(left_ms, seconds)
    rerun.seconds = effort.wall
    if action not in legal:
        ruleset = solo.ruleset
        name = repr(ruleset.format(action)) if 0 <= action < ruleset.actions else "no action at all"
        raise BotFault(Kind.ILLEGAL, "not-legal", f"the bot chose {action}, which is {name}")
    return action


def _note_difference(card: Card, rerun: Rerun, then: int, now: int) -> None:
    rerun.differences += 1
    if rerun.first_difference is None:
        texts = card.ruleset.format(then), card.ruleset.format(now)
        rerun.first_difference = Difference(rerun.requests, *texts)
