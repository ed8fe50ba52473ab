"""What a settled ladder plays in an hour, and whether its ranking suffers.

``python -m bench.matchmaking.pace``

Ladders of bots whose skills are known (as in ``bench.matchmaking.policies``) play until the pace
finds them settled, and then for some simulated hours: once as fast as two referees can, once at
their pace. Compared are the matches of an hour, and how far the ranking agrees with the truth at
its end.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final

from bench.keeping import keep
from bench.matchmaking.ladders import SETTINGS, Ours, kendall, make_world
from keltis_cli.bench.machine import this_machine
from keltis_ladder.run.pace import AT_FULL_PACE, SETTLED_BELOW, Pace, PaceRules, Tempo

SIZES: Final = (8, 50)
MATCH_SECONDS: Final = 3.0  # that a match takes, of which two are played at once
REFEREES: Final = 2
HOURS: Final = 2.0  # that are simulated after the ladder has settled
MOST_MATCHES: Final = 10_000  # matches until it has to be settled
SETTING: Final = SETTINGS[1]


@dataclass(frozen=True)
class Paced:
    """What ladders of one size did; means over ladders."""

    bots: int
    ladders: int
    matches_to_settle: float
    tau_when_settled: float  # Kendall's tau with the truth
    per_hour_before: float
    tau_before: float  # at the end, at full pace
    per_hour_after: float
    tau_after: float


class Clock:
    """The simulated time."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def agreement(driver: Ours, bots: int) -> float:
    """Return how far the ranking agrees with the truth."""
    ratings = [driver.world.rating(bot).mu for bot in range(bots)]
    return kendall(ratings, driver.world.truth())


def settle(driver: Ours) -> int:
    """Play until the pace finds the ladder settled; return after how many matches."""
    pace = Pace()
    for count in range(MOST_MATCHES):
        pace.judge(driver.maker.best_gain(), house_only=False)
        if pace.tempo is Tempo.SETTLED:
            return count
        driver.step()
    raise SystemExit(f"a ladder has not settled in {MOST_MATCHES} matches")


def play_on(driver: Ours, rules: PaceRules) -> int:
    """Play for the simulated hours; return how many matches that were."""
    clock = Clock()
    pace = Pace(rules, clock)
    count = 0
    while clock.time < HOURS * 3600.0:
        pace.judge(driver.maker.best_gain(), house_only=False)
        clock.time += pace.wait()
        pace.begin()
        driver.step()
        count += 1
        clock.time += MATCH_SECONDS / REFEREES
    return count


def measure(bots: int, ladders: int) -> Paced:
    """Let ladders of a size settle, and go on with and without the pace."""
    rows = []
    for number in range(ladders):
        row: list[float] = []
        for rules in (AT_FULL_PACE, PaceRules()):
            driver = Ours(SETTING, make_world(SETTING, number, bots), number, bots=bots)
            row += [settle(driver), agreement(driver, bots)]
            row += [play_on(driver, rules) / HOURS, agreement(driver, bots)]
        rows.append(row)
    settled, then, fast, tau_fast, _, _, slow, tau_slow = map(
        statistics.fmean, zip(*rows, strict=True)
    )
    return Paced(bots, ladders, settled, then, fast, tau_fast, slow, tau_slow)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.matchmaking.pace", description=__doc__)
    parser.add_argument("--ladders", type=int, default=5, help="of each size (default 5)")
    options = parser.parse_args()
    begin = time.perf_counter()
    found = [measure(bots, options.ladders) for bots in SIZES]
    machine, now = this_machine(), datetime.now(UTC)
    seconds = round(time.perf_counter() - begin)
    how = (
        f"{machine.cpu}, {machine.python}. "
        f"`python -m bench.matchmaking.pace --ladders {options.ladders}`, {seconds} s. "
        f"A match takes {MATCH_SECONDS:g} s of simulated time, {REFEREES} are played "
        f"at once, for {HOURS:g} hours after the ladder has settled (gain below "
        f"{SETTLED_BELOW:g}). Means of {options.ladders} ladders; tau is Kendall's with the truth."
    )
    lines = [
        f"# Pace, {now:%Y-%m-%d}",
        "",
        how,
        "",
        "| bots | matches until settled | tau then | an hour before | tau | an hour now | tau |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {each.bots} | {each.matches_to_settle:.0f} | {each.tau_when_settled:.3f} "
            f"| {each.per_hour_before:.0f} | {each.tau_before:.3f} "
            f"| {each.per_hour_after:.0f} | {each.tau_after:.3f} |"
            for each in found
        ),
    ]
    text = "\n".join(lines) + "\n"
    document = {
        "seconds": seconds,
        "settled_below": SETTLED_BELOW,
        "match_seconds": MATCH_SECONDS,
        "referees": REFEREES,
        "hours": HOURS,
        "sizes": [asdict(each) for each in found],
    }
    keep("pace", document, text)
    print(text)


if __name__ == "__main__":
    os.nice(5)
    main()
