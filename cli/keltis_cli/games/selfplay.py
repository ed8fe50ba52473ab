"""``selfplay``: let the built-in policies play, and keep the replays."""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated, TextIO

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.draw.look import console
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.draw.tables.aligned import table
from keltis_cli.files import STANDARD, new_file
from keltis_engine import VARIANTS, Rng, Ruleset, State
from keltis_engine.play.policies import Policy
from keltis_engine.records.replay import make_replay


@dataclass
class Tally:
    """What the games of one variant came to."""

    title: str
    games: int = 0
    decisions: int = 0
    seconds: float = 0.0
    scores: list[int] = field(default_factory=list)  # totals by seat
    endings: Counter[str] = field(default_factory=Counter)

    def add(self, state: State, decisions: int) -> None:
        """Count one finished game."""
        self.games += 1
        self.decisions += decisions
        self.endings[str(state.ending)] += 1
        scores = state.scores()
        totals = self.scores or [0] * len(scores)
        self.scores = [total + score for total, score in zip(totals, scores, strict=True)]


def selfplay(
    variant: Annotated[str, arguments.of_variant(f"One of {', '.join(VARIANTS)}, or all.")] = "all",
    players: arguments.PlayersOption = 2,
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="Games per variant.")] = 100,
    seed: Annotated[
        int, typer.Option("--seed", "-s", help="Seed of the first game; each next adds one.")
    ] = 1,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", metavar="NAME", help="random or eager: one for all, or one per seat."
        ),
    ] = None,
    option: arguments.RuleOptions = None,
    out: arguments.ReplaysOption = None,
    force: arguments.ForceOption = False,
) -> None:
    """Play games with the built-in policies, and write replays if asked."""
    rulesets = [
        arguments.ruleset(id, option) for id in (VARIANTS if variant == "all" else [variant])
    ]
    by_seat = arguments.policies(policy, players, "eager")
    for ruleset in rulesets:
        ruleset.deal(players, seed + games - 1)  # refuse before the first game, not after the last
    with ExitStack() as stack:
        file = stack.enter_context(new_file(out, force)) if out else None
        bar = stack.enter_context(ProgressBar(lines=False))
        tallies = []
        for ruleset in rulesets:
            bar.begin(ruleset.id, games)
            tally = Tally(ruleset.id)
            for k in range(games):
                play_one(ruleset, players, seed + k, by_seat, tally, file)
                bar.tell(k + 1)
            tallies.append(tally)
    report = console(stderr=out == STANDARD)
    report.print(summary(tallies, players), soft_wrap=True)
    if out and out != STANDARD:
        done = f"Wrote {out}. Check it with: keltis-ladder replay --verify {out}"
        report.print(done, soft_wrap=True, highlight=False)


def play_one(
    ruleset: Ruleset,
    players: int,
    seed: int,
    policies: list[Policy],
    tally: Tally,
    file: TextIO | None,
) -> None:
    """Play one game, count it, and write its replay."""
    begin = time.perf_counter()
    state = ruleset.deal(players, seed)
    rng = Rng(seed)
    actions = []
    while not state.over:
        action = policies[int(state.seat)](state, rng)
        state.apply(action)
        actions.append(action)
    tally.seconds += time.perf_counter() - begin
    tally.add(state, len(actions))
    if file is not None:
        replay = make_replay(ruleset, players, seed, actions)
        file.write(json.dumps(replay, separators=(",", ":")) + "\n")


def summary(tallies: list[Tally], players: int) -> Text:
    """Return the tables at the end: means over all games, then how the games ended."""
    means = [
        [
            tally.title,
            f"{tally.games:,}",
            f"{tally.games / tally.seconds:,.0f}",
            f"{tally.decisions / tally.games:.1f}",
            *(f"{score / tally.games:.1f}" for score in tally.scores),
        ]
        for tally in tallies
    ]
    ends = [
        [tally.title, ", ".join(f"{name} {count:,}" for name, count in tally.endings.most_common())]
        for tally in tallies
    ]
    seats = [f"seat {seat}" for seat in range(players)]
    first = table(["variant", "games", "games/s", "decisions", *seats], means, left=["variant"])
    second = table(["variant", "ended by"], ends, left=["variant", "ended by"])
    return Text("\n\n").join([first, second])
