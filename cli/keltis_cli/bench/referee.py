"""``bench referee``: how many decisions the referees ask, what one costs, and whether they last."""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from keltis_cli.bench.asyncio_referee import decisions_per_second
from keltis_cli.bench.c_bot import compile_bot
from keltis_cli.bench.machine import Machine, this_machine
from keltis_engine import find_variant
from keltis_ladder.dispatch.pool import RefereePool
from keltis_ladder.match.entrants import built_in
from keltis_ladder.match.faults import Fault
from keltis_ladder.match.jobs import Job, seed_of_match
from keltis_ladder.programs.launchers import make_launcher
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox.child import descendants

VARIANT: Final = "keltis"
SEED: Final = 20261116
ASYNCIO_GAMES: Final = (2, 8)  # at once; the better one counts

GOAL_RATE: Final = 30_000.0
GOAL_RATIO: Final = 2.5
GOAL_OVERHEAD: Final = 40.0  # microseconds


@dataclass(frozen=True)
class Soak:
    """What many games in a row left behind. Lists are by referee: early on, and at the end."""

    games: int
    seconds: float
    faults: dict[str, int]
    replaced: int
    descriptors: list[tuple[int, int]]
    processes: list[tuple[int, int]]
    memory_mib: list[tuple[float, float]]
    left_behind: int


@dataclass(frozen=True)
class Round:
    """Decisions per second, measured one after the other."""

    ours: float
    plain: float  # asyncio, messages from dicts
    prepacked: float  # asyncio, messages as ours


@dataclass(frozen=True)
class RefereeReport:
    """All figures of one run."""

    date: datetime
    machine: Machine
    cores: int
    rounds: list[Round]
    overhead_us: float | None
    overhead_p99_us: float | None
    soak: Soak | None

    @property
    def rate(self) -> float:
        """Our decisions per second."""
        return statistics.median(measured.ours for measured in self.rounds)

    @property
    def ratio(self) -> float:
        """How many times the plain asyncio referee's."""
        return statistics.median(measured.ours / measured.plain for measured in self.rounds)

    @property
    def loop_ratio(self) -> float:
        """How many times that of an asyncio referee that packs its messages as ours does."""
        return statistics.median(measured.ours / measured.prepacked for measured in self.rounds)

    def as_json(self) -> dict[str, Any]:
        """Return everything for programs."""
        return {
            **asdict(self),
            "date": self.date.isoformat(timespec="seconds"),
            "rate": self.rate,
            "ratio": self.ratio,
            "loop_ratio": self.loop_ratio,
        }


def measure(rounds: int, seconds: float, soak_games: int, sandboxed: bool = True) -> RefereeReport:
    """Measure everything, ours and the other turn about."""
    cores = sorted(os.sched_getaffinity(0))
    ruleset, random = find_variant(VARIANT, {}), built_in("random")
    measured = []
    for number in range(rounds):
        ours = _pool_rate(cores, seconds, number, sandboxed)
        plain, prepacked = (
            max(
                decisions_per_second(ruleset, random, games, seconds / 2, SEED + number, packed)
                for games in ASYNCIO_GAMES
            )
            for packed in (False, True)
        )
        measured.append(Round(ours, plain, prepacked))
    overhead = _overhead(seconds, sandboxed)
    return RefereeReport(
        date=datetime.now(UTC),
        machine=this_machine(),
        cores=len(cores),
        rounds=measured,
        overhead_us=statistics.median(overhead) if overhead else None,
        overhead_p99_us=statistics.quantiles(overhead, n=100)[98] if overhead else None,
        soak=_soak(cores, soak_games, sandboxed) if soak_games else None,
    )


def _jobs(first: int) -> Iterator[Job]:
    random = built_in("random")
    for number in itertools.count(first):
        yield Job(VARIANT, {}, seed_of_match(SEED, number), (random, random))


def _pool_rate(cores: list[int], seconds: float, number: int, sandboxed: bool) -> float:
    """Return the decisions per second of one referee per core, once their bots are running."""
    warm_up = 4 * len(cores)
    with RefereePool(cores, sandboxed) as pool:
        begin, asked = 0.0, 0
        for played, (_, result) in enumerate(pool.play(_jobs(number * 1_000_000)), 1):
            if played == warm_up:
                begin = time.perf_counter()
            elif played > warm_up:
                asked += sum(game.asked for game in result.games)
                if time.perf_counter() - begin > seconds:
                    break
        return asked / (time.perf_counter() - begin)


def _overhead(seconds: float, sandboxed: bool) -> list[float]:
    """Return the microseconds from one answer to the next with bots that answer at once."""
    before = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory(prefix="keltis-bench-") as directory:
        bot = compile_bot(Path(directory))
        if bot is None:
            return []
        os.sched_setaffinity(0, {min(before)})
        referee = Referee(make_launcher(sandboxed))
        try:
            return list(_answers(referee, [bot, bot], seconds))
        finally:
            referee.close()
            os.sched_setaffinity(0, before)


class _Moments:
    """When the decisions of a game fell."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def decided(self, rotation: int, seat: int, action: int, spent_us: int) -> None:
        self.seconds.append(time.perf_counter())

    def dropped(self, rotation: int, seat: int, fault: Fault) -> None:
        """Take no note: the time until the next decision tells."""

    def waiting(self) -> None:
        """Take no note."""

    def ended(self, rotation: int) -> None:
        """Take no note."""


def _answers(referee: Referee, bots: list[Any], seconds: float) -> Iterator[float]:
    ruleset = find_variant(VARIANT, {})
    end = time.perf_counter() + seconds
    for number in itertools.count():
        moments = _Moments()
        referee.play_game(ruleset, seed_of_match(SEED, number), bots, number % 2, moments)
        if number:  # the first game starts the bots
            for before, after in itertools.pairwise(moments.seconds):
                yield 1e6 * (after - before)
        if time.perf_counter() > end:
            return


def _soak(cores: list[int], games: int, sandboxed: bool) -> Soak:
    """Play many games; compare what the referees hold early on with what they hold at the end."""
    faults: dict[str, int] = {}
    early: list[tuple[int, int, float]] = []
    late: list[tuple[int, int, float]] = []
    matches = games // 2
    begin = time.perf_counter()
    with RefereePool(cores, sandboxed) as pool:
        jobs = itertools.islice(_jobs(500_000_000), matches)
        for played, (_, result) in enumerate(pool.play(jobs), 1):
            for game in result.games:
                for loss in game.losses:
                    name = f"{loss.fault.kind}/{loss.fault.code}"
                    faults[name] = faults.get(name, 0) + 1
            if played == max(1, matches // 10):
                early = [_holdings(pid) for pid in pool.pids]
        late = [_holdings(pid) for pid in pool.pids]
        family = [pid for worker in pool.pids for pid in descendants(worker)]
        replaced = pool.replaced
    pairs = list(zip(early, late, strict=True))
    return Soak(
        games=2 * matches,
        seconds=time.perf_counter() - begin,
        faults=faults,
        replaced=replaced,
        descriptors=[(first[0], last[0]) for first, last in pairs],
        processes=[(first[1], last[1]) for first, last in pairs],
        memory_mib=[(first[2], last[2]) for first, last in pairs],
        left_behind=sum(Path(f"/proc/{pid}").exists() for pid in family),
    )


def _holdings(pid: int) -> tuple[int, int, float]:
    """Return how many descriptors, processes and MiB a referee holds, its bots' not counted."""
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return descriptors, len(descendants(pid)), round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)
