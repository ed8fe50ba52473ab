"""``ladder run``: put bots on a ladder and let them play until somebody stops it."""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import Annotated, Any

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.bots import entering
from keltis_cli.bots.candidates import named
from keltis_cli.bots.match import chosen_cores
from keltis_cli.draw.displays import display_for, with_symbols
from keltis_cli.draw.journal import Journal
from keltis_cli.draw.look import TITLE, Look, console, look, styled
from keltis_cli.draw.match_lines import names_of
from keltis_cli.draw.strokes import counted, lasting
from keltis_cli.draw.tables.leaderboard import leaderboard_lines
from keltis_cli.ladder.homes import DatabaseOption, DataOption, open_home, opened
from keltis_cli.ladder.running.operating import Operation, Terms, broken_off
from keltis_cli.ladder.running.screen import LadderState, ladder_lines
from keltis_cli.ladder.running.setup import (
    ask_before_joining,
    check_meetings,
    choose_sandbox,
    put_house_on_ladder,
    put_on_ladder,
    renew_ratings,
)
from keltis_engine import VARIANTS, find_variant
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.matchmaking.matchmaker import Matchmaker
from keltis_ladder.matchmaking.policy import Policy
from keltis_ladder.ratings.scopes import ANY, OVERALL, Scope
from keltis_ladder.run.fitting import Fitting
from keltis_ladder.run.pace import SETTLED_BELOW, PaceRules
from keltis_ladder.run.programs import Programs
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.run.tournaments import Director
from keltis_ladder.run.transactions import Transactions
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.boards import board
from keltis_ladder.store.ratings.lines import Line
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Ledger

SEED_BITS = 64
LEADERS = 3  # bots that a line of progress names


class LadderSubject:
    """A ladder while it runs."""

    def __init__(self, database: Database, scope: Scope, referees: int, look: Look) -> None:
        self.database = database
        self.scope = scope
        self.look = look
        title = "Ladder" if scope == OVERALL else f"Ladder, {scope.variant}"
        self.state = LadderState(Journal(), referees, title)
        self.over = False  # a ladder never ends by itself
        self.dispatcher: LocalDispatcher | None = None

    @property
    def journal(self) -> Journal:
        """What has happened in this run."""
        return self.state.journal

    def finish(self) -> None:
        """Take note that we are about to stop."""
        self.state.finishing = True

    def attend(self, dispatcher: LocalDispatcher) -> None:
        """Show the matches while they are played."""
        self.dispatcher = dispatcher

    def read(self) -> None:
        """Read the leaderboard, to which others may add, too."""
        with self.database.reading() as session:
            self.state.lines = board(session, self.scope).lines
            self.state.total = session.get_one(Ledger, 1).matches

    def lines(self, width: int, height: int) -> list[Text]:
        """Return the screen."""
        if self.dispatcher is not None:
            self.state.live = self.dispatcher.playing
        return ladder_lines(self.state, width, height, self.look, now())

    def line(self) -> str:
        """Return how it goes, and who leads."""
        journal = self.journal
        first = ", ".join(f"{line.bot} {_rating(line):.1f}" for line in self.state.lines[:LEADERS])
        return (
            f"{counted(journal.stored, 'match', 'matches')} in {lasting(journal.seconds)}, "
            f"{journal.per_minute:.0f} a minute; {counted(journal.faults, 'fault')}; {first}"
        )

    def report(self, width: int, look: Look) -> Text:
        """Return the leaderboard as it is in the end."""
        journal = self.journal
        played = counted(journal.stored, "match", "matches")
        head = f"{self.state.title}: {played} in {lasting(journal.seconds)}"
        if self.state.total > journal.stored:
            head += f", {self.state.total:,} in all"
        table = leaderboard_lines(self.state.lines, width, look, now())
        return Text("\n").join([styled(head, TITLE), Text(), *table])


def _rating(line: Line) -> float:
    return line.mu if line.joint is None else line.joint.rating


def run(
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT",
            help="Directories with a bot.toml, or built-in bots, to add to the ladder.",
            show_default=False,
        ),
    ] = None,
    data: DataOption = None,
    database: DatabaseOption = None,
    cores: arguments.CoresOption = None,
    matches: Annotated[
        int | None, typer.Option("--matches", "-n", min=1, help="Stop after N matches.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0, help="Stop after this time.")
    ] = None,
    variant: Annotated[
        list[str] | None,
        arguments.of_variant(f"Only {', '.join(VARIANTS)}; may be repeated.", show_default=False),
    ] = None,
    bank: arguments.BankOption = DEFAULT_CONTROL.bank_ms,
    increment: arguments.IncrementOption = DEFAULT_CONTROL.increment_ms,
    matches_per_minute: arguments.MatchesPerMinuteOption = None,
    settled_below: arguments.SettledBelowOption = None,
    no_house: Annotated[
        bool, typer.Option("--no-house", help="Do not add random, greedy and search.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each stored result as a line of JSON.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing before the end.")
    ] = False,
    yes: arguments.YesOption = False,
    no_sandbox: entering.NoSandboxOption = False,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Run a ladder until Ctrl-C: bots play, ratings move, the leaderboard is shown live."""
    chosen = list(dict.fromkeys(find_variant(name).id for name in variant or VARIANTS))
    # The bots of one user are here to meet each other.
    policy = Policy(variants=dict.fromkeys(chosen, 1.0), same_author=True)
    # An operator who says how long it shall run wants to see it play, settled or not.
    usual = SETTLED_BELOW if matches is None and seconds is None else 0.0
    pace = PaceRules(matches_per_minute, usual if settled_below is None else settled_below)
    playing_on = chosen_cores(cores)
    entrants = named(bots or [])
    home = open_home(data, database)
    ask_before_joining(home, yes)
    with opened(home.open()) as store:
        renew_ratings(store)
        sandbox = choose_sandbox(home, store, bots or [], no_sandbox)
        if not no_house:
            put_house_on_ladder(store)
        put_on_ladder(home, store, entrants, sandbox)
        check_meetings(store, policy)
        scope = OVERALL if len(chosen) > 1 else Scope(chosen[0], ANY)
        drawn = look(ascii_only)
        subject = LadderSubject(store, scope, len(playing_on), with_symbols(drawn))
        operation = Operation(
            Transactions(
                store, Programs(home, sandbox, lambda _: None), TimeControl(bank, increment)
            ),
            Director(store),
            Matchmaker(policy, seed=secrets.randbits(SEED_BITS)),  # no two propose the same
            subject,
            display_for(subject, quiet, for_programs=as_json),
            Terms(playing_on, sandbox is not None, matches, seconds, pace),
            tell_program if as_json else None,
            fitting=Fitting(store, lambda _: None),
        )
        with broken_off("the ladder"):
            code = asyncio.run(operation.run())
    if not as_json:
        out = console()
        out.print(subject.report(out.width, drawn), soft_wrap=True, highlight=False)
    raise typer.Exit(code)


def tell_program(told: ResultStored) -> None:
    """Print a stored result, at once: a result that was printed is never lost."""
    print(json.dumps(record(told), separators=(",", ":")), flush=True)


def record(told: ResultStored) -> dict[str, Any]:
    """Return a stored result for programs; ``docs/operators/ladder.md`` names every field."""
    playing, result, beliefs = told.playing, told.result, told.stored.beliefs
    faults = [0] * len(playing.order.versions)
    for game in result.games:
        for loss in game.losses:
            faults[game.entrants[loss.seat]] += 1
    ratings = [beliefs.get((version, OVERALL)) for version in playing.order.versions]
    return {
        "match": told.stored.number,
        "job": playing.job.id,
        "variant": playing.job.variant,
        "players": len(playing.order.versions),
        "rated": playing.order.rated,
        "bots": names_of(playing),
        "versions": list(playing.order.versions),
        "ranks": result.ranks,
        "shares": [float(share) for share in result.shares],
        "points": result.points,
        "faults": faults,
        "ratings": [
            {"mu": rating.mu, "sigma": rating.sigma} if rating else None for rating in ratings
        ],
    }
