"""``check``: say whether a bot can join the ladder, and if not, why."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.status import Status

from keltis_cli import arguments
from keltis_cli.bots import entering
from keltis_cli.bots.crash_cards import (
    DEFAULT_DIRECTORY,
    CrashDirOption,
    reproduce_command,
    write_card,
)
from keltis_cli.draw.findings import say_finding
from keltis_cli.draw.look import TITLE, console
from keltis_cli.draw.printable import say_indented, show_build
from keltis_cli.errors import BadRequest
from keltis_cli.exit_codes import ExitCode
from keltis_engine import find_variant
from keltis_ladder.check.check import Plan, check_bot
from keltis_ladder.findings import Doing, Finding, Mark
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.programs.preparing import cache_directory
from keltis_ladder.sandbox.child import pinned

FORMAT: Final = "keltis-ladder check 1"


def check(
    bot: Annotated[
        Path, typer.Argument(metavar="BOT", help="The bot's directory, with its bot.toml.")
    ],
    variant: Annotated[
        str | None, arguments.of_variant("Only this variant of those it plays.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="One match per variant, with the fewest players.")
    ] = False,
    seed: Annotated[
        int,
        typer.Option("--seed", min=0, help="Seed of the deals; the ladder's report names its own."),
    ] = Plan.seed,
    as_json: arguments.JsonOption = False,
    crash_dir: CrashDirOption = DEFAULT_DIRECTORY,
    no_sandbox: entering.NoSandboxOption = False,
) -> None:
    """Check a bot as the ladder does before it may play.

    The exit code is 0 if it may join, 1 if something failed.
    """
    if not bot.is_dir():
        raise BadRequest(f"there is no directory {bot}; a new bot is made by: keltis-ladder init")
    if variant is not None:
        find_variant(variant)
    sandbox = entering.sandbox_for([str(bot)], no_sandbox)
    plan = Plan((variant,) if variant else None, quick=quick, seed=seed)
    findings: list[dict[str, Any]] = []
    marks: list[Mark] = []
    with ExitStack() as stack:
        stack.enter_context(pinned(min(os.sched_getaffinity(0))))  # as in a match: one core for all
        page = Page(console(stderr=as_json), quiet=as_json)
        stack.callback(page.rest)
        try:
            for event in check_bot(bot, sandbox, plan, show_build, cache_directory()):
                if isinstance(event, Doing):
                    page.doing(event)
                    continue
                card = keep_card(event, crash_dir, bot)
                page.show(event, card)
                findings.append({**event.to_plain(), "crash_card": str(card) if card else None})
                marks.append(event.mark)
        except PlatformFault as fault:
            page.rest()
            print(f"keltis-ladder: the check was aborted: {fault}", file=sys.stderr)
            raise typer.Exit(ExitCode.FAILED) from None
    passed = Mark.FAILED not in marks
    if as_json:
        whole = {
            "format": FORMAT,
            "bot": str(bot),
            "sandboxed": sandbox is not None,
            "passed": passed,
            "findings": findings,
        }
        print(json.dumps(whole, indent=1))
    else:
        page.sum_up(marks, bot)
    if not passed:
        raise typer.Exit(ExitCode.FAILED)


def keep_card(finding: Finding, directory: Path, bot: Path) -> Path | None:
    """Write the crash card of a finding, if it has one."""
    if finding.card is None or finding.fault is None:
        return None
    name = "-".join([finding.card["bot"], "check", *finding.check.replace(",", "").split()])
    path = directory / f"{name}.json"
    write_card(path, {**finding.card, "reproduce": reproduce_command(path, str(bot))})
    return path


class Page:
    """Shows findings as they come; in a terminal also what is being done."""

    def __init__(self, out: Console, quiet: bool) -> None:
        self.out = out
        self.quiet = quiet
        self.status: Status | None = None
        self.card: Path | None = None  # the first one
        self.bad: set[tuple[str, str]] = set()  # faults that have been explained

    def doing(self, event: Doing) -> None:
        """Say what is being done, if somebody is watching."""
        if self.out.is_terminal:
            self.rest()
            self.status = self.out.status(f"{event.text} ...", spinner="line")
            self.status.start()

    def rest(self) -> None:
        """Say no longer what is being done."""
        if self.status is not None:
            self.status.stop()
            self.status = None

    def show(self, finding: Finding, card: Path | None) -> None:
        """Show one finding; what is wrong is explained, the same fault only once."""
        self.rest()
        if self.quiet:
            return
        fault = (finding.fault.kind, finding.fault.code) if finding.fault else None
        say_finding(self.out, finding, explained=fault in self.bad)
        if fault is not None:
            self.bad.add(fault)
        if card is not None:
            say_indented(self.out, f"Crash card: {card}")
            self.card = self.card or card

    def sum_up(self, marks: list[Mark], bot: Path) -> None:
        """Say whether the bot may join."""
        failed, warnings = marks.count(Mark.FAILED), marks.count(Mark.WARNING)
        parts = [f"{marks.count(Mark.OK)} ok"]
        if warnings:
            parts.append(f"{warnings} {'warning' if warnings == 1 else 'warnings'}")
        if failed:
            parts.append(f"{failed} failed")
        verdict = "It cannot join the ladder yet." if failed else "It can join the ladder."
        self.out.print(f"\n{verdict} {', '.join(parts)}.", style=TITLE, highlight=False)
        if self.card is not None:
            again = f"Make a fault happen again with: {reproduce_command(self.card, str(bot))}"
            self.out.print(again, soft_wrap=True, highlight=False)
