"""``replay``: tell a recorded game, check records, or write them out in full."""

from __future__ import annotations

import json
import re
from itertools import groupby
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
from rich.console import Console

from keltis_cli import arguments
from keltis_cli.draw.boards.boards import draw
from keltis_cli.draw.look import TITLE, Look, console, look
from keltis_cli.draw.narrator import turns
from keltis_cli.draw.printable import printable
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.errors import BadRequest
from keltis_cli.exit_codes import ExitCode
from keltis_cli.files import read_lines
from keltis_cli.games.narrating import Viewer, say, score_table, seen, watch
from keltis_engine import POST_GAME, EngineError, State
from keltis_engine.records.replay import Replay, play_again, read_replay, steps
from keltis_engine.records.replay import verify as verified
from keltis_ladder.referee.verify import (
    CheckOutcome,
    Verdict,
    compare_games,
    expanded,
    unknown_fields,
    verify_game,
)

HASH: Final = re.compile("[0-9a-f]{64}")
OUTCOMES: Final = {  # of checks, in the order in which they are told
    CheckOutcome.OK: "ok",
    CheckOutcome.WRONG: "wrong",
    CheckOutcome.WEAK: "weak",
    CheckOutcome.ABSENT: "not in the file",
}


class Narration(NamedTuple):
    """Whose eyes a game is told through, and how often its board is drawn."""

    viewer: Viewer
    board_every: int | None


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File of replays; - is stdin.")],
    game: Annotated[
        int | None, typer.Option("--game", "-g", metavar="K", min=1, help="Only the K-th game.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay all games and check all that the file says.")
    ] = False,
    noted: Annotated[
        str | None,
        typer.Option(
            "--commitment",
            metavar="HASH",
            help="With --verify: the hash of the seed that you noted before the match.",
        ),
    ] = None,
    expand: Annotated[
        bool, typer.Option("--expand", help="Print every step as JSON, for other programs.")
    ] = False,
    board: Annotated[
        int | None,
        typer.Option("--board", metavar="N", min=1, help="Draw the board every N turns."),
    ] = None,
    seat: Annotated[
        int | None, typer.Option("--seat", metavar="S", help="Show only what this seat knew.")
    ] = None,
    ascii_only: arguments.AsciiOption = False,
) -> None:
    """Narrate a game, or check and expand recorded games."""
    if noted is not None and not verify:
        raise BadRequest("--commitment is compared by --verify: add it")
    lines = chosen_lines(file, game)
    if verify:
        verify_all(lines, None if noted is None else noted_hash(noted), whole=game is None)
    elif expand:
        expand_all(lines)
    else:
        number, line = lines[0]
        try:
            record = read_replay(line)
            end = verified(record)
        except EngineError as error:
            refuse(number, error)
            raise typer.Exit(ExitCode.FAILED) from None
        viewer: Viewer = POST_GAME if seat is None else seat
        tell(record, end, console(), look(ascii_only), Narration(viewer, board))
        if len(lines) > 1:
            print(f"\n{len(lines)} games are in this file: choose another one with --game.")


def chosen_lines(file: Path, game: int | None) -> list[tuple[int, str]]:
    """Return the lines that hold games, with their numbers in the file."""
    lines = [(k, line) for k, line in enumerate(read_lines(file), 1) if line.strip()]
    if not lines:
        raise BadRequest(
            f"{file} holds no games: write some with keltis-ladder selfplay --out FILE"
        )
    if game is None:
        return lines
    if game > len(lines):
        raise BadRequest(f"there is no game {game} in {file}: it holds {len(lines)}")
    return [lines[game - 1]]


def refuse(number: int, error: object) -> None:
    """Say on the error output what is wrong with a line."""
    text = f"line {number}: {error}"
    console(stderr=True).print(text, soft_wrap=True, highlight=False, markup=False)


def noted_hash(text: str) -> str:
    """Return a commitment as it is written everywhere."""
    text = text.strip().lower()
    if not HASH.fullmatch(text):
        raise BadRequest(f"{printable(text)!r} is no commitment: one is 64 digits from 0 to f")
    return text


def verify_all(lines: list[tuple[int, str]], noted: str | None = None, whole: bool = True) -> None:
    """Play all games again; say for each line what held, and what did not."""
    verdicts = verified_lines(lines, noted, whole)
    tell_verdicts(verdicts)
    good = [each for _, each in verdicts if isinstance(each, Verdict) and not each.wrong]
    count = len(lines)
    if len(good) < count:
        print(f"{len(good)} of {count} games OK")
    else:
        print(f"OK: {count} {'game' if count == 1 else 'games'}")
    committed = sum("commitment" in verdict.names(CheckOutcome.OK) for verdict in good)
    if committed and len(good) == count:
        print(what_was_committed(committed, len(good), noted))
    if weak := {text for verdict in good for text in weaknesses(verdict)}:
        for text in sorted(weak):
            print(text)
    if len(good) < count:
        raise typer.Exit(ExitCode.FAILED)


Verdicts = list[tuple[int, Verdict | str]]  # by line; a text: why it cannot be read


def verified_lines(lines: list[tuple[int, str]], noted: str | None, whole: bool) -> Verdicts:
    """Return the verdict on each line."""
    verdicts: Verdicts = []
    with ProgressBar("verify", len(lines), lines=False) as bar:
        for done, (number, line) in enumerate(lines):
            bar.tell(done)
            try:
                verdicts.append((number, verify_game(read_replay(line), noted)))
            except EngineError as error:
                verdicts.append((number, str(error)))
    compare_games([each for _, each in verdicts if isinstance(each, Verdict)], whole)
    return verdicts


def tell_verdicts(verdicts: Verdicts) -> None:
    """Say for each line what held; lines that follow each other and say the same are one."""
    for outcome, group in groupby(verdicts, key=lambda each: outcome_of(each[1])):
        numbers = [number for number, _ in group]
        if outcome:
            where = (
                f"line {numbers[0]}"
                if len(numbers) == 1
                else f"lines {numbers[0]} to {numbers[-1]}"
            )
            console().print(f"{where}: {outcome}", soft_wrap=True, highlight=False, markup=False)
    for number, verdict in verdicts:
        if isinstance(verdict, str):
            refuse(number, printable(verdict))
        else:
            refuse_wrong(number, verdict)


def refuse_wrong(number: int, verdict: Verdict) -> None:
    """Say what is wrong with a game."""
    for check in verdict.wrong:
        refuse(number, f"{check.name}: {printable(check.text)}")


def outcome_of(verdict: Verdict | str) -> str:
    """Return which checks came out how, in one line; nothing if there is no game."""
    if isinstance(verdict, str):
        return ""
    told = [
        f"{OUTCOMES[mark]}: {', '.join(names)}"
        for mark in CheckOutcome
        if (names := verdict.names(mark))
    ]
    if others := [printable(name) for name in unknown_fields(verdict.record)]:
        told.append(f"not known, and not checked: {', '.join(others)}")
    return "; ".join(told)


def weaknesses(verdict: Verdict) -> list[str]:
    """Say what follows from what holds and yet proves less than it might."""
    return [
        f"Note: {check.name}: {printable(check.text)}."
        for check in verdict.checks
        if check.mark is CheckOutcome.WEAK
    ]


def what_was_committed(committed: int, good: int, noted: str | None) -> str:
    """Say what follows from the commitments, and what does not."""
    which = "of all of them" if committed == good else f"of {committed} of them"
    if noted is not None:
        return f"The seed {which} fits the hash that you noted: the deal was fixed before you did."
    return (
        f"The seed {which} fits the commitment in the file. That the deal was fixed before the"
        " match shows only\na hash that you noted before: compare it with --commitment HASH."
    )


def expand_all(lines: list[tuple[int, str]]) -> None:
    """Print each game with every step in full, one JSON object per line."""
    for number, line in lines:
        try:
            record = read_replay(line)
            verdict = verify_game(record)
        except EngineError as error:
            refuse(number, error)
            raise typer.Exit(ExitCode.FAILED) from None
        if verdict.wrong:
            refuse_wrong(number, verdict)
            raise typer.Exit(ExitCode.FAILED)
        end, _ = play_again(record)
        print(json.dumps(expanded(record, end), separators=(",", ":")))


def tell(record: Replay, end: State, out: Console, look: Look, how: Narration) -> None:
    """Tell a whole game, then show how it stood at the end and what it was worth."""
    options = ", ".join(f"{name}={value}" for name, value in record["options"].items())
    title = f"{record['variant']}, {record['players']} players, seed {record['seed']} ({options})"
    out.print(title, style=TITLE, highlight=False)
    for count, turn in enumerate(turns(watch(steps(record), how.viewer)), 1):
        say(out, turn.sentence())
        if how.board_every and count % how.board_every == 0:
            out.print(draw(turn.view, look), soft_wrap=True)
    out.print()
    out.print(draw(seen(end, how.viewer), look), soft_wrap=True)
    out.print()
    out.print(score_table(end), soft_wrap=True)
