"""Look for bytes that harm who reads them: ``python -m bench.fuzz``, guided by coverage.

Each target of ``tests/fuzz`` gets the same time, in a process of its own. What reaches code that
nothing kept has reached is added to the corpus; bytes that make a target fail are kept there, too,
and the tests fail until it is mended. This needs atheris: ``pip install atheris``.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tests.fuzz.targets import CORPUS, TARGETS

from bench.keeping import day_and_machine, keep

LARGEST_FILE: Final = 4096  # bytes that are worth keeping in the repository
MOST_KEPT: Final = 12  # new files of a target in one run: the smallest
RUNS: Final = re.compile(r"Done (\d+) runs in (\d+) second")
RUN: Final = """
import sys, atheris
ours = ["keltis_bots", "keltis_engine", "keltis_ladder", "keltis_server"]
with atheris.instrument_imports(include=ours):
    from tests.fuzz.targets import TARGETS
target = TARGETS[sys.argv.pop(1)]
atheris.Setup(sys.argv, target)
atheris.Fuzz()
"""


@dataclass(frozen=True)
class Outcome:
    """What came of a target."""

    target: str
    runs: int
    seconds: int
    kept: int
    failure: str  # the last words, if it failed


def fuzz(target: str, seconds: int, root: Path) -> Outcome:
    """Run one target; keep what it found."""
    corpus = CORPUS / target
    with tempfile.TemporaryDirectory(prefix="keltis-fuzz-") as name:
        found, failed = Path(name, "found"), Path(name, "failed-")
        found.mkdir()
        command = [sys.executable, "-c", RUN, target, str(found), str(corpus)]
        limits = [f"-max_total_time={seconds}", f"-max_len={LARGEST_FILE}", "-rss_limit_mb=2048"]
        done = subprocess.run(
            [*command, *limits, "-timeout=30", f"-artifact_prefix={failed}"],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        kept = sorted(found.iterdir(), key=lambda path: path.stat().st_size)[:MOST_KEPT]
        kept += Path(name).glob("failed-*")
        for path in kept:
            (corpus / path.name[:24]).write_bytes(path.read_bytes())
    told = RUNS.search(done.stdout)
    runs, took = (int(told[1]), int(told[2])) if told else (0, 0)
    failure = "" if done.returncode == 0 else done.stdout[-2000:]
    return Outcome(target, runs, took, len(kept), failure)


def page(outcomes: list[Outcome]) -> str:
    """Return the page to keep."""
    lines = [
        "# Bytes that strangers might send",
        "",
        f"{day_and_machine()}. Made by `python -m bench.fuzz`.",
        "",
        "| target | inputs tried | seconds | kept | harm |",
        "|---|--:|--:|--:|---|",
    ]
    lines += [
        f"| {one.target} | {one.runs:,} | {one.seconds} | {one.kept} | "
        f"{'found' if one.failure else 'none'} |"
        for one in outcomes
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for each target")
    parser.add_argument("--target", action="append", choices=[*TARGETS], help="only this one")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    arguments = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        sys.exit("this needs atheris: pip install atheris")
    outcomes = []
    for target in arguments.target or TARGETS:
        outcomes.append(fuzz(target, round(60 * arguments.minutes), Path(__file__).parents[1]))
        print(outcomes[-1], file=sys.stderr, flush=True)
    text = page(outcomes)
    print(text)
    report = {
        "outcomes": [asdict(one) for one in outcomes],
    }
    keep("fuzz", report, text, arguments.machine)
    if any(one.failure for one in outcomes):
        sys.exit("some bytes did harm: they are in the corpus now")


if __name__ == "__main__":
    main()
