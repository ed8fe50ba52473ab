"""``ladder``: run a ladder, and look at what is stored of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from keltis_cli import arguments
from keltis_cli.bots import entering
from keltis_cli.bots.candidates import named
from keltis_cli.draw.look import QUIET, TITLE, console, look, styled
from keltis_cli.draw.strokes import counted
from keltis_cli.draw.tables.leaderboard import bot_name, leaderboard_lines
from keltis_cli.draw.tables.matrix import matrix_lines
from keltis_cli.draw.tables.versions import version_lines
from keltis_cli.files import STANDARD, new_file
from keltis_cli.ladder.homes import DatabaseOption, DataOption, existing_ladder, open_home, opened
from keltis_cli.ladder.json_output import bots_document, leaderboard_document, matrix_document
from keltis_cli.ladder.running.run import run
from keltis_cli.ladder.running.setup import choose_sandbox, put_on_ladder, say
from keltis_cli.ladder.scopes import ScopePlayers, ScopeVariant, scope_of
from keltis_cli.ladder.stored_match import match_page
from keltis_ladder.ratings.official import Official
from keltis_ladder.ratings.scopes import ALL, Scope
from keltis_ladder.store.bots.catalogue import all_versions
from keltis_ladder.store.bots.submissions import take_back
from keltis_ladder.store.matches.replays import replays_of
from keltis_ladder.store.ratings.boards import board
from keltis_ladder.store.ratings.leaderboards import head_to_head
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Ledger

TOP: Final = 12

app = arguments.group("Run a ladder, and look at its leaderboard, matches and bots.")
app.command()(run)


@app.command()
def show(
    variant: ScopeVariant = None,
    players: ScopePlayers = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Include versions that no longer play.")
    ] = False,
    official: Annotated[
        Official,
        typer.Option(
            "--official", envvar="KELTIS_OFFICIAL", help="Rating that orders the leaderboard."
        ),
    ] = Official.JOINT,
    as_json: arguments.JsonOption = False,
    data: DataOption = None,
    database: DatabaseOption = None,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Show the leaderboard."""
    scope = scope_of(variant, players)
    with existing_ladder(data, database) as (_, store), store.reading() as session:
        found = board(session, scope, everybody, official)
        total = session.get_one(Ledger, 1).matches
    if as_json:
        _print_json(leaderboard_document(scope, total, found, official))
        return
    out = console()
    page = leaderboard_lines(
        found.lines, out.width, look(ascii_only), now(), in_full=True, ordered=official
    )
    _print([_title("Leaderboard", scope, total), Text(), *page])


@app.command()
def matrix(
    top: Annotated[int, typer.Option("--top", min=2, help="Number of bots, the best first.")] = TOP,
    variant: ScopeVariant = None,
    players: ScopePlayers = None,
    as_json: arguments.JsonOption = False,
    data: DataOption = None,
    database: DatabaseOption = None,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Show who was ahead of whom, and how often: per cent, and the number of matches."""
    scope = scope_of(variant, players)
    with existing_ladder(data, database) as (_, store), store.reading() as session:
        lines = board(session, scope).lines[:top]
        met = head_to_head(session, [line.version for line in lines], scope)
        total = session.get_one(Ledger, 1).matches
    if as_json:
        _print_json(matrix_document(scope, lines, met))
        return
    page = matrix_lines(lines, met, console().width, look(ascii_only))
    _print([_title("Head to head", scope, total), Text(), *page])


@app.command()
def replay(
    number: Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="Number of the match.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="File for its replays, one per line; - is stdout.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the replays.")] = False,
    force: arguments.ForceOption = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Show the result of a stored match, or write its games for `keltis-ladder replay`."""
    with existing_ladder(data, database) as (_, store), store.reading() as session:
        games = replays_of(session, number)
    target = STANDARD if as_json and out is None else out
    if target is None:
        _print(match_page(number, games))
        return
    with new_file(target, force) as file:
        for game in games:
            file.write(json.dumps(game, separators=(",", ":")) + "\n")
    if target != STANDARD:
        say(f"Wrote {target}. To read a game: keltis-ladder replay {target} --game 1")


@app.command()
def bots(
    as_json: arguments.JsonOption = False,
    data: DataOption = None,
    database: DatabaseOption = None,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """List all bots and their versions, and why one does not play."""
    with existing_ladder(data, database) as (_, store), store.reading() as session:
        rows = all_versions(session)
    if as_json:
        _print_json(bots_document(rows))
    else:
        _print(version_lines(rows, console().width, look(ascii_only)))


@app.command()
def add(
    directories: Annotated[
        list[str],
        typer.Argument(metavar="BOT...", help="Directories with a bot.toml, or built-in bots."),
    ],
    no_sandbox: entering.NoSandboxOption = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Put bots on the ladder; a changed directory becomes the bot's next version."""
    coming = named(directories)
    home = open_home(data, database)
    with opened(home.open()) as store:
        sandbox = choose_sandbox(home, store, directories, no_sandbox)
        put_on_ladder(home, store, coming, sandbox, again=True)


@app.command()
def retire(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Name of the bot.")],
    reason: Annotated[str, typer.Option("--reason", help="Reason.")] = "taken back",
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Take a bot off the ladder; its results stay."""
    with existing_ladder(data, database) as (_, store):
        done = store.write(lambda session: take_back(session, bot, reason))
    for change in reversed(done.changed):
        say(f"{bot_name(bot, change.number)} is off the ladder; its results stay.")


def _title(text: str, scope: Scope, total: int) -> Text:
    """Say what is shown, and how much was played."""
    kind = "all variants" if scope.variant == ALL else scope.variant
    stored = counted(total, "match", "matches")
    if scope.players:
        kind += f", {scope.players} players"
    return styled(f"{text}: {kind}", TITLE).append(f"  ({stored} stored)", QUIET)


def _print(lines: list[Text]) -> None:
    console().print(Text("\n").join(lines), soft_wrap=True, highlight=False)


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1, allow_nan=False))
