"""Crash cards as files: written as faults come, and the first of each kind explained."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from keltis_cli.draw.look import QUIET, TITLE
from keltis_cli.draw.printable import say_indented, tail
from keltis_ladder.match.entrants import BUILT_IN
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import Loss, MatchResult

DEFAULT_DIRECTORY: Final = Path("crashes")
CrashDirOption = Annotated[
    Path, typer.Option("--crash-dir", metavar="DIR", help="Directory for crash cards.")
]
MOST_OF_A_KIND: Final = 5  # cards of one bot and one fault; more would say the same
LOG_LINES: Final = 8

FaultKey = tuple[int, str, str]  # the entrant, the fault's kind and code


@dataclass(frozen=True)
class Explained:
    """The first fault of its kind."""

    bot: str
    match: int
    rotation: int
    loss: Loss
    path: Path
    command: str  # that makes it happen again


class CardBox:
    """A directory of crash cards; it is made when the first one comes."""

    def __init__(self, directory: Path, bots: Sequence[str]) -> None:
        self.directory = directory
        self.bots = bots  # as the user named them, by entrant
        self.paths: list[Path] = []
        self.first: dict[FaultKey, Explained] = {}
        self._seen: Counter[FaultKey] = Counter()

    def add(self, number: int, job: Job, result: MatchResult) -> None:
        """Write the cards of a match. It is over, so they may name its deal."""
        for game in result.games:
            for loss in game.losses:
                entrant = game.entrants[loss.seat]
                key = (entrant, str(loss.fault.kind), loss.fault.code)
                self._seen[key] += 1
                if self._seen[key] > MOST_OF_A_KIND:
                    continue
                name = job.entrants[entrant].name
                path = self.directory / file_name(name, loss, job.seed, game.rotation)
                command = reproduce_command(path, self.bots[entrant])
                write_card(path, {**loss.card, "reproduce": command})
                self.paths.append(path)
                found = Explained(name, number, game.rotation, loss, path, command)
                self.first.setdefault(key, found)

    def explain(self, out: Console) -> None:
        """Tell the first fault of each kind, and how to make it happen again."""
        for key, fault in self.first.items():
            count = self._seen[key]
            games = "1 game" if count == 1 else f"{count} games"
            out.print()
            out.print(f"{fault.bot} lost {games} by {key[1]}/{key[2]}", style=TITLE)
            say_fault(out, fault.loss, fault.match, fault.rotation)
            out.print(f"  Again: {fault.command}", soft_wrap=True, highlight=False)
        if self.paths:
            count = len(self.paths)
            cards = "1 crash card is" if count == 1 else f"{count} crash cards are"
            out.print(f"\n{cards} in {self.directory}/.", soft_wrap=True, highlight=False)


def say_fault(out: Console, loss: Loss, match: int, rotation: int) -> None:
    """Tell what happened, and the end of the bot's log."""
    where = f"match {match}, game {rotation + 1}, seat {loss.seat}, decision {loss.decision + 1}"
    out.print(f"  First in {where}:", highlight=False)
    say_indented(out, loss.fault.text)
    say_effort(out, loss.card)
    for line in tail(loss.card["stderr"], LOG_LINES):
        out.print(f"  | {line}", style=QUIET, soft_wrap=True, highlight=False)


def say_effort(out: Console, card: dict[str, Any]) -> None:
    """Tell what the last decision was made of, if the card knows it."""
    fatal = card.get("fatal")
    if not isinstance(fatal, dict):
        return
    names = {"wall_ms": "took", "cpu_ms": "CPU", "stalled_ms": "kept waiting by the machine"}
    names |= {"referee_delay_ms": "by the referee", "stolen_ms": "by a hypervisor"}
    names |= {"charged_ms": "charged"}
    parts = [
        f"{words} {fatal[name]:,.0f} ms"
        for name, words in names.items()
        if isinstance(fatal.get(name), int | float)
    ]
    out.print(f"  The last decision: {', '.join(parts)}.", soft_wrap=True, highlight=False)


def file_name(bot: str, loss: Loss, seed: int, rotation: int) -> str:
    """Return a card's file name: the same fault in the same deal has the same one."""
    bot = bot.replace("#", "-")
    return f"{bot}-{loss.fault.kind}-{loss.fault.code}-{seed:032x}"[:-24] + f"-{rotation + 1}.json"


def reproduce_command(path: Path, bot: str) -> str:
    """Return the command that makes a fault happen again."""
    words = ["keltis-ladder", "reproduce", str(path)]
    return shlex.join(words if bot in BUILT_IN else [*words, "--bot", bot])


def write_card(path: Path, card: dict[str, Any]) -> None:
    """Write a card, and its directory if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)
