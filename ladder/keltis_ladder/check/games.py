"""Whole matches against our own bots, in everything that a bot claims to play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from keltis_engine import Ruleset, find_variant
from keltis_ladder.files.sizes import MIB
from keltis_ladder.findings import Doing, Event, Finding, Mark, of_fault
from keltis_ladder.match.clock import DEFAULT_CONTROL
from keltis_ladder.match.entrants import Entrant, built_in
from keltis_ladder.match.excuses import MOST_EXCUSED
from keltis_ladder.match.faults import InDoubt
from keltis_ladder.match.jobs import seed_of_match
from keltis_ladder.match.results import GameResult, MatchResult
from keltis_ladder.referee.bot_process import LOG_KEPT
from keltis_ladder.referee.referee import Launcher, Referee
from keltis_ladder.sandbox.limits import Limits
from keltis_ladder.sandbox.shares import Share

OPPONENTS: Final = ("greedy", "random", "random")
Table = tuple[str, int]  # a variant and the number of players
MUCH: Final = 0.8  # of a limit: a warning


@dataclass
class _Record:
    """What the bot used in all games."""

    games: int = 0
    asked: int = 0
    slowest: float = 0.0  # seconds
    most_of_clock: float = 0.0  # the greatest part of its time that a game took
    peak_memory: int = 0
    most_logged: int = 0  # bytes by one process
    most_games: int = 0  # in one process

    def add(self, game: GameResult) -> None:
        """Count a game of the first entrant."""
        time = game.times[game.entrants.index(0)]
        self.games += 1
        self.asked += time.asked
        self.slowest = max(self.slowest, time.longest)
        there_was = (DEFAULT_CONTROL.bank_ms + DEFAULT_CONTROL.increment_ms * time.asked) / 1000
        self.most_of_clock = max(self.most_of_clock, time.charged / there_was)


def check_games(
    entrant: Entrant,
    launcher: Launcher,
    tables: Sequence[Table],
    matches: int,
    seed: int,
    share: Share,
) -> Iterator[Event]:
    """Play matches of each variant and number of players, then judge what the bot used."""
    record = _Record()
    seeds = [seed_of_match(seed, number) for number in range(1, matches + 1)]
    referee = Referee(
        launcher, limits=share.limits, idle_bytes=share.idle, idle_tasks=share.idle_tasks
    )
    try:
        for variant, players in tables:
            yield Doing(f"playing {variant} with {players} players")
            yield _play(referee, entrant, (variant, players), seeds, record)
            _look_at_processes(referee, entrant, record)
    finally:
        referee.kill()
    yield from _judge(record, share.limits)


def name_of(table: Table) -> str:
    """Return the name of the check of a table."""
    return f"{table[0]}, {table[1]} players"


def _play(
    referee: Referee, entrant: Entrant, table: Table, seeds: Sequence[int], record: _Record
) -> Finding:
    """Play at one table; the first fault is the finding."""
    check = name_of(table)
    variant, players = table
    ruleset = find_variant(variant)
    entrants = [entrant, *(built_in(name) for name in OPPONENTS[: players - 1])]
    games = asked = won = 0
    for seed in seeds:
        result = _result(referee, ruleset, seed, entrants)
        fault = _first_fault(check, result)
        if fault is not None:
            return fault
        for game in result.games:
            before = record.asked
            record.add(game)
            asked += record.asked - before
            games += 1
            won += game.ranks[game.entrants.index(0)] == 1
    return Finding(check, Mark.OK, f"{games} games, {asked} decisions, {won} won")


def _result(
    referee: Referee, ruleset: Ruleset, seed: int, entrants: Sequence[Entrant]
) -> MatchResult:
    """Play a match; again, as on the ladder, where a busy machine may be to blame.

    The same referee plays it: it takes a timeout upon us only so often in a row.
    """
    for _ in range(MOST_EXCUSED):
        try:
            return referee.play_match(ruleset, seed, entrants)
        except InDoubt:
            continue
    return referee.play_match(ruleset, seed, entrants)


def _first_fault(check: str, result: MatchResult) -> Finding | None:
    for game in result.games:
        for loss in game.losses:
            if game.entrants[loss.seat] != 0:
                continue
            where = f"game {game.rotation + 1}, decision {loss.decision + 1}: {loss.fault.text}"
            return of_fault(check, loss.fault, loss.card["stderr"], where, loss.card)
    return None


def _look_at_processes(referee: Referee, entrant: Entrant, record: _Record) -> None:
    ended = referee.largest_idle.get(entrant.key, 0)
    record.peak_memory = max(record.peak_memory, ended)
    for (key, _, _), process in referee.slots():
        if key == entrant.key:
            process.child.usage()
            record.peak_memory = max(record.peak_memory, process.child.peak_memory)
            record.most_logged = max(record.most_logged, process.log_bytes)
            record.most_games = max(record.most_games, process.games)


def _judge(record: _Record, limits: Limits) -> Iterator[Finding]:
    """Say what the bot used of what it may use."""
    if not record.games:
        return
    if record.most_games > 1:
        yield Finding("many games", Mark.OK, f"{record.most_games} games in one process")
    used = f"slowest decision {record.slowest * 1000:.0f} ms, at most {record.most_of_clock:.0%}"
    used += f" of {DEFAULT_CONTROL.bank_ms} + {DEFAULT_CONTROL.increment_ms} ms in a game"
    yield Finding(
        "time",
        Mark.OK if record.most_of_clock <= MUCH else Mark.WARNING,
        used,
        "" if record.most_of_clock <= MUCH else "A busier machine may be slower: leave some time.",
    )
    much = record.peak_memory > MUCH * limits.memory
    yield Finding(
        "memory",
        Mark.WARNING if much else Mark.OK,
        f"at most {record.peak_memory / MIB:.0f} of {limits.memory / MIB:.0f} MiB",
        "Above the limit it is ended: use less." if much else "",
    )
    long = record.most_logged > LOG_KEPT
    yield Finding(
        "stderr",
        Mark.WARNING if long else Mark.OK,
        f"at most {record.most_logged:,} bytes by one process",
        f"Only the last {LOG_KEPT:,} bytes are kept: log less." if long else "",
    )
