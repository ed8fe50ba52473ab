"""The score while a match goes on: a bar in a terminal, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final

from rich import progress

from keltis_cli.bots.matchup import Matchup, Outcome
from keltis_cli.draw.estimates import short_elo
from keltis_cli.draw.look import console
from keltis_ladder.stats.tally import TWO

EVERY: Final = 0.1  # seconds between two changes of the score: more nobody can read
LINE_EVERY: Final = 10.0  # seconds between two lines where there is no terminal
NAME: Final = 10  # cells for a name among three or four


class Progress:
    """Shows how it stands, on the error output."""

    def __init__(self, plan: Matchup) -> None:
        self.plan = plan
        errors = console(stderr=True)
        self.live = errors.is_terminal
        self.bar = progress.Progress(
            progress.BarColumn(bar_width=16),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.description}"),
            progress.TimeRemainingColumn(compact=True),
            console=errors,
            transient=True,
            disable=not self.live,
        )
        self.task = self.bar.add_task("starting", total=plan.matches)
        self.shown = time.monotonic()

    def __enter__(self) -> Progress:
        """Begin to show."""
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        self.bar.stop()

    def show(self, outcome: Outcome) -> None:
        """Show the score after a match, if it is time to."""
        now = time.monotonic()
        if now - self.shown < (EVERY if self.live else LINE_EVERY):
            return
        self.shown = now
        matches = outcome.tally.matches
        if self.live:
            self.bar.update(self.task, completed=matches, description=standing(outcome))
        else:
            print(f"{matches}/{self.plan.matches}  {standing(outcome)}", file=sys.stderr)


def standing(outcome: Outcome) -> str:
    """Return the score in a few words."""
    tally = outcome.tally
    faults = sum(tally.faults.values())
    parts = []
    if tally.players == TWO:
        duel = tally.duel(0, 1)
        parts += [f"+{duel.wins} ={duel.draws} -{duel.losses}", f"Elo {short_elo(duel.elo)}"]
    else:
        parts += [
            f"{name[:NAME]} {tally.share(entrant).value:.0%}"
            for entrant, name in enumerate(tally.names)
        ]
    if outcome.sprt:
        parts.append(f"LLR {outcome.sprt.ratio:+.2f} of ±{outcome.sprt.upper:.2f}")
    if faults:
        parts.append(f"{faults} {'fault' if faults == 1 else 'faults'}")
    return "  ".join(parts)
