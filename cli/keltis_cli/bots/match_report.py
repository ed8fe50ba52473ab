"""The report of a match: who won, by how much, and how surely."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from rich.text import Text

from keltis_cli.bots.matchup import Matchup, Outcome
from keltis_cli.draw.estimates import between, percent, percents, short_elo, surely
from keltis_cli.draw.look import QUIET, TITLE
from keltis_cli.draw.tables.aligned import table
from keltis_ladder.stats.sprt import FEWEST_MATCHES, Sprt
from keltis_ladder.stats.statistics import Estimate
from keltis_ladder.stats.tally import TWO, Tally

SPENT: Final = ["ms each", "slowest", "faults"]
INTERVAL: Final = "95 % interval"
WINS_OF_TWO: Final = ("0", "½", "1", "1½", "2")  # a match of two bots has two games


def report(plan: Matchup, outcome: Outcome) -> Text:
    """Return the whole report."""
    tally = outcome.tally
    if not tally.matches:
        return Text("No match was finished.")
    parts = [head(plan, outcome)]
    if tally.players == TWO:
        parts += [two_bots(tally), comparison(tally)]
    else:
        parts += [more_bots(tally), pairs(tally)]
    if outcome.sprt:
        parts.append(test(outcome.sprt, tally.names))
    parts.append(games(tally))
    return Text("\n\n").join(parts)


def head(plan: Matchup, outcome: Outcome) -> Text:
    """Say what was played, and whether it was to be more."""
    tally, control = outcome.tally, plan.control
    options = ", ".join(f"{name}={value}" for name, value in plan.ruleset.options.items())
    title = Text(f"{plan.ruleset.id}: {' v '.join(tally.names)}", TITLE)
    matches = "1 match" if tally.matches == 1 else f"{tally.matches:,} matches"
    if outcome.stopped in ("interrupt", "platform"):
        matches = f"{tally.matches:,} of {plan.matches:,} matches, then aborted"
    lines = [
        f"{matches}, {tally.games:,} games in {outcome.seconds:.1f} s",
        f"seed {plan.seed}, {options}, clock {control.bank_ms} + {control.increment_ms} ms"
        + ("" if plan.sandboxed else ", no sandbox"),
    ]
    return Text("\n").join([title, *(Text(line, QUIET) for line in lines)])


def two_bots(tally: Tally) -> Text:
    """Return the table of two bots: matches, points, and what they spent."""
    rows = []
    for entrant, name in enumerate(tally.names):
        duel = tally.duel(entrant, 1 - entrant)
        rows.append(
            [
                name,
                f"{duel.wins:,}",
                f"{duel.draws:,}",
                f"{duel.losses:,}",
                percent(tally.share(entrant).value),
                f"{tally.mean_points(entrant).value:.1f}",
                *spent(tally, entrant),
            ]
        )
    headings = ["matches", "won", "drawn", "lost", "games won", "points", *SPENT]
    return table(headings, rows, left=["matches"])


def more_bots(tally: Tally) -> Text:
    """Return the table of three or four bots."""
    rows = []
    for entrant, name in enumerate(tally.names):
        share = tally.share(entrant)
        rows.append(
            [
                name,
                percent(share.value),
                percents(share),
                f"{tally.mean_rank(entrant):.2f}",
                f"{tally.mean_points(entrant).value:.1f}",
                *spent(tally, entrant),
            ]
        )
    headings = ["bot", "games won", INTERVAL, "rank", "points", *SPENT]
    return table(headings, rows, left=["bot"])


def spent(tally: Tally, entrant: int) -> list[str]:
    """Return the time for a decision, the longest one, and the faults."""
    effort = tally.efforts[entrant]
    mean = effort.wall / effort.asked * 1000 if effort.asked else 0.0
    return [f"{mean:.1f}", f"{effort.longest * 1000:.0f} ms", f"{tally.faults_of(entrant):,}"]


def comparison(tally: Tally) -> Text:
    """Say what the matches prove about two bots."""
    one, other = tally.names
    duel, lead, share = tally.duel(0, 1), tally.lead(), tally.share(0)
    heading = f"{one} against {other}"
    rows = [
        ["Elo difference", _elo(duel.elo), between(duel.elo, "+z.0f")],
        ["games won", percent(share.value), percents(share)],
        ["points per game", f"{lead.value:+z.1f}", between(lead, "+z.1f")],
    ]
    if duel.wins + duel.losses:
        rows.append(["decided matches won", percent(duel.rate.value), percents(duel.rate)])
    rows.append(["stronger at all (LOS)", surely(duel.superiority), ""])
    outcomes = zip(WINS_OF_TWO, tally.outcomes().values(), strict=True)
    counts = ", ".join(f"{wins}: {count:,}" for wins, count in outcomes)
    return Text("\n").join(
        [
            table([heading, "", INTERVAL], rows, left=[heading]),
            Text(f"matches by the games that {one} won of two: {counts}", QUIET),
        ]
    )


def pairs(tally: Tally) -> Text:
    """Say for each two of three or four bots who came out ahead."""
    rows = []
    for one in range(tally.players):
        for other in range(one + 1, tally.players):
            duel = tally.duel(one, other)
            rows.append(
                [
                    f"{tally.names[one]} v {tally.names[other]}",
                    f"{duel.wins:,}",
                    f"{duel.draws:,}",
                    f"{duel.losses:,}",
                    short_elo(duel.elo),
                    surely(duel.superiority),
                ]
            )
    headings = ["ahead of each other", "ahead", "level", "behind", "Elo", "stronger"]
    return table(headings, rows, left=["ahead of each other"])


def test(sprt: Sprt, names: list[str]) -> Text:
    """Say what the sequential test found."""
    claims = sprt.hypotheses
    one, other = names
    answers = {
        "H1": f"Yes: {one} is stronger than {other}.",
        "H0": f"No: {one} is not stronger than {other}, not by {claims.elo1:g} Elo.",
        None: "Not clear yet: play more matches.",
    }
    state = f"LLR {sprt.ratio:+.2f}, decided at {sprt.lower:.2f} and {sprt.upper:+.2f}"
    if sprt.matches < FEWEST_MATCHES:
        state += f", from {FEWEST_MATCHES} matches on"
    question = f"sequential test: {claims.elo0:g} Elo at most, or {claims.elo1:g} at least?"
    return Text("\n").join(
        [Text(question, QUIET), Text(answers[sprt.verdict], TITLE), Text(state, QUIET)]
    )


def games(tally: Tally) -> Text:
    """Say who won from which seat, how games ended, and what faults there were."""
    seats = ", ".join(
        f"seat {seat} {percent(float(wins) / tally.games)}"
        for seat, wins in enumerate(tally.seat_wins)
    )
    endings = ", ".join(f"{name} {count:,}" for name, count in tally.endings.most_common())
    faults: Counter[str] = Counter()
    for (entrant, kind, code), count in tally.faults.items():
        faults[f"{tally.names[entrant]} {kind}/{code}"] += count
    rows = [["wins by seat", seats], ["ended by", endings]]
    rows += [
        ["" if k else "faults", f"{what} {count:,}"]
        for k, (what, count) in enumerate(faults.most_common())
    ]
    return table(["games", ""], rows, left=["games", ""])


def _elo(elo: Estimate) -> str:
    return "" if math.isinf(elo.value) else f"{elo.value:+z.0f}"
