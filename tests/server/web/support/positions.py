"""Positions of real games, as views, for those who draw them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from keltis_engine import POST_GAME, SPECTATORS, VARIANTS, Rng, State, View, find_variant
from keltis_engine.play.policies import eager, random


@dataclass(frozen=True)
class Step:
    """A decision, and how things stood after it."""

    seat: int
    notation: str
    view: View


@dataclass(frozen=True)
class Story:
    """A game as one viewer saw it."""

    variant: str
    players: int
    viewer: int | str
    first: View
    steps: list[Step]

    @property
    def views(self) -> list[View]:
        """All views, the first one included."""
        return [self.first, *(step.view for step in self.steps)]


def story(
    variant: str, players: int, seed: int, viewer: int | str = SPECTATORS, skill: str = "eager"
) -> Story:
    """Play a game and tell it as a viewer sees it.

    The view of the whole game needs its end, so it is made from the state at each step.
    """
    choose = eager if skill == "eager" else random
    state = find_variant(variant).deal(players, seed)
    rng = Rng(seed)
    first = _seen(state, viewer)
    steps = []
    while not state.over:
        seat, action = state.seat, choose(state, rng)
        state.apply(action)
        steps.append(Step(seat, state.notation[action], _seen(state, viewer)))
    return Story(variant, players, viewer, first, steps)


def _seen(state: State, viewer: int | str) -> View:
    if viewer != POST_GAME or state.over:
        return state.view(viewer)
    return open_view(state)


def open_view(state: State) -> View:
    """Return what everybody may see of a position once its game is over: all hands open."""
    view = state.view(SPECTATORS)
    for seat in range(view["players"]):
        if "hands" in view:
            view["hands"][seat] = state.view(seat)["hands"][seat]
    return {**view, "viewer": POST_GAME}


def gallery() -> list[dict[str, Any]]:
    """Return positions for a page that shows them: beginning, middle and end of every game."""
    shown = []
    for variant in VARIANTS:
        for players in (2, 3, 4):
            for viewer in (SPECTATORS, POST_GAME):
                told = story(variant, players, 5 + players, viewer)
                count = len(told.steps)
                for name, ply in (("beginning", 4), ("middle", count // 2), ("end", count)):
                    step = told.steps[ply - 1]
                    shown.append(
                        {
                            "name": f"{variant}, {players} players, {viewer}, {name}",
                            "variant": variant,
                            "players": players,
                            "viewer": viewer,
                            "stage": name,
                            "view": step.view,
                            "previous": told.views[ply - 1],
                            "lastMove": {"seat": step.seat, "notation": step.notation},
                        }
                    )
    return shown
