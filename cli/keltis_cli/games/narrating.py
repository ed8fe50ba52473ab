"""What the commands that narrate games share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from keltis_cli.draw.narrator import Step
from keltis_cli.draw.tables.aligned import table
from keltis_engine import POST_GAME, State, View

Viewer = int | str


def seen(state: State, viewer: Viewer) -> View:
    """Return a view; the post-game one at any time, for games that are over already."""
    return state.reveal() if viewer == POST_GAME else state.view(viewer)


def watch(steps: Iterable[tuple[State, int]], viewer: Viewer) -> Iterator[Step]:
    """Turn a replay's steps into what an onlooker saw."""
    before: View | None = None
    action = ""
    for state, number in steps:
        view = seen(state, viewer)
        if before is not None:
            yield Step(before, action, view)
        before = view
        action = state.notation[number] if number >= 0 else ""


def say(out: Console, sentence: str) -> None:
    """Print a sentence; in a terminal its further lines are indented."""
    if out.is_terminal:
        sentence = textwrap.fill(sentence, out.width, subsequent_indent="    ")
    out.print(sentence, soft_wrap=True)


def score_table(state: State) -> Text:
    """Return the points of each seat by component, the winners marked."""
    parts = state.breakdown()
    components = [name.replace("_", " ") for name in parts[0]]
    winners = state.winners() if state.over else []
    won = "wins" if len(winners) == 1 else "wins, shared"
    rows = [
        [
            f"seat {seat}",
            *(str(points) for points in parts[seat].values()),
            str(score),
            won if seat in winners else "",
        ]
        for seat, score in enumerate(state.scores())
    ]
    return table(["points", *components, "total", ""], rows, left=["points", ""])
