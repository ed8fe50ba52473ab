"""How long the starters take to build, in the sandbox and without it: ``make bench-builds``.

A build in the sandbox works in memory, and what it has made comes out as one stream that is
unpacked carefully. Beside it the same command runs in a plain directory on the disk, with nothing
around it. Both begin with no caches of a compiler. Rounds go by turns, and ratios are taken within
a round: of the time on the wall, and of the CPU time, which is worth more on a machine that has
something else to do, where a build in the sandbox gives way. Starters without a build command have
nothing to measure.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bench.keeping import day_and_machine, keep, table
from keltis_bots.manifest import read_manifest
from keltis_cli.bots.init import TESTS, make
from keltis_ladder.programs.builds import build
from keltis_ladder.programs.staging import stage
from keltis_ladder.sandbox.runtimes import find_runtimes
from keltis_ladder.sandbox.sandbox import Sandbox, find_sandbox

Side = Callable[[Path, list[str], Path], None]  # source, command, scratch


class Plain:
    """Builds by the programs that a sandbox shows, but outside of it."""

    def __init__(self) -> None:
        runtimes = find_runtimes(building=True)
        self._environment = {"PATH": runtimes.path, **runtimes.environment}

    def __call__(self, source: Path, command: list[str], scratch: Path) -> None:
        """Build in a plain directory."""
        directory, home = scratch / "bot", scratch / "home"
        shutil.copytree(source, directory)
        home.mkdir()
        environment = {**self._environment, "HOME": str(home)}
        subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True)


class Sandboxed:
    """Builds as a ladder does."""

    def __init__(self) -> None:
        self._sandbox: Sandbox = find_sandbox()

    def __call__(self, source: Path, command: list[str], scratch: Path) -> None:
        """Build in the sandbox."""
        build(stage(source, scratch / "bot"), command, self._sandbox, lambda _: None)


def timed(side: Side, source: Path, command: list[str]) -> tuple[float, float]:
    """Return the seconds and the CPU seconds of one build, the copy of the sources included."""
    with tempfile.TemporaryDirectory(prefix="keltis-builds-") as scratch:
        begin, used = time.perf_counter(), cpu_seconds()
        side(source, command, Path(scratch))
        return time.perf_counter() - begin, cpu_seconds() - used


def cpu_seconds() -> float:
    """Return the CPU time of this process and of all that it has started and that has ended."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def measure(rounds: int) -> dict[str, Any]:
    """Build every starter in turn, so many times on each side."""
    sides: dict[str, Side] = {"plain": Plain(), "sandbox": Sandboxed()}
    taken: dict[str, dict[str, list[tuple[float, float]]]] = {}
    with tempfile.TemporaryDirectory(prefix="keltis-starters-") as name:
        commands: dict[str, list[str]] = {}
        for language in TESTS:
            make(Path(name, language), language, f"{language}-bot")
            commands[language] = list(read_manifest(Path(name, language)).build)
            taken[language] = {side: [] for side in sides}
        for number in range(rounds + 1):  # the first one fills the caches of the machine
            for language, command in commands.items():
                for side in sorted(sides, reverse=number % 2 == 1):
                    if not command:
                        continue
                    wall, cpu = timed(sides[side], Path(name, language), command)
                    words = f"{number} {language} {side}: {wall:.2f} s, {cpu:.2f} s of CPU"
                    print(words, file=sys.stderr, flush=True)
                    if number:
                        taken[language][side].append((round(wall, 3), round(cpu, 3)))
    return {"rounds": rounds, "languages": {name: line(each) for name, each in taken.items()}}


def line(taken: dict[str, list[tuple[float, float]]]) -> dict[str, Any]:
    """Return what was found about a language."""
    found: dict[str, Any] = {"builds": bool(taken["plain"])}
    if not found["builds"]:
        return found
    for number, kind in enumerate(("wall", "cpu")):
        plain, sandbox = ([each[number] for each in taken[side]] for side in ("plain", "sandbox"))
        ratios = [ours / theirs for ours, theirs in zip(sandbox, plain, strict=True)]
        found[kind] = {
            "plain_s": round(median(plain), 2),
            "sandbox_s": round(median(sandbox), 2),
            "ratio": round(median(ratios), 2),
            "ratio_low": round(min(ratios), 2),
            "ratio_high": round(max(ratios), 2),
        }
    return {**found, "all": taken}


def page(found: dict[str, Any]) -> str:
    """Return the page to keep."""
    rows = []
    for language, each in found["languages"].items():
        if not each["builds"]:
            rows.append([language, "nothing to build", "", "", ""])
            continue
        row = [language]
        for kind in ("wall", "cpu"):
            times = each[kind]
            row.append(f"{times['plain_s']} s, {times['sandbox_s']} s")
            row.append(f"{times['ratio']} ({times['ratio_low']} to {times['ratio_high']})")
        rows.append(row)
    made = (
        f"{day_and_machine()}. Made by `python -m bench.server.builds`, {found['rounds']} rounds by"
        f" turns; load before: {found['load_before']}. Each time in a plain directory, then in the"
        " sandbox; medians, ratios within a round with the lowest and the highest."
    )
    headings = ["starter", "on the wall", "ratio", "CPU", "ratio"]
    lines = ["# Builds in the sandbox and without it", "", made, "", *table(headings, rows)]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.builds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    parser.add_argument("--dry-run", action="store_true", help="show, and keep no results")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    found = {"load_before": round(load, 2), **measure(options.rounds)}
    text = page(found)
    print(text)
    if not options.dry_run:
        keep("builds", found, text, options.machine)


if __name__ == "__main__":
    main()
