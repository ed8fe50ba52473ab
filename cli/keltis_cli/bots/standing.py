"""The score of a match that goes on, in a few words."""

from __future__ import annotations

from typing import Final

from keltis_cli.bots.matchup import Outcome
from keltis_cli.draw.estimates import short_elo
from keltis_ladder.stats.tally import TWO

NAME_WIDTH: Final = 10  # cells for a name among three or four


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
            f"{name[:NAME_WIDTH]} {tally.share(entrant).value:.0%}"
            for entrant, name in enumerate(tally.names)
        ]
    if outcome.sprt:
        parts.append(f"LLR {outcome.sprt.ratio:+.2f} of ±{outcome.sprt.upper:.2f}")
    if faults:
        parts.append(f"{faults} {'fault' if faults == 1 else 'faults'}")
    return "  ".join(parts)
