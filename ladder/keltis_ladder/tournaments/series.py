"""A pairing of an elimination: best of a number of matches, and who is ahead after them.

Ruling: matches are played until nobody can catch the first any more. If the first are level after
all of them, up to ``EXTRA_LEGS`` more are played by the whole table, one at a time, and count only
among those who are still level. What is level even then is decided by win shares over all matches,
then by points, by fewer faults, and finally by the better seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from keltis_ladder.tournaments.pairings import WIN, LegResult, leg_scores

EXTRA_LEGS: Final = 2
Known = Mapping[int, LegResult | None]  # by number; None is a match that counts for nobody


def fewest_legs(matches: int) -> int:
    """Return after how many matches a pairing can be decided at the earliest."""
    return matches // 2 + 1


def series_due(players: int, matches: int, known: Known) -> list[int]:
    """Return the matches that are needed in any case; none if the pairing is decided.

    They can be played at the same time: even if the first wins them all, none is one too many.
    """
    regular = [number for number in range(1, matches + 1) if number not in known]
    scores = series_scores(players, matches, known)
    best, second = sorted(scores, reverse=True)[:2]
    if best - second > WIN * len(regular):
        return []
    if regular:
        # After k more the lead is at most best - second + k wins, and the rest must be less.
        certain = (WIN * len(regular) - (best - second)) // (2 * WIN) + 1
        return regular[:certain]
    level = [entrant for entrant in range(players) if scores[entrant] == best]
    for number in range(matches + 1, matches + EXTRA_LEGS + 1):
        if len(level) == 1:
            return []
        if number not in known:
            return [number]
        extra = known[number]
        if extra is not None:
            top = min(extra.ranks[entrant] for entrant in level)
            level = [entrant for entrant in level if extra.ranks[entrant] == top]
    return []


def series_scores(players: int, matches: int, known: Known) -> list[int]:
    """Return the scores over the regular matches, in twelfths of a win."""
    totals = [0] * players
    for number in range(1, matches + 1):
        result = known.get(number)
        if result is not None:
            for entrant, score in enumerate(leg_scores(result.ranks)):
                totals[entrant] += score
    return totals


def series_order(entrants: tuple[int, ...], matches: int, known: Known) -> list[int]:
    """Return the entrants of a decided pairing, the winner first."""
    players = len(entrants)
    scores = series_scores(players, matches, known)
    played = [result for result in known.values() if result is not None]
    extras = [
        result
        for number in range(matches + 1, matches + EXTRA_LEGS + 1)
        if (result := known.get(number)) is not None
    ]

    def merit(at: int) -> tuple[int, ...]:
        return (
            -scores[at],
            *(extra.ranks[at] for extra in extras),
            -sum(result.twelfths[at] for result in played),
            -sum(result.points[at] for result in played),
            sum(result.faults[at] for result in played),
            entrants[at],
        )

    return [entrants[at] for at in sorted(range(players), key=merit)]
