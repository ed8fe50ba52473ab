"""``reproduce``: make a fault happen again, from its crash card."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from keltis_cli.bots import entering
from keltis_cli.draw.look import QUIET, TITLE, console
from keltis_cli.draw.printable import printable, say_indented, tail
from keltis_cli.errors import BadRequest
from keltis_cli.exit_codes import ExitCode
from keltis_ladder.match.entrants import BUILT_IN
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.programs.launchers import PlainLauncher, SandboxLauncher
from keltis_ladder.referee.crash_cards import Card, read_card
from keltis_ladder.referee.reproduce import Rerun, earlier_games
from keltis_ladder.referee.reproduce import reproduce as run_again
from keltis_ladder.sandbox.child import pinned

LOG_LINES = 20


def reproduce(
    card: Annotated[Path, typer.Argument(metavar="CARD.json", help="A crash card.")],
    bot: Annotated[
        str | None, typer.Option("--bot", metavar="DIR", help="The bot that failed.")
    ] = None,
    no_sandbox: entering.NoSandboxOption = False,
) -> None:
    """Repeat the conversation of a crash card and see whether the same fault happens.

    The exit code is 0 if it does, 1 if not.
    """
    try:
        record = read_card(card.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise BadRequest(f"{card} is not a text file; crash cards are JSON") from None
    name = bot or built_in_name(record)
    sandbox = entering.sandbox_for([name], no_sandbox)
    entrant = entering.enter([name], sandbox)[0]
    out = console()
    say_record(out, record)
    launcher = SandboxLauncher(sandbox) if sandbox else PlainLauncher()
    try:
        with pinned(min(os.sched_getaffinity(0))):  # as in a match: one core for all
            rerun = run_again(record, entrant, launcher)
    except PlatformFault as fault:
        print(f"keltis-ladder: {fault}", file=sys.stderr)
        raise typer.Exit(ExitCode.FAILED) from None
    say_rerun(out, record, rerun)
    if not is_same(record, rerun):
        raise typer.Exit(ExitCode.FAILED)


def built_in_name(card: Card) -> str:
    """Return which of our own bots failed."""
    name = card.bot.partition("#")[0]
    if name not in BUILT_IN:
        raise BadRequest(f"the card is of {printable(card.bot)}: name its directory with --bot DIR")
    return name


def is_same(card: Card, rerun: Rerun) -> bool:
    """Return whether the fault of the card has happened again."""
    fault = rerun.fault
    return fault is not None and (fault.kind, fault.code) == (card.fault.kind, card.fault.code)


def say_record(out: Console, card: Card) -> None:
    """Say what the card is about."""
    fault = card.fault
    out.print(f"{card.bot}: {fault.kind}/{fault.code}", style=TITLE, highlight=False)
    say_indented(out, fault.text)
    where = "when it was started" if card.at_start else f"at decision {len(card.actions) + 1}"
    game = f"{card.ruleset.id}, {card.players} players, seat {card.seat}, seed {card.seed}"
    say_indented(out, f"{where} of {game}")


def say_rerun(out: Console, card: Card, rerun: Rerun) -> None:
    """Say what happened this time."""
    out.print()
    difference = rerun.first_difference
    if difference is not None:
        more = f" (and {rerun.differences - 1} more)" if rerun.differences > 1 else ""
        out.print(
            f"Answer {difference.request} was {difference.now!r}, on record {difference.then!r}"
            f"{more}; the game went on as recorded.",
            soft_wrap=True,
            highlight=False,
        )
    took = f"{rerun.seconds * 1000:.1f} ms"
    if is_same(card, rerun):
        out.print("Reproduced: the same fault again.", style=TITLE)
    elif rerun.fault is not None:
        fault = rerun.fault
        out.print(f"Not reproduced, but another fault: {fault.kind}/{fault.code}", style=TITLE)
    elif card.at_start:
        out.print(f"Not reproduced: it started and answered hello in {took}.", style=TITLE)
    else:
        out.print(
            f"Not reproduced: it answered {rerun.answer!r}, which is legal, in {took}.",
            style=TITLE,
            highlight=False,
        )
    if rerun.fault is not None:
        say_indented(out, rerun.fault.text)
        if not card.at_start:
            say_indented(out, f"at request {rerun.requests}")
    elif earlier_games(card):
        say_indented(
            out, "Its process had played other games before this one, which were not repeated."
        )
    lines = tail(rerun.log, LOG_LINES)
    if lines:
        out.print("stderr:", style=QUIET)
    for line in lines:
        out.print(f"  | {line}", style=QUIET, soft_wrap=True, highlight=False)
