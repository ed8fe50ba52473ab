"""Run `make test` many times, idle and beside busy processes, and write down what each run said.

    python -m bench.steady [--runs N] [--busy N] [--table FILE] [-- COMMAND...]

Nothing may be unsteady in ten runs in a row: five on an idle machine, five beside four busy
processes. The table is written anew after each run, so that it can be looked at meanwhile; what
the runs printed is kept beside it. Another command than `make test` is for trying this script.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BUSY = "while True: pass"
SUMMARY = re.compile(r"=+ (.*) in [0-9.]+s(?: \([0-9:]+\))? =+")
PART = re.compile(r"([a-z][a-z -]*): ((?:\d+ min )?\d+ s)")
UNSTEADY = "unsteady: "


@dataclass
class Run:
    """One run, and what it said."""

    beside: int  # busy processes
    seconds: float
    code: int
    counts: list[str]  # of each pytest that ran
    parts: dict[str, str]  # the time of each
    unsteady: list[str]

    @property
    def good(self) -> bool:
        """Whether it was green, and every test steady."""
        return self.code == 0 and not self.unsteady


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep the machine busy with so many processes at nice 0."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run(command: list[str], beside: int, log: Path) -> Run:
    """Run the checks once, beside so many busy processes."""
    environment = {k: v for k, v in os.environ.items() if k != "KELTIS_TIMES"}
    with busy_processes(beside), log.open("w", encoding="utf-8") as output:
        begin = time.monotonic()
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, check=False
        )
        seconds = time.monotonic() - begin
    lines = log.read_text("utf-8", "replace").splitlines()
    return Run(
        beside=beside,
        seconds=seconds,
        code=done.returncode,
        counts=[match[1] for line in lines if (match := SUMMARY.fullmatch(line))],
        parts={match[1]: match[2] for line in lines if (match := PART.fullmatch(line))},
        unsteady=[line.removeprefix(UNSTEADY) for line in lines if line.startswith(UNSTEADY)],
    )


def table(runs: list[Run]) -> str:
    """Return the runs as a table, with the names of unsteady tests below."""
    names = list(dict.fromkeys(name for run in runs for name in run.parts))
    head = ["run", "beside", "time", *names, "result", "unsteady"]
    rows = [head, ["---"] * len(head)]
    for number, run in enumerate(runs, 1):
        minutes, seconds = divmod(round(run.seconds), 60)
        result = "; ".join(run.counts) or "no summary"
        rows.append(
            [
                str(number),
                f"{run.beside} busy" if run.beside else "idle",
                f"{minutes} min {seconds} s",
                *(run.parts.get(name, "-") for name in names),
                result if run.code == 0 else f"{result} (exit code {run.code})",
                str(len(run.unsteady)),
            ]
        )
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines += ["", f"{sum(run.good for run in runs)} of {len(runs)} runs were green and steady."]
    for number, run in enumerate(runs, 1):
        lines += [f"- unsteady in run {number}: `{name}`" for name in run.unsteady]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Make all runs; tell by the exit code whether every one was green and steady."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="idle runs, and busy ones")
    parser.add_argument("--busy", type=int, default=4, help="busy processes beside the latter")
    parser.add_argument("--table", type=Path, default=Path("build/steady/table.md"))
    parser.add_argument("command", nargs="*", default=["make", "--no-print-directory", "test"])
    options = parser.parse_args()

    options.table.parent.mkdir(parents=True, exist_ok=True)
    runs: list[Run] = []
    for beside in [0] * options.runs + [options.busy] * options.runs:
        log = options.table.with_name(f"{options.table.stem}-run-{len(runs) + 1}.log")
        runs.append(run(options.command, beside, log))
        options.table.write_text(table(runs), encoding="utf-8")
        print(table(runs), flush=True)
    return 0 if all(run.good for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
