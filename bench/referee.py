"""Measure the referee and keep the result: ``python -m bench.referee``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from keltis_cli import bench_referee_report
from keltis_cli.bench_referee import measure
from keltis_cli.look import console

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.referee", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--games", type=int, default=20_000, help="of the long run")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    options = parser.parse_args()
    report = measure(options.rounds, options.seconds, options.games)
    bench_referee_report.show(report, console())
    name = f"referee-{report.date:%Y-%m-%d}-{options.machine or report.machine.slug}"
    RESULTS.mkdir(exist_ok=True)
    data = json.dumps(report.as_json(), indent=2) + "\n"
    (RESULTS / f"{name}.json").write_text(data, encoding="utf-8")
    page = bench_referee_report.markdown(report)
    (RESULTS / f"{name}.md").write_text(page, encoding="utf-8")
    print(f"\nWritten: bench/results/{name}.json and .md")


if __name__ == "__main__":
    main()
