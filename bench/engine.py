"""Measure the engine and keep the result: ``python -m bench.engine``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from bench.keeping import write
from keltis_cli.bench import engine_report
from keltis_cli.bench.engine import measure
from keltis_cli.draw.look import console


def main() -> None:
    options = parse()
    report = measure(options.quick, options.reference)
    engine_report.show(report, console())
    if options.quick:
        print("\nNothing was written: the figures of a quick run are not worth keeping.")
        return
    name = f"engine-{report.date:%Y-%m-%d}-{options.machine or report.machine.slug}"
    write(name, report.as_json(), engine_report.markdown(report))
    print(f"\nWritten: bench/results/{name}.json and .md")


def parse() -> argparse.Namespace:
    reference = os.environ.get("KELTIS_BENCH_REFERENCE")
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a try of a few seconds")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="FILE",
        default=Path(reference) if reference else None,
        help="a module with games(n, seed, count) that scales the goals in decisions per second; "
        "without it, KELTIS_BENCH_REFERENCE",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
