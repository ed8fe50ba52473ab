"""Golden playthroughs: one whole game for every variant and number of players, written out.

``make golden`` writes them anew. Any change of the rules, of the views or of the random numbers
shows as a readable difference.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keltis_engine import POST_GAME, SPECTATORS, VARIANTS, Rng, Ruleset, State, find_variant
from keltis_engine.play.policies import eager, random
from tests.places import ROOT

FOLDER = ROOT / "tests/engine/golden"
PLAYERS = (2, 3, 4)
SEED = 2008  # the year the board game came out
VIEWS_EVERY = 20  # decisions

# Three players play by the other reading of each optional ruling.
OTHER_READING = {"end_card_opens_row": 0, "last_clover_turn": 1}


def path_of(variant: str, players: int) -> Path:
    return FOLDER / f"{variant}-{players}p.txt"


def all_paths() -> list[Path]:
    return [path_of(variant, players) for variant in VARIANTS for players in PLAYERS]


def playthrough(variant: str, players: int) -> str:
    """Return the whole game as text."""
    names = [option.name for option in VARIANTS[variant].options]
    other = {name: value for name, value in OTHER_READING.items() if name in names}
    ruleset = find_variant(variant, other if players == 3 else {})
    return "\n".join(_lines(ruleset, players)) + "\n"


def _lines(ruleset: Ruleset, players: int) -> Iterator[str]:
    yield f"variant: {ruleset.id}"
    yield f"version: {ruleset.version}"
    yield f"options: {_compact(ruleset.options)}"
    yield f"players: {players}"
    yield f"seed: {SEED}"
    yield f"policy: eager, every fourth decision or so random, from Rng({SEED})"
    state = ruleset.deal(players, SEED)
    yield from _setup(state)
    rng = Rng(SEED)
    number = 0
    while not state.over:
        number += 1
        action = (eager if rng.below(4) else random)(state, rng)
        yield from _decision(state, number, action)
        state.apply(action)
        if number % VIEWS_EVERY == 0 and not state.over:
            yield from _views(state)
    yield from _end(state)


def _setup(state: State) -> Iterator[str]:
    yield ""
    yield "set-up"
    view = state.reveal()
    for seat, hand in enumerate(view.get("hands", [])):
        yield f"  hand of seat {seat}: {' '.join(hand['cards'])}"
    for seat, stream in enumerate(view["pile"]["cards"]):
        yield f"  pile of seat {seat}, first to draw first: {' '.join(stream)}"
    if "removed" in view:
        yield f"  removed: {' '.join(view['removed']['cards'])}"
    if "tiles" in view:
        yield f"  tiles: {', '.join(f'{field} {tile}' for field, tile in view['tiles'].items())}"
    yield from _views(state)


def _decision(state: State, number: int, action: int) -> Iterator[str]:
    names = [state.notation[legal] for legal in state.legal_actions()]
    outcome = state.outcome(action)
    yield ""
    yield f"{number}. seat {state.seat}, turn {state.turn}, {state.phase}: {', '.join(names)}"
    yield f"  > {state.notation[action]}" + (f" -> {outcome}" if outcome else "")


def _views(state: State) -> Iterator[str]:
    """The spectators' view in full, and of each seat's what differs from it."""
    public = state.view(SPECTATORS)
    yield f"  spectators see {_compact(public)}"
    for seat in range(state.players):
        view = state.view(seat)
        own = {name: view[name] for name in view if view[name] != public.get(name)}
        missing = [name for name in public if name not in view]
        yield f"  seat {seat} sees {_compact(own)}" + (f" but not {missing}" if missing else "")


def _end(state: State) -> Iterator[str]:
    yield ""
    yield "end"
    yield f"  everybody sees {_compact(state.view(POST_GAME))}"
    for seat, parts in enumerate(state.breakdown()):
        yield f"  seat {seat}: {state.scores()[seat]} {_compact(parts)}"
    yield f"  winners: {', '.join(map(str, state.winners()))}"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    for variant in VARIANTS:
        for players in PLAYERS:
            path_of(variant, players).write_text(playthrough(variant, players), "ascii")
    print(f"wrote {len(all_paths())} playthroughs to {FOLDER}; review them as a diff")


if __name__ == "__main__":
    main()
