"""Look for bytes that harm who reads them: ``python -m bench.fuzz``, guided by coverage.

Each target of ``tests/fuzz`` gets the same time, in a process of its own. What reaches code that
nothing kept has reached is added to the corpus; bytes that make a target fail are kept there, too,
and the tests fail until it is mended. What was done is written to ``bench/results``. This needs
atheris: ``pip install atheris``.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tests.fuzz.targets import CORPUS, TARGETS

from bench.keeping import day_and_machine, keep, table

LARGEST_FILE: Final = 4096  # bytes that are worth keeping in the repository
MOST_KEPT: Final = 12  # new files of a target in one run: the smallest
RUNS: Final = re.compile(r"^#(\d+)\t", re.MULTILINE)  # libFuzzer's lines: the inputs until then
COVERED: Final = re.compile(r"^#\d+\t.* cov: (\d+) ", re.MULTILINE)  # the first one: the corpus
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
    corpus: int  # files that it began with
    found: int  # inputs that reached code which nothing before them had reached
    kept: int  # of these, in the corpus from now on
    covered_before: int  # places in the code that the corpus reaches
    covered: int  # that were reached in the end
    failure: str  # the last words, if it failed


def fuzz(target: str, seconds: int, root: Path, dry_run: bool) -> Outcome:
    """Run one target; keep what it found. Bytes that do harm are kept in any case."""
    corpus = CORPUS / target
    begun_with = len(list(corpus.iterdir()))
    with tempfile.TemporaryDirectory(prefix="keltis-fuzz-") as name:
        found, failed = Path(name, "found"), Path(name, "failed-")
        found.mkdir()
        command = [sys.executable, "-c", RUN, target, str(found), str(corpus)]
        limits = [f"-max_total_time={seconds}", f"-max_len={LARGEST_FILE}", "-rss_limit_mb=2048"]
        begin = time.monotonic()
        done = subprocess.run(
            [*command, *limits, "-timeout=30", f"-artifact_prefix={failed}"],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        took = round(time.monotonic() - begin)
        new = sorted(found.iterdir(), key=lambda path: path.stat().st_size)
        kept = [] if dry_run else new[:MOST_KEPT]
        for path in [*kept, *Path(name).glob("failed-*")]:
            (corpus / path.name[:24]).write_bytes(path.read_bytes())
    runs, covered = ([int(n) for n in each.findall(done.stdout)] or [0] for each in (RUNS, COVERED))
    failure = "" if done.returncode == 0 else done.stdout[-2000:]
    return Outcome(
        target=target,
        runs=max(runs),
        seconds=took,
        corpus=begun_with,
        found=len(new),
        kept=len(kept),
        covered_before=covered[0],
        covered=covered[-1],
        failure=failure,
    )


def page(outcomes: list[Outcome]) -> str:
    """Return the page to keep."""
    runs, seconds = sum(one.runs for one in outcomes), sum(one.seconds for one in outcomes)
    harmful = [one.target for one in outcomes if one.failure]
    rows = (
        [
            one.target,
            f"{one.seconds:,}",
            f"{one.runs:,}",
            f"{one.covered_before:,}",
            f"{one.covered:,}",
            f"{one.corpus:,}",
            f"{one.found:,}",
            f"{one.kept:,}",
            "**found**" if one.failure else "none",
        ]
        for one in outcomes
    )
    made = (
        f"{day_and_machine()}. Made by `python -m bench.fuzz`: {runs:,} inputs in"
        f" {seconds / 60:.0f} minutes, guided by coverage. Harm: {', '.join(harmful) or 'none'}."
    )
    explained = (
        "*Reached* counts places in our code, by the corpus before and by all inputs in the end;"
        " *found* are new inputs that reached another one, of which the smallest are kept."
    )
    headings = ["target", "seconds", "inputs tried", "reached before", "reached", "corpus"]
    headings += ["found", "kept", "harm"]
    lines = ["# Bytes that strangers might send", "", made, "", explained, ""]
    return "\n".join([*lines, *table(headings, rows)]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for each target")
    parser.add_argument("--target", action="append", choices=[*TARGETS], help="only this one")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    parser.add_argument("--dry-run", action="store_true", help="show, and keep no results")
    arguments = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        sys.exit("this needs atheris: pip install atheris")
    outcomes = []
    for target in arguments.target or TARGETS:
        seconds, root = round(60 * arguments.minutes), Path(__file__).parents[1]
        outcomes.append(fuzz(target, seconds, root, arguments.dry_run))
        print(outcomes[-1], file=sys.stderr, flush=True)
    text = page(outcomes)
    print(text)
    if not arguments.dry_run:
        report = {"outcomes": [asdict(one) for one in outcomes]}
        keep("fuzz", report, text, arguments.machine)
    if any(one.failure for one in outcomes):
        sys.exit("some bytes did harm: they are in the corpus now")


if __name__ == "__main__":
    main()
