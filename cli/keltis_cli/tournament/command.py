"""``tournament``: run a tournament here, or hold one on a server.

A tournament that is run here and was interrupted goes on where it was.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from keltis_cli import arguments
from keltis_cli.bots import entering
from keltis_cli.bots.candidates import candidates, named
from keltis_cli.bots.match import chosen_cores
from keltis_cli.draw.displays import display_for, with_symbols
from keltis_cli.draw.look import Look, console, look
from keltis_cli.draw.printable import printable
from keltis_cli.errors import BadRequest
from keltis_cli.files import STANDARD, check_target, new_file
from keltis_cli.ladder.homes import opened
from keltis_cli.ladder.running.operating import Operation, Terms, broken_off
from keltis_cli.remote import tournaments as on_server
from keltis_cli.tournament.json_output import document
from keltis_cli.tournament.running import (
    TournamentSubject,
    begin_or_find,
    final_page,
    moment_of,
)
from keltis_engine import VARIANTS
from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.run.course import Course
from keltis_ladder.run.programs import Programs
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.sandbox.runtimes import require_hidden
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import FILE, Home
from keltis_ladder.store.schema.tables import TournamentState
from keltis_ladder.tournaments.plan import ROUND_ROBIN, Plan

TOURNAMENT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
ALL: Final = "all"
DEFAULT_VARIANT: Final = "keltis"
RUN: Final = "run"


class OrRun(TyperGroup):
    """Takes ``tournament BOT BOT...``, without a subcommand, for ``tournament run BOT BOT...``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the word that was left out; help is that of the group."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [RUN, *args]
        return super().parse_args(ctx, args)


app = arguments.group(
    "Run a tournament on this machine (run BOT BOT...), or on a server (all others).", cls=OrRun
)


@app.command(RUN)
def tournament(
    bots: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT BOT...",
            help="random, greedy, search, or directories with a bot.toml; the best first.",
        ),
    ],
    format_: on_server.FormatOption = ROUND_ROBIN,
    players: on_server.TablePlayersOption = 2,
    variant: Annotated[
        list[str] | None,
        arguments.of_variant(
            f"{', '.join(VARIANTS)}, or all; may be repeated; default: keltis.", show_default=False
        ),
    ] = None,
    matches: on_server.PairingMatchesOption = 1,
    rounds: on_server.RoundsOption = None,
    challengers: on_server.ChallengersOption = 1,
    seed: arguments.DealsSeedOption = 1,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Default: the format and the date.", show_default=False),
    ] = None,
    bank: arguments.BankOption = DEFAULT_CONTROL.bank_ms,
    increment: arguments.IncrementOption = DEFAULT_CONTROL.increment_ms,
    cores: arguments.CoresOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="File for the result; default: NAME.json.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="Its directory; default: NAME.tournament."),
    ] = None,
    as_json: arguments.JsonOption = False,
    force: arguments.ForceOption = False,
    no_sandbox: entering.NoSandboxOption = False,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Run a tournament on this machine; the same command again resumes it.

    The word `run` may be left out.
    """
    plan = Plan(
        format=format_,
        entrants=len(bots),
        players=players,
        variants=_variants(variant),
        matches=matches,
        rounds=rounds,
        challengers=challengers,
        seed=seed,
    )
    plan.check()
    taking_part = named(bots)
    entering.check_claims(taking_part, plan.variants, players)
    called = f"{format_}-{datetime.now():%Y-%m-%d}" if name is None else _checked_name(name)
    directory = data or Path(f"{called}.tournament")
    target = out or Path(f"{called}.json")
    if as_json and target == STANDARD:
        raise BadRequest("--json and --out - both want the output: give --out a file")
    terms = Terms(chosen_cores(cores), sandboxed=False)
    sandbox = entering.sandbox_for(bots, no_sandbox)
    home = Home(directory, str(directory / FILE))
    if sandbox is not None:
        require_hidden(home.directory)
    control = TimeControl(bank, increment)
    with opened(home.open()) as database:
        coming = candidates(home, taking_part, sandbox)
        director = Director(database)
        id = begin_or_find(director, called, plan, control, coming, directory)
        if director.course(id).record.state != TournamentState.FINISHED:
            check_target(target, force)
            _say_where(director, id)
            transactions = Transactions(database, Programs(home, sandbox, lambda _: None), control)
            terms = replace(terms, sandboxed=sandbox is not None)
            with broken_off("the tournament"):
                code = run(transactions, director, id, terms, as_json, look(ascii_only))
            if code:
                _pause(director, id, named_by_us=name is None)
                raise typer.Exit(code)
        tell(database, director.course(id), target, force, as_json, look(ascii_only))


def _variants(given: list[str] | None) -> tuple[str, ...]:
    """Return the variants of the mix."""
    if given == [ALL]:
        return tuple(VARIANTS)
    return tuple(given or [DEFAULT_VARIANT])


def _checked_name(name: str) -> str:
    """Return a name that can be that of a file, too."""
    if not TOURNAMENT_NAME.fullmatch(name):
        raise BadRequest(
            f"invalid name {printable(name)!r}: use 1 to 80 letters, digits, dots, dashes and "
            "underscores, the first a letter or digit"
        )
    return name


def _say_where(director: Director, id: int) -> None:
    """Say that a tournament is resumed."""
    course = director.course(id)
    if course.record.state != TournamentState.SCHEDULED:
        played, total = course.tournament.progress
        print(f"Resuming: {played} of {total} matches played.", file=sys.stderr)


def run(
    transactions: Transactions,
    director: Director,
    id: int,
    terms: Terms,
    as_json: bool,
    drawn: Look,
) -> int:
    """Play until it is finished; return the exit code of an interruption, or 0."""
    if director.course(id).record.state != TournamentState.RUNNING:
        director.start(id)
    subject = TournamentSubject(director, id, len(terms.cores), with_symbols(drawn))
    display = display_for(subject, quiet=False, for_programs=as_json)
    code = asyncio.run(Operation(transactions, director, None, subject, display, terms).run())
    return 0 if subject.over else code


def _pause(director: Director, id: int, named_by_us: bool) -> None:
    """Hold what has not been played, and say how to go on."""
    course = director.course(id)
    if course.record.state == TournamentState.RUNNING:
        director.pause(id)
    played, total = course.tournament.progress
    command = ["keltis-ladder", *sys.argv[1:]]
    if named_by_us:
        command += ["--name", course.record.name]  # the date may be another one then
    print(
        f"Paused after {played} of {total} matches. To go on: {shlex.join(command)}",
        file=sys.stderr,
    )


def tell(
    database: Database, course: Course, target: Path, force: bool, as_json: bool, drawn: Look
) -> None:
    """Write the result, and print the final table; a result that is there already stays."""
    with database.reading() as session:
        found = document(session, course)
    text = json.dumps(found, indent=1, allow_nan=False) + "\n"
    if force or target == STANDARD or not target.exists():
        with new_file(target, force) as file:
            file.write(text)
        if target != STANDARD:
            print(f"Wrote {target}.", file=sys.stderr)
    else:
        print(f"{target} exists already and stays; --force replaces it.", file=sys.stderr)
    if as_json:
        print(text, end="")
    elif target != STANDARD:
        out = console()
        page = final_page(course.record.name, moment_of(course), out.width, drawn)
        out.print(page, soft_wrap=True, highlight=False)


app.command("create")(on_server.create)
app.command("start")(on_server.start)
app.command("pause")(on_server.pause)
app.command("cancel")(on_server.cancel)
app.command("list")(on_server.list_tournaments)
app.command("show")(on_server.show)
app.command("watch")(on_server.watch)
