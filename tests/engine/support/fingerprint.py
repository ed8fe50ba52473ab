"""A fingerprint of everything the engine does, to compare its two forms.

Run with a number of games, it prints it as JSON, with the form it was taken from.
"""

import hashlib
import json
import sys
from typing import Any

import keltis_engine
from keltis_engine import POST_GAME, SPECTATORS, VARIANTS, Rng, State, find_variant, playout
from keltis_engine.play.perft import divide
from keltis_engine.play.policies import POLICIES
from keltis_engine.records.replay import expand, make_replay

LOOK_EVERY = 12  # decisions


def fingerprints(games: int) -> dict[str, str]:
    """Return a digest of so many games for each variant, number of players and policy."""
    return {
        f"{variant} {players} {policy}": _digest(
            [play(variant, players, policy, seed) for seed in range(games)]
        )
        for variant in VARIANTS
        for players in (2, 3, 4)
        for policy in POLICIES
    }


def play(variant: str, players: int, policy: str, seed: int) -> list[Any]:
    """Play a game and return all that can be seen of it on the way."""
    ruleset = find_variant(variant)
    state = ruleset.deal(players, seed)
    end = state.copy()
    seen: list[Any] = [playout(end, Rng(seed)), end.reveal()]
    rng = Rng(seed)
    actions: list[int] = []
    while not state.over:
        if len(actions) % LOOK_EVERY == 0:
            seen.append(look(state, seed))
        action = POLICIES[policy](state, rng)
        state.apply(action)
        actions.append(action)
    replay = make_replay(ruleset, players, seed, actions)
    return [replay, expand(replay), state.view(POST_GAME), int(rng.word()), seen]


def look(state: State, seed: int) -> list[Any]:
    """Return every view, a guess of every seat, and what could come next."""
    seats = range(int(state.players))
    return [
        [state.view(viewer) for viewer in (*seats, SPECTATORS)],
        [state.determinize(seat, Rng(seed)).reveal() for seat in seats],
        [state.legal_actions(), [state.outcome(action) for action in state.legal_actions()]],
        divide(state, 2),
    ]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()


if __name__ == "__main__":
    print(
        json.dumps(
            {
                "compiled": keltis_engine.COMPILED,
                "file": keltis_engine.__file__,
                "fingerprints": fingerprints(int(sys.argv[1])),
            }
        )
    )
