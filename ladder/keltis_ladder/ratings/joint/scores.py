"""Scores: what each entrant made of a match, as whole numbers, so that sums are exact.

The unit is the twelfth of a point, summed over the games of the match: a win may be shared by two,
three or four. A game that a bot lost by a fault counts as lost by the model's ``forfeit``, or by
more if the table stood worse for it. A bot that drops out early would otherwise lose by a point
what it might lose by sixty, and in a game of two the scores stop where they were.

So a fault never gains: whatever a bot would have made of the game, it is further behind everybody
who stayed. Two who both dropped out of a game are even in it: had one of them stayed, it would be
far ahead of the other.
"""

from __future__ import annotations

from typing import Final

from keltis_ladder.match.results import GameResult, MatchResult
from keltis_ladder.ratings.joint.kinds import kind_number, variant_number
from keltis_ladder.ratings.joint.numbers import NUMBERS, Numbers

TWELFTHS: Final = 12


def match_scores(variant: str, result: MatchResult, numbers: Numbers = NUMBERS) -> tuple[int, ...]:
    """Return the score of each entrant of a match."""
    players = len(result.games[0].entrants)
    place = variant_number(kind_number(variant, players))
    if len(result.games) != players:
        raise ValueError(
            f"a match of {players} has a game for each rotation; got {len(result.games)} games"
        )
    totals = [0] * players
    for game in result.games:
        scores = game_scores(game, numbers.win[place], numbers.forfeit[place])
        for entrant, score in zip(game.entrants, scores, strict=True):
            totals[entrant] += score
    return tuple(totals)


def game_scores(game: GameResult, win: int, forfeit: int) -> list[int]:
    """Return the score of each seat of a game."""
    out = {loss.seat for loss in game.losses}
    shares = [int(TWELFTHS * win * share) for share in game.shares()]
    made = [TWELFTHS * points + won for points, won in zip(game.scores, shares, strict=True)]
    staying = [score for seat, score in enumerate(made) if seat not in out]
    if not out:
        return made
    if not staying:
        return [0] * len(made)
    lost = min(staying) - TWELFTHS * forfeit
    lost = min(lost, *(made[seat] for seat in out))
    return [lost if seat in out else score for seat, score in enumerate(made)]
