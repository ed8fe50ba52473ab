"""Who watches a referee is told everything, in time, and a live match makes of it what was."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator
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
from keltis_ladder.spectate.batches import BatchWriter, Decided, batch_from_plain
from keltis_ladder.spectate.live_match import LiveMatch
from tests.ladder.support.arena import HOSTILE
from tests.ladder.support.small_bots import FIRST, entrant, write_bot

CONTROL = TimeControl(bank_ms=8000, increment_ms=50, start_ms=10_000)
RULESET = find_variant("weg-der-steine", {})


class Listener:
    """Writes down what it is told, and when the referee waits."""

    def __init__(self) -> None:
        self.batch = BatchWriter()
        self.decisions: list[float] = []  # when they were taken
        self.waits: list[tuple[float, int]] = []  # when, and after how many decisions

    def decided(self, rotation: int, seat: int, action: int, spent_us: int) -> None:
        self.decisions.append(time.monotonic())
        self.batch.decided(rotation, seat, action, spent_us)

    def dropped(self, rotation: int, seat: int, fault: Fault) -> None:
        self.batch.dropped(rotation, seat, fault)

    def waiting(self) -> None:
        self.waits.append((time.monotonic(), len(self.decisions)))

    def ended(self, rotation: int) -> None:
        self.batch.ended(rotation)


@pytest.fixture
def referee() -> Iterator[Referee]:
    made = Referee(PlainLauncher(), CONTROL)
    yield made
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


def test_who_watches_is_told_at_once_and_every_second_that_a_bot_thinks(
    referee: Referee, tmp_path: Path
) -> None:
    pause = 1.5 * STILL_SLOW
    slow = write_bot(tmp_path / "slow", f"if asked == 5: time.sleep({pause})\n{FIRST}")
    listener = Listener()
    game = referee.play_game(RULESET, 5, [entrant(slow), bot("honest")], 0, listener)
    assert game.losses == []
    (entry, _) = batch_from_plain(listener.batch.take())
    assert isinstance(entry, Decided)
    spent = [decision.spent_us for decision in entry.decisions]
    ply = spent.index(max(spent))
    first, *more = [moment for moment, taken in listener.waits if taken == ply]
    assert first - listener.decisions[ply - 1] < STILL_SLOW  # not only after a second
    assert len(more) >= 1


def test_who_watches_is_told_that_a_bot_starts(referee: Referee, tmp_path: Path) -> None:
    pause = 1.5 * STILL_SLOW
    late = write_bot(tmp_path / "late", FIRST, before=f"time.sleep({pause})")
    listener = Listener()
    begin = time.monotonic()
    referee.play_game(RULESET, 5, [bot("honest"), entrant(late)], 0, listener)
    waits = [moment for moment, taken in listener.waits if taken == 0]
    assert listener.decisions[0] - begin > pause
    assert len(waits) >= 2  # at once, and after a second
