"""Measure the referee and keep the result: ``python -m bench.referee``.

With ``--against PYTHON``, the interpreter of another installation of this package, only decisions
per second are measured, of both in turn: what a change of the code costs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from datetime import UTC, datetime

from bench.keeping import day_and_machine, write
from keltis_cli.bench import referee_report
from keltis_cli.bench.machine import this_machine
from keltis_cli.bench.referee import measure
from keltis_cli.draw.look import console

RATE = """
import os, sys
from keltis_cli.bench.referee import _pool_rate
print(_pool_rate(sorted(os.sched_getaffinity(0)), float(sys.argv[1]), int(sys.argv[2]), True))
"""


def rate(python: str, seconds: float, number: int) -> float:
    """Return the decisions per second of an installation."""
    command = [python, "-c", RATE, str(seconds), str(number)]
    # Elsewhere: here Python would find the sources before what is installed.
    done = subprocess.run(command, cwd="/", check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def compare(python: str, rounds: int, seconds: float) -> str:
    """Return a page on how many decisions per second we make, and the other one does."""
    pairs = []
    for number in range(rounds):
        # Whoever is first in a round is second in the next.
        order = (sys.executable, python) if number % 2 else (python, sys.executable)
        rates = {each: rate(each, seconds, number) for each in order}
        pairs.append((rates[python], rates[sys.executable]))
        print(f"{pairs[-1][0]:,.0f} to {pairs[-1][1]:,.0f}", file=sys.stderr, flush=True)
    other, ours = (statistics.median(each) for each in zip(*pairs, strict=True))
    low, middle, high = statistics.quantiles((b / a for a, b in pairs), n=4)
    lines = [
        "# Decisions per second, compared with another version",
        "",
        f"{day_and_machine()}. Made by `python -m",
        f"bench.referee --against`: {rounds} rounds, in each both versions for {seconds:g} s.",
        "",
        "| | asked decisions/s |",
        "|---|--:|",
        f"| the other version | {other:,.0f} |",
        f"| this one | {ours:,.0f} |",
        f"| ratio, median of the rounds | {middle:.3f} |",
        f"| its quartiles | {low:.3f} to {high:.3f} |",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.referee", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--games", type=int, default=20_000, help="of the long run")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    parser.add_argument("--against", metavar="PYTHON", help="measure another version in turn")
    options = parser.parse_args()
    if options.against:
        page = compare(options.against, options.rounds, options.seconds)
        print(page)
        slug = options.machine or this_machine().slug
        name = f"referee-versions-{datetime.now(UTC):%Y-%m-%d}-{slug}"
        write(name, None, page)
        return
    report = measure(options.rounds, options.seconds, options.games)
    referee_report.show(report, console())
    name = f"referee-{report.date:%Y-%m-%d}-{options.machine or report.machine.slug}"
    write(name, report.as_json(), referee_report.markdown(report))
    print(f"\nWritten: bench/results/{name}.json and .md")


if __name__ == "__main__":
    main()
