"""Duplicate matches between policies, in this process: the same deal once from each seat."""

from collections.abc import Callable

from keltis_engine import State, find_variant

Player = Callable[[State], int]


def play(variant: str, seed: int, players: list[Player]) -> State:
    """Play a game to its end; each seat decides by its policy."""
    state = find_variant(variant).deal(len(players), seed)
    while not state.over:
        state.apply(players[int(state.seat)](state))
    return state


def wins_match(variant: str, seed: int, one: Player, other: Player) -> bool:
    """Return whether the first of two policies wins a deal, by wins first and then by points."""
    games = [
        (0, play(variant, seed, [one, other])),
        (1, play(variant, seed, [other, one])),
    ]
    wins = points = 0
    for seat, state in games:
        mine, others = state.score(seat), state.score(1 - seat)
        wins += (mine > others) - (mine < others)
        points += mine - others
    return (wins, points) > (0, 0)
