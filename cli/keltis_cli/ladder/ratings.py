"""``ratings``: verify the stored ratings, recompute them, and compare them with a refit."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

import typer
from rich.text import Text
from sqlmodel import Session

from keltis_cli import arguments
from keltis_cli.draw.look import TITLE, console
from keltis_cli.draw.printable import printable
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.draw.strokes import counted
from keltis_cli.draw.tables.aligned import table
from keltis_cli.errors import BadRequest
from keltis_cli.exit_codes import ExitCode
from keltis_cli.ladder.homes import DatabaseOption, DataOption, existing_ladder
from keltis_cli.ladder.ratings_package import agrees_with_package
from keltis_cli.ladder.scopes import ScopePlayers, ScopeVariant, scope_of
from keltis_ladder.ratings.ranking import Z95
from keltis_ladder.ratings.refit import Played, Refit
from keltis_ladder.ratings.refit import refit as fit_again
from keltis_ladder.ratings.scopes import ALL, ANY, Scope
from keltis_ladder.ratings.skill import Belief
from keltis_ladder.store.bots.catalogue import predecessors
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.joint.publishing import publish_all
from keltis_ladder.store.ratings.leaderboards import leaderboard
from keltis_ladder.store.ratings.lines import Line
from keltis_ladder.store.ratings.rated_matches import records
from keltis_ladder.store.ratings.recomputing import Comparison, compare, replace

FORMAT: Final = "keltis-ladder ratings recompute 1"
REFIT_FORMAT: Final = "keltis-ladder ratings refit 1"

app = arguments.group("Verify the ratings of a ladder, or recompute them.")


class Package(StrEnum):
    """Whose rating update is compared with ours."""

    TRUESKILL = "trueskill"


@app.command()
def recompute(
    store: Annotated[
        bool, typer.Option("--store", help="Replace the stored ratings by the new ones.")
    ] = False,
    from_checkpoint: Annotated[
        bool,
        typer.Option(
            "--from-checkpoint", help="Start at the newest checkpoint, not the first match."
        ),
    ] = False,
    package: Annotated[
        Package | None,
        typer.Option("--with", help="Rate by this package, and compare: slow, but independent."),
    ] = None,
    as_json: arguments.JsonOption = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Recompute all ratings from the results, and compare them with the stored ones.

    They have to be equal, to the last bit: the exit code is 0 if they are, 1 if not. With --store
    they are replaced instead, which a release with another rating model asks for. With --with
    trueskill the package of that name rates the results, and the ratings have to agree within a
    millionth of a point: the exit code is 0 if they do, 1 if not.
    """
    if store and from_checkpoint:
        raise BadRequest("ratings are stored from the first match on: leave out --from-checkpoint")
    if package is not None and (store or from_checkpoint):
        raise BadRequest(
            "--with compares all ratings from the first match on and stores nothing: "
            "leave out --store and --from-checkpoint"
        )
    with existing_ladder(data, database) as (_, found):
        if store:
            _store(found, as_json)
        elif package is not None:
            if not agrees_with_package(found, as_json):
                raise typer.Exit(ExitCode.FAILED)
        elif not _prove(found, from_checkpoint, as_json):
            raise typer.Exit(ExitCode.FAILED)


def _prove(database: Database, from_checkpoint: bool, as_json: bool) -> bool:
    begin = time.monotonic()
    with database.reading() as session, ProgressBar("working out the ratings") as work:
        comparison, _ = compare(session, work.tell, from_checkpoint)
    seconds = time.monotonic() - begin
    if as_json:
        print(json.dumps(_document(comparison, seconds), indent=1))
    else:
        print("\n".join(_verdict(comparison, seconds)))
    return comparison.equal


def _verdict(found: Comparison, seconds: float) -> list[str]:
    compared = f"{found.ratings:,} ratings, {found.steps:,} rating steps, {found.duels:,} duels"
    lines = [f"{_pace(found.matches, seconds)} Compared {compared}."]
    if found.joint:
        lines.append(f"Fitted the joint rating, and compared {found.joint:,} published figures.")
    if found.since:
        lines.append(f"Began at the checkpoint after match {found.since:,}.")
    if found.checkpoints:
        lines.append(f"Came through {counted(found.checkpoints, 'checkpoint')}.")
    if found.pruned:
        lines.append(f"{counted(found.pruned, 'rating step')} not stored any more: pruned.")
    if found.equal:
        return [*lines, "All are equal, to the last bit."]
    left_out = found.differences - len(found.examples)
    return [
        *lines,
        f"{found.differences:,} are not equal:",
        *(f"  {example}" for example in found.examples),
        *([f"  and {left_out:,} more"] if left_out else []),
        "To replace them: keltis-ladder ratings recompute --store",
    ]


def _pace(matches: int, seconds: float) -> str:
    pace = matches / max(seconds, 1e-3)
    return f"Recomputed {matches:,} rated matches in {seconds:.1f} s ({pace:,.0f}/s)."


def _document(found: Comparison, seconds: float) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "stored": False,
        "equal": found.equal,
        "matches": found.matches,
        "seconds": round(seconds, 3),
        "ratings": found.ratings,
        "steps": found.steps,
        "duels": found.duels,
        "joint": found.joint,
        "since": found.since,
        "checkpoints": found.checkpoints,
        "pruned": found.pruned,
        "differences": found.differences,
        "examples": found.examples,
    }


def _store(database: Database, as_json: bool) -> None:
    begin = time.monotonic()
    with ProgressBar("working out the ratings") as work:
        matches = database.write(lambda session: replace(session, work.tell))
    with ProgressBar("fitting the joint rating") as work:
        joint = publish_all(database, work.tell)
    seconds = time.monotonic() - begin
    if as_json:
        whole = {
            "format": FORMAT,
            "stored": True,
            "matches": matches,
            "joint": joint,
            "seconds": round(seconds, 3),
        }
        print(json.dumps(whole, indent=1))
    else:
        print(f"{_pace(matches, seconds)} Stored them.")


@app.command()
def refit(
    variant: ScopeVariant = None,
    players: ScopePlayers = None,
    as_json: arguments.JsonOption = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Fit ratings to all matches together, and show them beside the stored ones.

    A stored rating depends on the order of the matches; the refit does not. Where the two are far
    apart, the stored one has not settled yet.
    """
    scope = scope_of(variant, players)
    with (
        existing_ladder(data, database) as (_, found),
        found.reading() as session,
        ProgressBar("fitting all matches"),
    ):
        fitted, matches = _fit(session, scope)
        lines = leaderboard(session, scope, everybody=True)
    pairs = _pairs(lines, fitted)
    if as_json:
        print(json.dumps(_refit_document(scope, matches, fitted, pairs), indent=1))
        return
    out = console()
    kind = f"{scope}, {matches:,} rated matches, {fitted.sweeps} sweeps"
    out.print(f"Refit: {kind}, intervals of 95 %", style=TITLE, highlight=False)
    if pairs:
        out.print(_table(pairs), soft_wrap=True, highlight=False)
    if not fitted.converged:
        out.print("It has not converged: the numbers are not final.", highlight=False)


@dataclass(frozen=True)
class Pair:
    """A version's stored rating, and what the refit says."""

    line: Line
    belief: Belief

    @property
    def low(self) -> float:
        """The lower end of the refit's 95 % interval."""
        return self.belief.mu - Z95 * self.belief.sigma

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.belief.mu + Z95 * self.belief.sigma


def _fit(session: Session, scope: Scope) -> tuple[Refit, int]:
    """Fit the matches of a scope; return also how many they are."""
    played = [
        Played(
            id=f"{record.number:012}",
            versions=tuple(share.version for share in record.shares),
            ranks=tuple(share.rank for share in record.shares),
            variant=record.variant,
            players=record.players,
        )
        for record in records(session)
        if scope.variant in (ALL, record.variant) and scope.players in (ANY, record.players)
    ]
    return fit_again(played, predecessors(session)), len(played)


def _pairs(lines: Sequence[Line], fitted: Refit) -> list[Pair]:
    pairs = [Pair(line, fitted.beliefs[line.version]) for line in lines]
    return sorted(pairs, key=lambda pair: -pair.belief.mu)


def _table(pairs: Sequence[Pair]) -> Text:
    headings = [
        "bot", "version", "state", "matches",
        "stored", "interval", "refit", "its interval", "change",
    ]  # fmt: skip
    rows = [
        [
            printable(pair.line.bot),
            str(pair.line.number),
            pair.line.state,
            f"{pair.line.matches:,}",
            f"{pair.line.mu:.2f}",
            f"{pair.line.low:.1f} to {pair.line.high:.1f}",
            f"{pair.belief.mu:.2f}",
            f"{pair.low:.1f} to {pair.high:.1f}",
            f"{pair.belief.mu - pair.line.mu:+z.2f}",
        ]
        for pair in pairs
    ]
    return table(headings, rows, left=["bot", "state"])


def _refit_document(
    scope: Scope, matches: int, fitted: Refit, pairs: Sequence[Pair]
) -> dict[str, Any]:
    return {
        "format": REFIT_FORMAT,
        "scope": str(scope),
        "matches": matches,
        "sweeps": fitted.sweeps,
        "converged": fitted.converged,
        "versions": [
            {
                "version": pair.line.version,
                "bot": pair.line.bot,
                "number": pair.line.number,
                "state": pair.line.state,
                "matches": pair.line.matches,
                "stored": _belief(pair.line.mu, pair.line.sigma),
                "refit": _belief(pair.belief.mu, pair.belief.sigma),
            }
            for pair in pairs
        ],
    }


def _belief(mu: float, sigma: float) -> dict[str, float]:
    return {"mu": mu, "sigma": sigma, "low": mu - Z95 * sigma, "high": mu + Z95 * sigma}
