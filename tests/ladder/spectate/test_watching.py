"""Who watches a referee is told everything, in time, and a live match makes of it what was."""

from __future__ import annotations

import io
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgpack
import pytest

from keltis_engine import SPECTATORS, VARIANTS, find_variant
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import Fault
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import MatchResult
from keltis_ladder.programs.launchers import PlainLauncher
from keltis_ladder.referee.bot_process import STILL_SLOW
from keltis_ladder.referee.referee import Referee
from keltis_ladder.spectate.batches import BatchWriter, batch_from_plain
from keltis_ladder.spectate.live_match import LiveMatch
from tests.ladder.support.arena import HOSTILE
from tests.ladder.support.small_bots import FIRST, entrant, write_bot

CONTROL = TimeControl(bank_ms=8000, increment_ms=50, start_ms=10_000)
PATIENCE = 300.0  # seconds; only what hangs needs them
RULESET = find_variant("weg-der-steine", {})


class Listener:
    """Writes down what it is told, and when the referee waits; a bot can see how often it did.

    The file has a byte for each time that its watcher was told so since the last decision.
    """

    def __init__(self, told: Path | None = None) -> None:
        self.batch = BatchWriter()
        self.told = told
        self.decisions: list[float] = []  # when they were taken
        self.seats: list[int] = []  # who took them
        self.waits: list[tuple[float, int]] = []  # when, and after how many decisions

    def decided(self, rotation: int, seat: int, action: int, spent_us: int) -> None:
        if self.told is not None:
            self.told.write_bytes(b"")
        self.decisions.append(time.monotonic())
        self.seats.append(seat)
        self.batch.decided(rotation, seat, action, spent_us)

    def dropped(self, rotation: int, seat: int, fault: Fault) -> None:
        self.batch.dropped(rotation, seat, fault)

    def waiting(self) -> None:
        self.waits.append((time.monotonic(), len(self.decisions)))
        if self.told is not None:
            with self.told.open("ab") as file:
                file.write(b".")

    def ended(self, rotation: int) -> None:
        self.batch.ended(rotation)


@pytest.fixture
def referee() -> Iterator[Referee]:
    made = Referee(PlainLauncher(), CONTROL)
    yield made
    made.kill()


@contextmanager
def patient_referee() -> Iterator[Referee]:
    """A referee whose bots have minutes for everything."""
    patience = round(1000 * PATIENCE)
    made = Referee(PlainLauncher(), TimeControl(bank_ms=patience, start_ms=patience))
    try:
        yield made
    finally:
        made.kill()


def bot(name: str, *arguments: str) -> Entrant:
    return Entrant(name, f"{name}{arguments}", (sys.executable, f"{name}.py", *arguments), HOSTILE)


def watch(referee: Referee, job: Job) -> tuple[LiveMatch, MatchResult]:
    """Play a match and follow it."""
    listener = Listener()
    result = referee.play_match(job.ruleset(), job.seed, job.entrants, listener)
    match = LiveMatch(job)
    match.take(batch_from_plain(listener.batch.take()))
    return match, result


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_match_ends_for_those_who_watch_as_it_ended(referee: Referee, variant: str) -> None:
    job = Job(variant, {}, 5, (bot("honest"), bot("honest"), bot("honest")), CONTROL)
    match, result = watch(referee, job)
    match.finish(result)  # the same decisions
    for game in result.games:
        plies = len(game.actions)
        view = match.view(game.rotation, plies, SPECTATORS)
        assert match.games[game.rotation].ended
        assert (view["ending"], view["phase"], view["scores"]) == (game.ending, "over", game.scores)
        asked = [d for d in match.games[game.rotation].decisions if d.spent_us]
        for seat, spent in enumerate(game.times):
            times = [d.spent_us for d in asked if d.seat == seat]
            assert len(times) == spent.asked
            assert 0 < sum(times) <= spent.wall * 1e6 + spent.asked


def test_faults_are_told_when_they_happen(referee: Referee) -> None:
    bots = (bot("illegal"), bot("exits"), bot("honest"), bot("honest"))
    match, result = watch(referee, Job("keltis", {}, 5, bots, CONTROL))
    match.finish(result)
    assert sum(len(game.losses) for game in result.games) == 8
    for game in result.games:
        told = [(f.seat, f.ply, f.kind, f.code) for f in match.faults(game.rotation)]
        assert told == [
            (loss.seat, loss.decision, loss.fault.kind, loss.fault.code) for loss in game.losses
        ]


def test_a_bot_that_cannot_start_drops_out_before_the_first_decision(referee: Referee) -> None:
    missing = Entrant("missing", "missing", ("no-such-program",), HOSTILE)
    match, result = watch(referee, Job("keltis", {}, 5, (bot("honest"), missing), CONTROL))
    assert [(f.ply, f.seat, f.code) for f in match.faults(1)] == [(0, 0, "cannot-start")]
    assert match.games[0].ended
    assert result.games[0].actions == []


def test_clocks_show_what_the_bots_are_told(referee: Referee, tmp_path: Path) -> None:
    job = Job("kartenspiel", {}, 9, (bot("records", str(tmp_path)), bot("thoughtful")), CONTROL)
    match, result = watch(referee, job)
    match.finish(result)
    referee.close()
    for file in tmp_path.iterdir():
        begin, *messages = msgpack.Unpacker(io.BytesIO(file.read_bytes()))
        seat = begin["seat"]
        rotation = next(g.rotation for g in result.games if g.entrants[seat] == 0)
        decisions = match.games[rotation].decisions
        asked = [ply for ply, d in enumerate(decisions) if d.seat == seat and d.spent_us]
        left: list[Any] = [m["left_ms"] for m in messages if m["type"] == "choose"]
        assert len(left) == len(asked) > 10
        for ply, told in zip(asked, left, strict=True):
            assert abs(match.clocks(rotation, ply, seat)[seat] - told) <= 1


# A bot that decides, or starts, when who watches has been told so often that it takes its time.
UNTIL_TOLD = """
def until_told(file, times):
    while not os.path.exists(file) or os.path.getsize(file) < times:
        time.sleep(0.005)
"""


def test_who_watches_is_told_at_once_and_every_second_that_a_bot_thinks(tmp_path: Path) -> None:
    told = tmp_path / "told"
    thinks = f"if asked in (3, 5, 7): until_told({str(told)!r}, 3 if asked == 5 else 1)\n{FIRST}"
    slow = write_bot(tmp_path / "slow", thinks, before=UNTIL_TOLD)
    listener = Listener(told)
    with patient_referee() as referee:
        game = referee.play_game(RULESET, 5, [entrant(slow), bot("honest")], 0, listener)
    assert game.losses == []
    waits: defaultdict[int, list[float]] = defaultdict(list)  # seconds since the last decision
    for moment, ply in listener.waits:
        if ply and listener.seats[ply] == 0:
            waits[ply].append(moment - listener.decisions[ply - 1])
    assert len(waits) >= 3
    longest = max(waits.values(), key=len)
    assert len(longest) >= 3
    assert all(wait >= number * STILL_SLOW for number, wait in enumerate(longest))
    # At once, not only after a second; that one of three is, is enough on a busy machine.
    assert min(first for first, *_ in waits.values()) < STILL_SLOW


def test_who_watches_is_told_that_a_bot_starts(tmp_path: Path) -> None:
    told = tmp_path / "told"
    before = f"{UNTIL_TOLD}\nuntil_told({str(told)!r}, 2)"  # at once, and after a second
    late = write_bot(tmp_path / "late", FIRST, before=before)
    listener = Listener(told)
    with patient_referee() as referee:
        game = referee.play_game(RULESET, 5, [bot("honest"), entrant(late)], 0, listener)
    assert game.losses == []
    assert len([moment for moment, taken in listener.waits if taken == 0]) >= 2
