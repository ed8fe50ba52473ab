"""Whether load makes a bot weaker: ``python -m bench.clock.load_strength``.

``search`` meets itself. The referee and the bots of one side, *calm*, have a core; the bots of the
other side, *crowded*, have another one together with busy processes that take half of it (one) or
more. All else is as on the ladder: the sandbox, duplicate deals, the clock. If the clock charges
only what a bot used, and the bot's budget counts the same, both sides think for the same CPU time
per decision and win equally often. With ``--busy 0`` it measures the set-up itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Final

from bench.keeping import day_and_machine, keep, table
from keltis_engine import VARIANTS, find_variant
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant, built_in
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import seed_of_match
from keltis_ladder.programs.launchers import NO_FILES
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox.child import Child
from keltis_ladder.sandbox.limits import Limits
from keltis_ladder.sandbox.prctl import adopt_orphans
from keltis_ladder.sandbox.sandbox import Sandbox, find_sandbox
from keltis_ladder.stats.statistics import EVEN
from keltis_ladder.stats.tally import Tally

SEED: Final = 43
MOST_TRIES: Final = 3  # of a match, after faults of the platform
CALM: Final = "calm"
CROWDED: Final = "crowded"
BUSY: Final = """
import os, sys
from keltis_ladder.sandbox.prctl import die_with_parent
die_with_parent(int(sys.argv[1]))
os.sched_setaffinity(0, {int(sys.argv[2])})
print(flush=True)
while True: pass
"""


class CrowdedLauncher:
    """Starts the bots of one side on another core than the referee's."""

    def __init__(self, sandbox: Sandbox, core: int) -> None:
        adopt_orphans()
        self.sandbox = sandbox
        self.core = core

    def start(self, entrant: Entrant, limits: Limits) -> Child:
        """Start one process of a bot."""
        core = self.core if entrant.name == CROWDED else None
        return self.sandbox.launch(entrant.command, NO_FILES, {}, limits, cpu=core)


@contextmanager
def busy(core: int, count: int) -> Iterator[None]:
    """Have so many processes compute on a core all the time."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", BUSY, str(os.getpid()), str(core)],
            stdout=subprocess.PIPE,
            start_new_session=True,  # as bots: the kernel shares a core among sessions
        )
        for _ in range(count)
    ]
    try:
        for process in processes:
            assert process.stdout
            process.stdout.readline()
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@dataclass(frozen=True)
class Comparison:
    """How the crowded side did against the calm one."""

    variant: str
    busy: int
    matches: int
    share: float  # of the wins, of the crowded side
    low: float
    high: float
    lead: float  # points per game
    cpu_ms: tuple[float, float]  # per decision, crowded and calm
    wall_ms: tuple[float, float]
    faults: tuple[int, int]
    platform_faults: int

    @property
    def is_equal(self) -> bool:
        """Whether an even share is within the interval, and nobody lost by a fault."""
        return self.low <= EVEN <= self.high and not any(self.faults)


def compare(
    variant: str, busy_count: int, matches: int, control: TimeControl, options: dict[str, int]
) -> Comparison:
    """Play the matches, the referee on the first of our cores and the crowd on the last."""
    first, *_, last = sorted(os.sched_getaffinity(0))
    entrants = [replace(built_in("search"), name=name, key=name) for name in (CROWDED, CALM)]
    tally = Tally([CROWDED, CALM])
    ruleset = find_variant(variant, options)
    referee = Referee(CrowdedLauncher(find_sandbox(), last), control)
    cores = os.sched_getaffinity(0)
    platform_faults = 0
    try:
        with busy(last, busy_count):
            os.sched_setaffinity(0, {first})
            for number in range(matches):
                for _ in range(MOST_TRIES):
                    try:
                        seed = seed_of_match(SEED, number)
                        tally.add(referee.play_match(ruleset, seed, entrants))
                        break
                    except PlatformFault as fault:
                        platform_faults += 1
                        print(f"match {number}: {fault}", file=sys.stderr, flush=True)
    finally:
        referee.close()
        os.sched_setaffinity(0, cores)
    share, lead = tally.share(0), tally.lead()
    crowded, calm = tally.efforts
    return Comparison(
        variant=variant,
        busy=busy_count,
        matches=tally.matches,
        share=share.value,
        low=share.low,
        high=share.high,
        lead=lead.value,
        cpu_ms=(1000 * crowded.cpu / crowded.asked, 1000 * calm.cpu / calm.asked),
        wall_ms=(1000 * crowded.wall / crowded.asked, 1000 * calm.wall / calm.asked),
        faults=(tally.faults_of(0), tally.faults_of(1)),
        platform_faults=platform_faults,
    )


def markdown(comparisons: list[Comparison]) -> str:
    """Return the page to keep."""
    headings = ["variant", "busy beside it", "matches", "share of wins", "95 %", "points"]
    headings += ["CPU ms per decision", "of the calm side", "wall ms", "faults", "equal"]
    lines = [
        "# search against itself, one side on a crowded core",
        "",
        f"{day_and_machine()}. Made by `python -m bench.clock.load_strength`: all figures are",
        "those of the crowded side, which has its core together with busy processes.",
        "",
    ]
    rows = []
    for one in comparisons:
        cells = [one.variant, str(one.busy), str(one.matches), f"{one.share:.1%}"]
        cells += [f"{one.low:.1%} to {one.high:.1%}", f"{one.lead:+.1f}"]
        cells += [f"{one.cpu_ms[0]:.1f}", f"{one.cpu_ms[1]:.1f}"]
        cells += [f"{one.wall_ms[0]:.1f} to {one.wall_ms[1]:.1f}"]
        cells += [f"{one.faults[0]} to {one.faults[1]}", "yes" if one.is_equal else "no"]
        rows.append(cells)
    return "\n".join([*lines, *table(headings, rows)]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.clock.load_strength", description=__doc__
    )
    parser.add_argument("--matches", type=int, default=200, help="in each variant")
    parser.add_argument("--variant", action="append", choices=[*VARIANTS], help="only this one")
    parser.add_argument("--busy", type=int, default=1, help="processes beside the crowded side")
    parser.add_argument("--quick", action="store_true", help="a few short games; keep no results")
    parser.add_argument("--machine", metavar="NAME", help="the machine's name in the file names")
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) == 1:
        sys.exit("this needs two cores: one for the calm side, one for the crowded one")
    matches, control, options = arguments.matches, TimeControl(), {}
    if arguments.quick:
        matches, control, options = 3, TimeControl(bank_ms=500, increment_ms=10), {"turn_limit": 12}
    comparisons = []
    for variant in arguments.variant or [*VARIANTS]:
        comparisons.append(compare(variant, arguments.busy, matches, control, options))
        print(comparisons[-1], file=sys.stderr, flush=True)
    page = markdown(comparisons)
    print(page)
    if not arguments.quick:
        report = {
            "comparisons": [asdict(one) for one in comparisons],
        }
        keep("load-strength", report, page, arguments.machine)
    if not all(one.is_equal for one in comparisons):
        sys.exit("the crowded side was not equal")


if __name__ == "__main__":
    main()
