"""``bench engine``: measure the engine against its goals, everything in one run.

What is compared is measured in turn, round after round, so that whatever else the machine does
meets both sides. ``bench/README.md`` tells how to read the result.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import keltis_cli
import keltis_engine
from keltis_cli.bench import engine_report
from keltis_cli.bench.engine_report import (
    CALLS,
    OURS,
    Calls,
    Driven,
    EngineReport,
    Figure,
    Import,
    Playouts,
    figure,
    quotient,
)
from keltis_cli.bench.machine import this_machine
from keltis_cli.draw.look import console
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.errors import BadRequest
from keltis_engine import VARIANTS, find_variant

OPEN_SPIEL_GAMES: Final = {"hearts": 4, "gin_rummy": 2}
REFERENCE_PLAYERS: Final = 2

# The tasks that a Python loop drives, and whose game it plays.
LIBRARIES: Final = {"driven": OURS, "open_spiel": "open_spiel", "nothing": "none"}
NOTHING: Final = "the loop alone"


class Effort(NamedTuple):
    """How long to measure: rounds, and seconds for each sample within a round."""

    rounds: int
    playouts: float
    calls: float


FULL: Final = Effort(rounds=9, playouts=0.06, calls=0.015)
QUICK: Final = Effort(rounds=2, playouts=0.002, calls=0.001)


class Key(NamedTuple):
    """One thing that is measured: by which worker, which task, on which game."""

    worker: str
    task: str
    subject: str
    players: int


Samples = dict[Key, list[float]]  # units per second, or seconds for an import; one per round


def run(as_json: bool, quick: bool = False, reference: Path | None = None) -> None:
    """Measure, and print the report for people or for programs."""
    report = measure(quick, reference)
    if as_json:
        print(json.dumps(report.as_json(), indent=2))
    else:
        engine_report.show(report, console())


def measure(quick: bool = False, reference: Path | None = None) -> EngineReport:
    """Take all measurements; progress goes to standard error."""
    if reference is not None and not reference.is_file():
        raise BadRequest(f"there is no reference module at {reference}: give a .py or .so file")
    effort = QUICK if quick else FULL
    begin = time.perf_counter()
    with ExitStack() as stack:
        workers = {"installed": stack.enter_context(worker(None))}
        if keltis_engine.COMPILED:
            copy = stack.enter_context(sources())
            workers["interpreted"] = stack.enter_context(worker(copy))
            if workers["interpreted"].compiled:
                raise RuntimeError(f"the sources in {copy} were to be interpreted, but are not")
        spiel = workers["installed"].open_spiel is not None
        samples = take_samples(workers, list(keys(workers, spiel, reference)), effort)
    return EngineReport(
        date=datetime.now(UTC),
        machine=this_machine(),
        compiled=keltis_engine.COMPILED,
        quick=quick,
        rounds=effort.rounds,
        seconds=time.perf_counter() - begin,
        playouts=[_playouts(samples, *game) for game in games()],
        calls=[_calls(samples, *game) for game in games()],
        driven=_driven(samples),
        imports=_import(samples),
        reference=_reference(samples, reference),
    )


# What is measured, in the order within a round


def games() -> Iterator[tuple[str, int]]:
    """Return every variant with every number of players."""
    for variant in VARIANTS:
        for players in find_variant(variant).players:
            yield variant, players


def keys(workers: dict[str, Worker], spiel: bool, reference: Path | None) -> Iterator[Key]:
    """Return all keys; what is compared stands side by side."""
    for variant, players in games():
        for task in ("playouts", "games"):
            for name in workers:
                yield Key(name, task, variant, players)
    if reference is not None:
        yield Key("installed", "reference", str(reference), REFERENCE_PLAYERS)
    yield Key("installed", "nothing", NOTHING, 0)
    if spiel:
        for game, players in OPEN_SPIEL_GAMES.items():
            yield Key("installed", "open_spiel", game, players)
    for variant, players in games():
        yield Key("installed", "driven", variant, players)
    for variant, players in games():
        for task in CALLS:
            yield Key("installed", task, variant, players)
    yield Key("start", "pass", "", 0)
    yield Key("start", "import keltis_engine", "", 0)


def take_samples(workers: dict[str, Worker], wanted: list[Key], effort: Effort) -> Samples:
    """Measure everything once in each round."""
    samples: Samples = defaultdict(list)
    steps = effort.rounds * len(wanted)
    with ProgressBar("starting", steps, lines=False) as progress:
        for number in range(effort.rounds):
            for done, key in enumerate(wanted, number * len(wanted)):
                text = f"round {number + 1} of {effort.rounds}: {key.task} {key.subject}"
                progress.tell(done, text=text)
                if key.worker == "start":
                    samples[key].append(start_seconds(key.task))
                else:
                    seconds = effort.calls if key.task in CALLS else effort.playouts
                    samples[key].append(workers[key.worker].rate(key, seconds))
    return samples


# Who measures


class Worker:
    """A process that measures on one thread, one task at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        hello = self._answer()
        self.compiled: bool = hello["compiled"]
        self.open_spiel: str | None = hello["open_spiel"]

    def rate(self, key: Key, seconds: float) -> float:
        """Return how many units per second a task makes."""
        asked = {"task": key.task, "subject": key.subject, "players": key.players}
        assert self._process.stdin is not None
        print(json.dumps(asked | {"seconds": seconds}), file=self._process.stdin, flush=True)
        units, took = self._answer()
        return float(units) / float(took)

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a measuring process ended early; its own error stands above")
        return json.loads(line)


@contextmanager
def worker(engine: Path | None) -> Iterator[Worker]:
    """Start a measuring process; ``engine`` is the folder of another engine than our own."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "keltis_cli.bench.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": _search_path(engine)},
    ) as process:
        try:
            yield Worker(process)
        finally:
            process.kill()


@contextmanager
def sources() -> Iterator[Path]:
    """Copy the engine without its compiled modules; return the folder to import it from."""
    with tempfile.TemporaryDirectory(prefix="keltis-bench-") as folder:
        engine = Path(keltis_engine.__file__).parent
        compiled = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
        shutil.copytree(engine, Path(folder, "keltis_engine"), ignore=compiled)
        yield Path(folder)


def start_seconds(statement: str) -> float:
    """Return how long a fresh Python computes to start, run the statement and end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-P", "-c", statement],
        env=os.environ | {"PYTHONPATH": _search_path(None)},
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _search_path(engine: Path | None) -> str:
    """Return a PYTHONPATH that finds what this process has found, whatever its folder was."""
    found = [Path(module.__file__ or "").parents[1] for module in (keltis_engine, keltis_cli)]
    folders = [str(folder) for folder in ([engine] if engine else []) + found]
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join(folders + ([inherited] if inherited else []))


# What came out


def _playouts(samples: Samples, variant: str, players: int) -> Playouts:
    def of(worker: str, task: str) -> list[float]:
        return samples.get(Key(worker, task, variant, players), [])

    return Playouts(
        variant=variant,
        players=players,
        rate=figure(of("installed", "playouts")),
        interpreted=_maybe(of("interpreted", "playouts")),
        ratio=_ratio(of("installed", "playouts"), of("interpreted", "playouts")),
        games_rate=figure(of("installed", "games")),
        games_interpreted=_maybe(of("interpreted", "games")),
        games_ratio=_ratio(of("installed", "games"), of("interpreted", "games")),
    )


def _calls(samples: Samples, variant: str, players: int) -> Calls:
    rates = {task: samples[Key("installed", task, variant, players)] for task in CALLS}
    return Calls(
        variant=variant,
        players=players,
        nanoseconds={task: figure([1e9 / rate for rate in rates[task]]) for task in CALLS},
    )


def _driven(samples: Samples) -> list[Driven]:
    hearts = Key("installed", "open_spiel", "hearts", OPEN_SPIEL_GAMES["hearts"])
    yardstick = samples.get(hearts, [])
    return [
        Driven(
            library=LIBRARIES[key.task],
            game=key.subject,
            players=key.players,
            rate=figure(rates),
            ratio=None if key == hearts else _ratio(rates, yardstick),
        )
        for key, rates in samples.items()
        if key.task in LIBRARIES
    ]


def _import(samples: Samples) -> Import:
    bare = samples[Key("start", "pass", "", 0)]
    loaded = samples[Key("start", "import keltis_engine", "", 0)]
    return Import(
        bare=figure([1e3 * seconds for seconds in bare]),
        added=figure([1e3 * (b - a) for a, b in zip(bare, loaded, strict=True)]),
    )


def _reference(samples: Samples, path: Path | None) -> Figure | None:
    if path is None:
        return None
    return figure(samples[Key("installed", "reference", str(path), REFERENCE_PLAYERS)])


def _maybe(values: list[float]) -> Figure | None:
    return figure(values) if values else None


def _ratio(ours: list[float], theirs: list[float]) -> Figure | None:
    return quotient(ours, theirs) if theirs else None
