"""``play``: a game in the terminal against the built-in policies.

Everything shown comes from the player's own view, so nothing hidden can be shown.
"""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from keltis_cli import arguments
from keltis_cli.draw.boards.boards import draw
from keltis_cli.draw.look import QUIET, TITLE, Look, console, look
from keltis_cli.draw.narrator import Step, turns
from keltis_cli.errors import BadRequest
from keltis_cli.files import STANDARD, check_target, new_file
from keltis_cli.games.choices import choice_lines, explanation, question
from keltis_cli.games.narrating import say, score_table
from keltis_engine import EngineError, Rng, Ruleset
from keltis_engine.play.policies import Policy
from keltis_engine.records.replay import make_replay

RANDOM_SEEDS: Final = 2**32


class Quit(Exception):
    """The player has had enough."""


def play(
    variant: arguments.VariantOption = "keltis",
    players: arguments.PlayersOption = 2,
    seat: Annotated[int, typer.Option("--seat", help="Your seat; seat 0 begins.")] = 0,
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            "--opponent", metavar="NAME", help="random or eager: one for all, or one per opponent."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", "-s", help="Seed of the deal; default: random.")
    ] = None,
    option: arguments.RuleOptions = None,
    out: Annotated[Path | None, typer.Option("--out", help="File for the replay.")] = None,
    force: arguments.ForceOption = False,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Play a game against the computer."""
    ruleset = arguments.ruleset(variant, option)
    if not 0 <= seat < players:
        raise BadRequest(f"there is no seat {seat} at a table of {players}: 0 to {players - 1}")
    others = arguments.policies(opponent, players - 1, "eager")
    if out == STANDARD:
        raise BadRequest("the replay cannot go to the screen you play on: --out needs a file name")
    if out:
        check_target(out, force)
    dealt = secrets.randbelow(RANDOM_SEEDS) if seed is None else seed
    game = Game(ruleset, players, seat, others, dealt, console(), look(ascii_only))
    try:
        game.play()
        game.finish()
    except Quit:
        print(f"\nGoodbye. The same cards again: --seed {dealt}")
    if out:
        with new_file(out, force) as file:
            file.write(json.dumps(game.replay(), separators=(",", ":")) + "\n")
        print(f"\nWrote {out}. Read it with: keltis-ladder replay {out}")


class Game:
    """One game between a person and some policies."""

    def __init__(
        self,
        ruleset: Ruleset,
        players: int,
        seat: int,
        others: list[Policy],
        seed: int,
        out: Console,
        look: Look,
    ) -> None:
        self.ruleset = ruleset
        self.players = players
        self.seat = seat
        self.others = others
        self.seed = seed
        self.out = out
        self.look = look
        self.state = ruleset.deal(players, seed)
        self.rng = Rng(seed)
        self.actions: list[int] = []
        self.news: list[Step] = []  # what happened since the player was last asked

    def play(self) -> None:
        """Play to the end; a player without a choice is not asked."""
        while not self.state.over:
            legal = self.state.legal_actions()
            seat = int(self.state.seat)
            if len(legal) == 1:
                self.carry_out(legal[0])
            elif seat == self.seat:
                self.carry_out(self.ask(legal))
            else:
                policy = self.others[seat - (seat > self.seat)]
                self.carry_out(policy(self.state, self.rng))

    def carry_out(self, action: int) -> None:
        """Apply an action and remember what the player saw of it."""
        before = self.state.view(self.seat)
        self.state.apply(action)
        self.actions.append(action)
        after = self.state.view(self.seat)
        self.news.append(Step(before, self.ruleset.format(action), after))

    def ask(self, legal: list[int]) -> int:
        """Show everything and let the player choose."""
        self.show()
        view = self.state.view(self.seat)
        texts = [self.ruleset.format(action) for action in legal]
        for line in choice_lines(texts, view):
            self.out.print(line, soft_wrap=True)
        while True:
            answer = self.read(f"{question(view)} (? helps) ")
            if answer in ("q", "quit"):
                raise Quit
            if answer in ("?", "h", "help"):
                self.out.print(explanation(texts, self.look), soft_wrap=True)
                continue
            action = self.understood(answer, legal)
            if action is not None:
                return action

    def understood(self, answer: str, legal: list[int]) -> int | None:
        """Return the action that a number or a notation means, or say why there is none."""
        if answer.isdecimal():
            if len(answer) < 5 and 1 <= int(answer) <= len(legal):
                return legal[int(answer) - 1]
            self.complain(f"{answer} is not in the list: choose 1 to {len(legal)}")
            return None
        try:
            action = self.ruleset.parse(answer)
        except EngineError as error:
            self.complain(f"{error} (? explains what you can do)")
            return None
        if action in legal:
            return action
        self.complain(f"{answer!r} is not possible now: choose from the list")
        return None

    def complain(self, text: str) -> None:
        """Say what was wrong with an answer."""
        self.out.print(text, soft_wrap=True, highlight=False)

    def read(self, prompt: str) -> str:
        """Read an answer; the end of the input is a goodbye."""
        try:
            answer = input(prompt).strip()
        except EOFError:
            raise Quit from None
        if not sys.stdin.isatty():
            print(answer)  # show it as if it had been typed
        return answer

    def show(self) -> None:
        """Draw the board and tell what happened since the last time."""
        if sys.stdout.isatty():
            self.out.clear()
        self.out.print(draw(self.state.view(self.seat), self.look), soft_wrap=True)
        for turn in turns(self.news):
            say(self.out, turn.sentence())
        self.news.clear()

    def finish(self) -> None:
        """Show the end of the game and who won."""
        self.show()
        self.out.print()
        self.out.print(score_table(self.state), soft_wrap=True)
        winners = self.state.winners()
        if self.seat not in winners:
            verdict = "You lost this one."
        else:
            verdict = "You win!" if len(winners) == 1 else "You share the win."
        self.out.print(f"\n{verdict}", style=TITLE)
        self.out.print(f"The same cards again: --seed {self.seed}", style=QUIET)

    def replay(self) -> dict[str, object]:
        """Return the record of the game, as far as it went."""
        return make_replay(self.ruleset, self.players, self.seed, self.actions)
