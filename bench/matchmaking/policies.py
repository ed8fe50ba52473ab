"""How soon a ladder knows its ranking: ``python -m bench.matchmaking.policies``.

Ladders of 50 bots whose skills are known, with outcomes drawn from what the rating model assumes,
are filled with matches by three matchmakers: ours, one that draws tables at random, and one that
seats a random bot with those of the nearest ratings. All keep to the same shares of variants and
numbers of players. Counted are the matches until the ranking by rating agrees with the true one
(Kendall's tau of 0.9 at a look after every ten matches) and does so at the next five looks, too.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final

from bench.keeping import keep, table
from bench.matchmaking.ladders import (
    BOTS,
    BUSY,
    DEVIATION,
    NEAREST,
    OURS,
    RANDOM,
    REFEREES,
    SEED,
    SETTINGS,
    Driver,
    Setting,
    World,
    kendall,
    make_driver,
    make_world,
)
from keltis_cli.bench.machine import this_machine
from keltis_ladder.matchmaking import Category, Contender, History, Matchmaker, category_of
from keltis_ladder.ratings.model import MODEL_VERSION, MU, NOISE, SIGMA, TAU
from keltis_ladder.ratings.scopes import ANY, OVERALL, Scope
from keltis_ladder.ratings.skill import Belief

AGREEMENT: Final = 0.9  # Kendall's tau
LOOK: Final = 10  # matches between two looks at the ranking
STAY: Final = 5  # more looks at which it has to be right
MOST_MATCHES: Final = 6000  # matches of a ladder
RESAMPLES: Final = 2000
GOAL: Final = 0.6  # of the matches that random tables take
LONG: Final = 1000  # matches of the long run, and before the newcomer
PLACES: Final = 2  # how near to its true place a newcomer has to come
STAY_NEAR: Final = 5  # more matches of its own after which it has to be there
MOST_OWN: Final = 150  # matches of its own


def settle(driver: Driver) -> int | None:
    """Return after how many matches the ranking is right and stays so; none if never."""
    world = driver.world
    truth = world.truth()
    right = 0
    for match in range(1, MOST_MATCHES + 1):
        driver.step()
        if match % LOOK == 0:
            ratings = [world.rating(bot).mu for bot in range(BOTS)]
            right = right + 1 if kendall(ratings, truth) >= AGREEMENT else 0
            if right == 1 + STAY:
                return match - STAY * LOOK
    return None


def overconfidence(world: World) -> float:
    """Return how often the squared errors of the ratings hold what their sigmas claim."""
    truth = world.truth()
    errors = [world.rating(bot).mu - truth[bot] for bot in range(BOTS)]
    # Only differences are ever measured, so the common level does not count.
    level = statistics.fmean(errors)
    claimed = sum(world.rating(bot).sigma ** 2 for bot in range(BOTS))
    return sum((error - level) ** 2 for error in errors) / claimed


@dataclass(frozen=True)
class Settled:
    """How many matches a matchmaker's ladders took."""

    setting: str
    kind: str
    ladders: int
    median: float
    quartiles: tuple[float, float]
    never: int  # ladders whose ranking was not right in time; they count with all their matches
    ratio: float  # of the median to that of random tables
    interval: tuple[float, float]  # 95 %
    overconfidence: float  # squared error over claimed variance, once the ranking is right


def measure_settling(setting: Setting, ladders: int) -> list[Settled]:
    """Run the ladders of a setting with each matchmaker."""
    counts: dict[str, list[int]] = {}
    found = []
    for kind in (RANDOM, NEAREST, OURS, BUSY):
        counts[kind], confidences, never = [], [], 0
        for number in range(ladders):
            driver = make_driver(kind, setting, make_world(setting, number), number)
            count = settle(driver)
            never += count is None
            counts[kind].append(count or MOST_MATCHES)
            confidences.append(overconfidence(driver.world))
            progress(f"{setting.name}: {kind}", number + 1, ladders)
        low, median, high = statistics.quantiles(counts[kind], n=4)
        ratio, interval = ratio_of_medians(counts[kind], counts[RANDOM])
        found.append(
            Settled(
                setting=setting.name,
                kind=kind,
                ladders=ladders,
                median=median,
                quartiles=(low, high),
                never=never,
                ratio=ratio,
                interval=interval,
                overconfidence=statistics.fmean(confidences),
            )
        )
    return found


def ratio_of_medians(
    ours: Sequence[int], theirs: Sequence[int]
) -> tuple[float, tuple[float, float]]:
    """Return the ratio with its 95 % interval; ladders are drawn in pairs, with the same bots."""
    chance = random.Random(SEED)
    pairs = list(zip(ours, theirs, strict=True))

    def ratio(drawn: list[tuple[int, int]]) -> float:
        return statistics.median(a for a, _ in drawn) / statistics.median(b for _, b in drawn)

    ratios = sorted(ratio(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    return ratio(pairs), (ratios[RESAMPLES // 40], ratios[-RESAMPLES // 40 - 1])


@dataclass(frozen=True)
class Manners:
    """How a matchmaker treats everybody in a long run, mean over ladders unless said otherwise."""

    kind: str
    ladders: int
    longest_wait: float  # of anybody in any ladder, in fair shares
    mean_longest_wait: float  # of anybody in a ladder
    fewest_opponents: int  # different ones, of anybody in any ladder
    mean_opponents: float
    fewest_seats: float  # of anybody in a ladder, over the mean
    most_seats: float
    off_share: float  # matches that any category was from its share at any time, at most


def measure_manners(kind: str, setting: Setting, ladders: int) -> Manners:
    """Run ladders for long, and see who sat where."""
    shares = setting.policy.shares(setting.policy.categories())
    fair = BOTS / sum(share * category.players for category, share in shares.items())
    waits, opponents, fewest, most, off = [], [], [], [], 0.0
    for number in range(ladders):
        driver = make_driver(kind, setting, make_world(setting, number), number)
        seated = dict.fromkeys(range(BOTS), 0)
        met = defaultdict[int, set[int]](set)
        seats: Counter[int] = Counter()
        played: Counter[Category] = Counter()
        longest = 0
        for match in range(1, LONG + 1):
            table = driver.step()
            played[category_of(table)] += 1
            off = max(off, *(abs(played[each] - shares[each] * match) for each in shares))
            for bot in table.versions:
                longest = max(longest, match - seated[bot])
                seated[bot] = match
                seats[bot] += 1
                met[bot] |= set(table.versions) - {bot}
        waits.append(max(longest, *(LONG - last for last in seated.values())) / fair)
        opponents += [len(met[bot]) for bot in range(BOTS)]
        fewest.append(min(seats.values()) * BOTS / seats.total())
        most.append(max(seats.values()) * BOTS / seats.total())
        progress(f"long runs: {kind}", number + 1, ladders)
    return Manners(
        kind=kind,
        ladders=ladders,
        longest_wait=max(waits),
        mean_longest_wait=statistics.fmean(waits),
        fewest_opponents=min(opponents),
        mean_opponents=statistics.fmean(opponents),
        fewest_seats=statistics.fmean(fewest),
        most_seats=statistics.fmean(most),
        off_share=off,
    )


@dataclass(frozen=True)
class Newcomer:
    """What becomes of a version that enters a running ladder: medians and ninth deciles."""

    kind: str
    ladders: int
    first: tuple[float, float]  # matches of the ladder until its first one
    placed: tuple[float, float]  # until it has played every variant
    found: tuple[float, float]  # until it is near its true place and stays there
    own: tuple[float, float]  # the same in matches of its own


def measure_newcomer(kind: str, setting: Setting, ladders: int) -> Newcomer:
    """Let one bot more into ladders that have run for a while."""
    found: list[tuple[int, int, int, int]] = []
    for number in range(ladders):
        world = make_world(setting, number, BOTS + 1)
        driver = make_driver(kind, setting, world, number)
        for _ in range(LONG):
            driver.step()
        found.append(follow_newcomer(driver, len(setting.policy.variants)))
        progress(f"newcomers: {kind}", number + 1, ladders)
    columns = [sorted(column) for column in zip(*found, strict=True)]
    ends = [(statistics.median(each), statistics.quantiles(each, n=10)[-1]) for each in columns]
    return Newcomer(kind, ladders, *ends)


def follow_newcomer(driver: Driver, variants: int) -> tuple[int, int, int, int]:
    """Return when a newcomer has played, has been placed, and is near its place, also in its own.

    A newcomer that is not found in time counts with all matches.
    """
    world, truth = driver.world, driver.world.truth()
    true_place = place_of(truth)
    driver.enter(BOTS)
    seen: set[str] = set()
    first = placed = matches = own = near = 0
    began = (0, 0)
    while own < MOST_OWN:
        matches += 1
        table = driver.step()
        if BOTS not in table.versions:
            continue
        own += 1
        first = first or matches
        seen.add(table.variant)
        placed = placed or (matches if len(seen) == variants else 0)
        place = place_of([world.rating(bot).mu for bot in range(BOTS + 1)])
        near = near + 1 if abs(place - true_place) <= PLACES else 0
        if near == 1:
            began = matches, own
        if near == 1 + STAY_NEAR and placed:
            return first, placed, *began
    return first, placed, matches, own


def place_of(strengths: Sequence[float]) -> int:
    """Return how many are stronger than the last one."""
    return sum(strength > strengths[-1] for strength in strengths)


@dataclass(frozen=True)
class Cost:
    """What one proposal costs, in milliseconds of CPU time."""

    versions: int
    median: float
    worst_of_hundred: float
    after_entering: float  # the first one after somebody came or went


def measure_cost(versions: int, proposals: int) -> Cost:
    """Time proposals on a ladder of this size that has settled, with all referees at work."""
    chance = random.Random(SEED)
    maker = Matchmaker(seed=1)
    variants, players = tuple(maker.policy.variants), tuple(maker.policy.players)
    for version in range(versions):
        mu, sigma = chance.gauss(MU, SIGMA), chance.uniform(0.8, 2.0)
        beliefs = {OVERALL: Belief(mu, sigma)}
        beliefs |= {Scope(name, ANY): Belief(mu + chance.gauss(0, 1), 2.0) for name in variants}
        history = History({(name, 2): 9 for name in variants}, last=-chance.randrange(versions))
        contender = Contender(version, version, version, False, variants, players)
        maker.enter(contender, beliefs, history)
    times = []
    for _ in range(proposals):
        begin = time.process_time()
        maker.propose()
        times.append(1e3 * (time.process_time() - begin))
        if len(maker.running) == REFEREES:
            done = maker.running[0]
            learnt = {
                each: {OVERALL: Belief(chance.gauss(MU, SIGMA), 1.0)} for each in done.versions
            }
            maker.finished(done, learnt)
    usual = sorted(times[1:])
    return Cost(versions, statistics.median(usual), usual[len(usual) * 99 // 100], times[0])


def progress(what: str, done: int, of: int) -> None:
    """Show how far a part is."""
    if sys.stderr.isatty() or done == of:
        print(f"\r{what}: {done} of {of}", end="\n" if done == of else "", file=sys.stderr)


def table_of(headings: list[str], rows: list[list[str]]) -> list[str]:
    """Return a table, and the blank line behind it."""
    return [*table(headings, rows), ""]


@dataclass(frozen=True)
class PolicyReport:
    """All that was measured."""

    settled: list[Settled]
    manners: list[Manners]
    newcomers: list[Newcomer]
    costs: list[Cost]

    def markdown(self) -> str:
        """Return the tables."""
        lines = []
        for setting in SETTINGS:
            lines += [f"## Matches until the ranking is right: {setting.name}", ""]
            lines += table_of(
                ["tables", "median", "quartiles", "of random", "95 %", "never", "error² / sigma²"],
                [
                    [
                        each.kind,
                        f"{each.median:.0f}",
                        f"{each.quartiles[0]:.0f} to {each.quartiles[1]:.0f}",
                        f"{each.ratio:.0%}",
                        f"{each.interval[0]:.0%} to {each.interval[1]:.0%}",
                        str(each.never),
                        f"{each.overconfidence:.2f}",
                    ]
                    for each in self.settled
                    if each.setting == setting.name
                ],
            )
        lines += [f"## {LONG:,} matches, {SETTINGS[1].name}", ""]
        lines += table_of(
            ["tables", "longest wait", "in a ladder", "opponents", "fewest", "seats", "off share"],
            [
                [
                    each.kind,
                    f"{each.longest_wait:.1f} fair shares",
                    f"{each.mean_longest_wait:.1f}",
                    f"{each.mean_opponents:.0f} of {BOTS - 1}",
                    str(each.fewest_opponents),
                    f"{each.fewest_seats:.2f} to {each.most_seats:.2f} of the mean",
                    f"{each.off_share:.1f} matches",
                ]
                for each in self.manners
            ],
        )
        lines += [f"## A new version on a ladder of {BOTS} after {LONG:,} matches", ""]
        lines += table_of(
            ["tables", "first match", "every variant played", "near its place", "own matches"],
            [
                [
                    each.kind,
                    *(
                        f"{median:.0f} ({decile:.0f})"
                        for median, decile in (each.first, each.placed, each.found, each.own)
                    ),
                ]
                for each in self.newcomers
            ],
        )
        lines += ["## CPU time of a proposal", ""]
        lines += table_of(
            ["versions", "median", "1 of 100", "after somebody entered"],
            [
                [
                    f"{each.versions:,}",
                    f"{each.median:.1f} ms",
                    f"{each.worst_of_hundred:.1f} ms",
                    f"{each.after_entering:.0f} ms",
                ]
                for each in self.costs
            ],
        )
        return "\n".join(lines)

    def goal(self) -> str:
        """Say whether ours took few enough matches."""
        ours = [each for each in self.settled if each.kind == OURS]
        worst = max(ours, key=lambda each: each.ratio)
        met = "met" if worst.ratio <= GOAL else "missed"
        sure = "surely" if worst.interval[1] <= GOAL else "not beyond doubt"
        return (
            f"Goal: at most {GOAL:.0%} of the matches of random tables. "
            f"{met.capitalize()}, {sure}: {worst.ratio:.0%} ({worst.setting})."
        )


def measure(ladders: int) -> PolicyReport:
    """Measure everything."""
    mixed = SETTINGS[1]
    few = max(2, ladders // 4)
    return PolicyReport(
        settled=[each for setting in SETTINGS for each in measure_settling(setting, ladders)],
        manners=[measure_manners(kind, mixed, few) for kind in (RANDOM, NEAREST, OURS, BUSY)],
        newcomers=[measure_newcomer(kind, mixed, few) for kind in (RANDOM, NEAREST, OURS)],
        costs=[measure_cost(versions, 10 * ladders) for versions in (50, 1000)],
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.matchmaking.policies", description=__doc__
    )
    parser.add_argument("--ladders", type=int, default=200, help="of each setting (default 200)")
    options = parser.parse_args()
    begin = time.perf_counter()
    report = measure(options.ladders)
    machine = this_machine()
    now = datetime.now(UTC)
    text = report.markdown() + "\n" + report.goal() + "\n"
    document = {
        "seconds": round(time.perf_counter() - begin),
        "model": {
            "version": MODEL_VERSION,
            "mu": MU,
            "sigma": SIGMA,
            "tau": TAU,
            "noise": {
                str(Category(*kind)): [noise.beta, noise.draw_probability]
                for kind, noise in NOISE.items()
            },
        },
        "bots": BOTS,
        "agreement": AGREEMENT,
        "deviation": DEVIATION,
        "goal": GOAL,
        **asdict(report),
    }
    head = (
        f"# Matchmaking, {now:%Y-%m-%d}\n\n{machine.cpu}, {machine.python}. `python -m "
        f"bench.matchmaking.policies --ladders {options.ladders}`, {document['seconds']} s. "
        "docs/readers/matchmaking.md says what the columns mean.\n\n"
    )
    keep("matchmaking", document, head + text)
    print(text)


if __name__ == "__main__":
    os.nice(5)
    main()
