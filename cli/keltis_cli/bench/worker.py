"""The process in which the engine is measured: one task per line of input, one sample per answer.

The benchmark starts it twice, once on the installed engine and once on a copy of its sources,
and asks the two in turn. So both run the same code, one at a time, on one thread.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import itertools
import json
import random
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from keltis_engine import COMPILED, Rng, State, find_variant, playout, playouts

SEEDS: Final = range(8)
POSITIONS: Final = 64
EMPTY_PLAYOUTS: Final = 200
NO_GAME_ACTIONS: Final = 7  # about as many as our games offer on average
NO_GAME_DECISIONS: Final = 2_000

# One list of random numbers for all games that are driven from Python.
_chance = random.Random(1)
CHOICES: Final = [_chance.random() for _ in range(10_000)]

Work = Callable[[], int]


class Sample(NamedTuple):
    """How many units of work took how many seconds of this thread."""

    units: int
    seconds: float


def sample(work: Work, seconds: float) -> Sample:
    """Repeat the work until a number of seconds has passed.

    The clock that counts is the thread's own: other programs cost patience, not speed.
    """
    deadline = time.perf_counter() + seconds
    units = 0
    begin = time.thread_time()
    while True:
        units += work()
        if time.perf_counter() >= deadline:
            return Sample(units, time.thread_time() - begin)


# What is measured


def play_out(variant: str, players: int) -> Work:
    """Decisions: copies of dealt games are played at random to the end, in engine code."""
    roots = [find_variant(variant).deal(players, seed) for seed in SEEDS]
    rng = Rng(1)
    return lambda: sum(playouts(root, rng, 1) for root in roots)


def deal_and_play_out(variant: str, players: int) -> Work:
    """Decisions: the same with a new deal for each game, which counts as well."""
    deal = find_variant(variant).deal
    rng = Rng(1)
    seeds = itertools.count()
    return lambda: sum(playout(deal(players, next(seeds)), rng) for _ in SEEDS)


def deal(variant: str, players: int) -> Work:
    """Calls of ``Ruleset.deal``."""
    ruleset = find_variant(variant)
    seeds = itertools.count()

    def work() -> int:
        for _ in SEEDS:
            ruleset.deal(players, next(seeds))
        return len(SEEDS)

    return work


def copy(variant: str, players: int) -> Work:
    """Calls of ``State.copy`` from Python."""
    return _call_all([state.copy for state in positions(variant, players)])


def copy_in_engine(variant: str, players: int) -> Work:
    """Copies made by engine code: each with a playout that has nothing left to play."""
    finished = find_variant(variant).deal(players, 0)
    playout(finished, Rng(1))
    rng = Rng(1)

    def work() -> int:
        playouts(finished, rng, EMPTY_PLAYOUTS)
        return EMPTY_PLAYOUTS

    return work


def legal_actions(variant: str, players: int) -> Work:
    """Calls of ``State.legal_actions`` from Python."""
    return _call_all([state.legal_actions for state in positions(variant, players)])


def determinize(variant: str, players: int) -> Work:
    """Calls of ``State.determinize`` from Python, for the seat to decide."""
    rng = Rng(1)
    asked = [(state.determinize, int(state.seat)) for state in positions(variant, players)]

    def work() -> int:
        for call, seat in asked:
            call(seat, rng)
        return len(asked)

    return work


def apply(variant: str, players: int) -> Work:
    """Calls of ``State.apply`` from Python: recorded games are played again."""
    games = [record(variant, players, seed) for seed in SEEDS]

    def work() -> int:
        calls = 0
        for root, actions in games:
            step = root.copy().apply
            for action in actions:
                step(action)
            calls += len(actions)
        return calls

    return work


def drive(variant: str, players: int) -> Work:
    """Decisions: a Python loop asks for the legal actions and applies one of them."""
    roots = [find_variant(variant).deal(players, seed) for seed in SEEDS]
    choice = itertools.cycle(CHOICES).__next__

    def work() -> int:
        decisions = 0
        for root in roots:
            state = root.copy()
            while actions := state.legal_actions():
                state.apply(actions[int(choice() * len(actions))])
                decisions += 1
        return decisions

    return work


def drive_open_spiel(variant: str, players: int) -> Work:
    """Decisions: the same loop, line by line, on a game of open_spiel that has been dealt."""
    import pyspiel

    roots = [_dealt(pyspiel.load_game(variant).new_initial_state(), seed) for seed in SEEDS]
    choice = itertools.cycle(CHOICES).__next__

    def work() -> int:
        decisions = 0
        for root in roots:
            state = root.clone()
            while actions := state.legal_actions():
                state.apply_action(actions[int(choice() * len(actions))])
                decisions += 1
        return decisions

    return work


def drive_nothing(_subject: str, _players: int) -> Work:
    """Passes of the same loop around two built-in methods that do next to nothing.

    It is what Python itself costs, whatever the engine is written in.
    """
    state = [0] * NO_GAME_ACTIONS
    choice = itertools.cycle(CHOICES).__next__

    def work() -> int:
        decisions = 0
        while actions := state.copy():
            state.__contains__(actions[int(choice() * len(actions))])
            decisions += 1
            if decisions == NO_GAME_DECISIONS:
                break
        return decisions

    return work


def play_reference(path: str, players: int) -> Work:
    """Decisions: whole games of a reference module, which has ``games(n, seed, count)``."""
    games = load_module(Path(path)).games
    seeds = itertools.count(step=len(SEEDS))
    return lambda: int(games(players, next(seeds), len(SEEDS)))


TASKS: Final[dict[str, Callable[[str, int], Work]]] = {
    "playouts": play_out,
    "games": deal_and_play_out,
    "deal": deal,
    "copy": copy,
    "copy_in_engine": copy_in_engine,
    "legal_actions": legal_actions,
    "apply": apply,
    "determinize": determinize,
    "driven": drive,
    "open_spiel": drive_open_spiel,
    "nothing": drive_nothing,
    "reference": play_reference,
}


# What it needs


def record(variant: str, players: int, seed: int) -> tuple[State, list[int]]:
    """Return a dealt game and the actions of random play to its end."""
    root = find_variant(variant).deal(players, seed)
    state = root.copy()
    chance = random.Random(seed)
    actions: list[int] = []
    while legal := state.legal_actions():
        actions.append(chance.choice(legal))
        state.apply(actions[-1])
    return root, actions


@cache
def positions(variant: str, players: int) -> list[State]:
    """Return states from all stages of random games."""
    each = POSITIONS // len(SEEDS)
    found: list[State] = []
    for seed in SEEDS:
        state, actions = record(variant, players, seed)
        wanted = {(2 * k + 1) * len(actions) // (2 * each) for k in range(each)}
        for at, action in enumerate(actions):
            if at in wanted:
                found.append(state.copy())
            state.apply(action)
    return found


def load_module(path: Path) -> Any:
    """Import a module from its file, compiled or not."""
    name = path.name.split(".")[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python module: give a .py file or a compiled module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def open_spiel_version() -> str | None:
    """Return the version of open_spiel if it can be used here."""
    try:
        import pyspiel  # noqa: F401
    except ImportError:
        return None
    return importlib.metadata.version("open_spiel")


def _call_all(calls: list[Callable[[], object]]) -> Work:
    def work() -> int:
        for call in calls:
            call()
        return len(calls)

    return work


def _dealt(state: Any, seed: int) -> Any:
    """Play the chance nodes at the beginning: open_spiel deals card by card."""
    chance = random.Random(seed)
    while state.is_chance_node():
        state.apply_action(chance.choice(state.legal_actions()))
    return state


@cache
def prepared(task: str, subject: str, players: int) -> Work:
    """Return the work of a task, ready and warmed up."""
    work = TASKS[task](subject, players)
    work()
    return work


def main() -> None:
    """Introduce this process, then answer until the input ends."""
    answer: dict[str, Any] = {"compiled": COMPILED, "open_spiel": open_spiel_version()}
    print(json.dumps(answer), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        work = prepared(asked["task"], asked["subject"], asked["players"])
        print(json.dumps(sample(work, asked["seconds"])), flush=True)


if __name__ == "__main__":
    main()
