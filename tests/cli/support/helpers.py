"""Runs the command as a user does: a process of its own, with pipes for a terminal."""

import os
import subprocess
from pathlib import Path
from typing import Any

from keltis_engine import VARIANTS, Rng, State, find_variant
from keltis_engine.play.policies import POLICIES
from tests.preloaded.process import run_command

ALL_VARIANTS = list(VARIANTS)
ESCAPE = "\x1b"


def command(
    *arguments: str | Path, typed: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    # No colours unless a test asks for them, wherever the tests run.
    inherited = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    given = inherited | {"PYTHONUTF8": "1", "COLUMNS": "80"} | environment
    return run_command(*arguments, typed=typed, env=given, timeout=600)


def output(*arguments: str | Path, typed: str = "", **environment: str) -> str:
    """Return what a command prints; it has to succeed."""
    done = command(*arguments, typed=typed, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def states(variant: str, players: int, seed: int, policy: str) -> list[State]:
    """Return every state of one game."""
    state: State = find_variant(variant).deal(players, seed)
    rng = Rng(seed)
    found = [state.copy()]
    while not state.over:
        state.apply(POLICIES[policy](state, rng))
        found.append(state.copy())
    return found


def hidden_from(view: dict[str, Any], everything: dict[str, Any]) -> set[str]:
    """Return the cards of other hands that the viewer does not know and sees nowhere."""
    hidden: set[str] = set()
    for own, full in zip(view["hands"], everything["hands"], strict=True):
        if own["cards"] is None:
            hidden |= set(full["cards"]) - set(own["known"])
    return hidden
