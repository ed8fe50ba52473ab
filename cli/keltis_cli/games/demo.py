"""``demo``: one short told game of each variant, to see what this is about."""

from __future__ import annotations

import time
from typing import Annotated, Final

import typer
from rich.console import Console

from keltis_cli import arguments
from keltis_cli.draw.boards.boards import draw
from keltis_cli.draw.look import QUIET, Look, console, look
from keltis_cli.draw.narrator import Turn, turns
from keltis_cli.games.narrating import say, score_table, watch
from keltis_engine import POST_GAME, VARIANTS, Rng, Ruleset, find_variant
from keltis_engine.play.policies import POLICIES
from keltis_engine.records.replay import Replay, make_replay, steps, verify

ENDS: Final = 2  # turns told from the beginning and from the end
BEST: Final = 4  # turns told from between
NEXT: Final = """\
What to try next:
  keltis-ladder play --variant keltis      play against the computer
  keltis-ladder rules neue-wege            read the rules of a game
  keltis-ladder match search greedy        let our bots play matches, in the sandbox
  keltis-ladder init my-bot                write a bot of your own, in six languages
  keltis-ladder match my-bot greedy --out games.jsonl
  keltis-ladder replay games.jsonl         read one of the games, turn by turn"""


def demo(
    seed: arguments.SeedOption = 5,
    pause: Annotated[
        float, typer.Option("--pause", min=0, help="Seconds to wait after each sentence.")
    ] = 0,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Show one short game of each variant, narrated and drawn."""
    out = console()
    drawn = look(ascii_only)
    for id in VARIANTS:
        show(out, drawn, find_variant(id), seed, pause)
    out.print(NEXT, highlight=False, soft_wrap=True)


def show(out: Console, look: Look, ruleset: Ruleset, seed: int, pause: float) -> None:
    """Play a game, then tell its beginning, its best turns and its end."""
    out.rule(ruleset.title, characters="-" if look.ascii else "─", style=QUIET)
    record = play(ruleset, seed)
    told = list(turns(watch(steps(record), POST_GAME)))
    before = 0
    for turn in condensed(told):
        place = told.index(turn)
        if place > before:
            gap = f"{place - before} turns" if place - before > 1 else "one turn"
            out.print(f"  {look.mark('more')} {gap} later", style=QUIET)
        say(out, turn.sentence())
        before = place + 1
        time.sleep(pause)
    end = verify(record)
    out.print()
    out.print(draw(end.view(POST_GAME), look), soft_wrap=True)
    out.print()
    out.print(score_table(end), soft_wrap=True)
    out.print()


def play(ruleset: Ruleset, seed: int) -> Replay:
    """Let two eager players play the game of a seed."""
    state = ruleset.deal(2, seed)
    rng = Rng(seed)
    actions = []
    while not state.over:
        action = POLICIES["eager"](state, rng)
        state.apply(action)
        actions.append(action)
    return make_replay(ruleset, 2, seed, actions)


def condensed(told: list[Turn]) -> list[Turn]:
    """Return the first and last turns, and between them those in which most happened."""
    if len(told) <= 2 * ENDS + BEST:
        return told
    between = range(ENDS, len(told) - ENDS)
    best = sorted(between, key=lambda k: told[k].weight, reverse=True)[:BEST]
    return told[:ENDS] + [told[k] for k in sorted(best)] + told[-ENDS:]
