"""``db``: create, upgrade, check and back up the database of a ladder."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from keltis_cli import arguments
from keltis_cli.draw.findings import say_finding
from keltis_cli.draw.look import TITLE, console
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.draw.strokes import counted
from keltis_cli.exit_codes import ExitCode
from keltis_cli.ladder import lifetimes
from keltis_cli.ladder.homes import DatabaseOption, DataOption, existing_ladder, open_home, opened
from keltis_ladder.findings import Doing, Finding, Mark
from keltis_ladder.store.audit import soundness
from keltis_ladder.store.database import Database
from keltis_ladder.store.home import Home, make_private
from keltis_ladder.store.ratings.renewing import publish_first, renew
from keltis_ladder.store.retention import Swept, sweep
from keltis_ladder.store.schema import upkeep
from keltis_ladder.store.schema.moments import now

PRUNE_FORMAT: Final = "keltis-ladder db prune 1"
FORMAT: Final = "keltis-ladder db check 1"
NAME_WIDTH: Final = 11  # cells for the name of a check

app = arguments.group("Check, upgrade, back up or prune the database of a ladder.")


@app.command()
def upgrade(data: DataOption = None, database: DatabaseOption = None) -> None:
    """Create the database, or upgrade one of an older release.

    If that one rated differently, all ratings are worked out again from the results, the joint
    rating, too. This may be repeated if it is broken off.
    """
    home = open_home(data, database)
    home.make_directory()
    with opened(Database(home.url)) as found:
        make_private(found)
        before, now = upkeep.upgrade(found)
        with ProgressBar() as work:
            rated = renew(found, work)
            fitted = publish_first(found, work)
    if before is None:
        print(f"Made the database {found.shown}, step {now}.")
    elif before == now:
        print(f"The database {found.shown} is up to date, step {now}.")
    else:
        print(f"Brought the database {found.shown} from step {before} to step {now}.")
    if rated is not None:
        matches = counted(rated, "rated match", "rated matches")
        print(f"The ratings came from another release: worked them out again from {matches}.")
    if fitted:
        print(f"Fitted the joint rating: {counted(fitted, 'figure')}.")


@app.command()
def check(
    deep: Annotated[
        bool, typer.Option("--deep", help="Replay every stored game; this takes long.")
    ] = False,
    from_checkpoint: Annotated[
        bool,
        typer.Option("--from-checkpoint", help="Recompute ratings from the newest checkpoint."),
    ] = False,
    as_json: arguments.JsonOption = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Check that the database is complete and consistent.

    The exit code is 0 if it is, 1 if something failed. The ladder may be in use meanwhile.
    """
    findings: list[Finding] = []
    with existing_ladder(data, database) as (home, found), ProgressBar() as work:
        for event in soundness.check(home, found, deep, work.tell, from_checkpoint):
            if isinstance(event, Doing):
                work.begin(event.text)
                continue
            findings.append(event)
            work.rest()
            if not as_json:
                say_finding(console(), event, width=NAME_WIDTH)
    failed = sum(finding.mark is Mark.FAILED for finding in findings)
    if as_json:
        whole = {
            "format": FORMAT,
            "database": found.shown,
            "deep": deep,
            "passed": not failed,
            "findings": [plain(finding) for finding in findings],
        }
        print(json.dumps(whole, indent=1))
    else:
        sum_up(failed, deep)
    if failed:
        raise typer.Exit(ExitCode.FAILED)


def plain(finding: Finding) -> dict[str, str]:
    """Return a finding for programs."""
    return {
        "check": finding.check,
        "mark": str(finding.mark),
        "text": finding.text,
        "advice": finding.advice,
    }


def sum_up(failed: int, deep: bool) -> None:
    """Print whether all is well."""
    verdict = f"{failed} failed." if failed else "All is well."
    hint = "" if deep or failed else " To play every game again, add --deep."
    console().print(f"\n{verdict}{hint}", style=TITLE, highlight=False)


@app.command()
def prune(
    keep_steps: lifetimes.KeepStepsOption = lifetimes.STEPS,
    keep_replays: lifetimes.KeepReplaysOption = lifetimes.REPLAYS,
    keep_tournament_replays: lifetimes.KeepTournamentReplaysOption = lifetimes.TOURNAMENT_REPLAYS,
    keep_logs: lifetimes.KeepLogsOption = lifetimes.LOGS,
    keep_credentials: lifetimes.KeepCredentialsOption = lifetimes.CREDENTIALS,
    dry_run: arguments.DryRunOption = False,
    vacuum: Annotated[
        bool,
        typer.Option("--vacuum", help="Return free space to the disk (SQLite); writers wait."),
    ] = False,
    as_json: arguments.JsonOption = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Remove expired data, as a server does once a day. Results stay.

    The ladder may be in use meanwhile.
    """
    kept = lifetimes.retention(
        keep_steps, keep_replays, keep_tournament_replays, keep_logs, keep_credentials
    )
    with existing_ladder(data, database) as (_, found):
        swept = sweep(found, kept, now(), dry_run)
        freed = upkeep.vacuum(found) if vacuum and not dry_run else 0
    if as_json:
        print(json.dumps({"format": PRUNE_FORMAT, "dry_run": dry_run, **asdict(swept)}, indent=1))
        return
    print("\n".join(pruned_lines(swept, dry_run)))
    if vacuum and not dry_run:
        print(f"The file is smaller by {freed / 1_000_000:,.1f} MB.")


def pruned_lines(swept: Swept, dry_run: bool) -> list[str]:
    """Say what was removed, or would be."""
    counts = [
        counted(swept.steps, "rating step"),
        counted(swept.replays, "replay of a game", "replays of games"),
        counted(swept.cards, "crash card"),
        counted(swept.outputs, "output of a build", "outputs of builds"),
        counted(swept.credentials, "token or invitation", "tokens and invitations"),
    ]
    told = ", ".join(counts)
    verb = "Would remove" if dry_run else "Removed"
    lines = [f"{verb} {told}: {swept.size / 1_000_000:,.1f} MB of replays and logs."]
    if swept.checkpoint is not None:
        lines.append(f"Made a checkpoint of the ratings after match {swept.checkpoint:,}.")
    return lines


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A new directory.")],
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Copy the database and the bots' files, as they are at this moment, to a new directory.

    The ladder may be in use meanwhile. An older release's database can be copied, too.
    """
    home = open_home(data, database)
    with opened(Database(home.url)) as found, ProgressBar("copying") as work:
        upkeep.backup(found, home.archives.root, target, work.tell)
    print(f"Wrote {target}: {', '.join(contents(target))}.")
    print(restoring(home, found, target))


def contents(target: Path) -> list[str]:
    """Return what a backup consists of."""
    (copy,) = target.glob("ladder.*")
    archives = [path for path in (target / "archives").rglob("*") if path.is_file()]
    size = f"{copy.stat().st_size / 1_000_000:,.1f} MB"
    count = f"{len(archives):,} {'archive' if len(archives) == 1 else 'archives'}"
    return [f"the database ({size})", count]


def restoring(home: Home, database: Database, target: Path) -> str:
    """Return how to get it back."""
    if database.is_sqlite:
        return f"It is a ladder's directory: use it with --data {target}, or copy its files back."
    return (
        f"To restore it: pg_restore --dbname NEW_DATABASE {target / 'ladder.dump'}, and copy "
        f"{target / 'archives'} to {home.directory}"
    )
