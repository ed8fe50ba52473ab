"""``audit``: analyse decisions, and verify what the audit found."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from sqlalchemy import select
from sqlmodel import Session

from keltis_cli import arguments
from keltis_cli.draw.printable import printable
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.draw.strokes import counted
from keltis_cli.errors import BadRequest
from keltis_cli.exit_codes import ExitCode
from keltis_cli.ladder.homes import DatabaseOption, DataOption, existing_ladder
from keltis_ladder.store.audit.book import advance, compare, replace
from keltis_ladder.store.audit.decisions import Looked
from keltis_ladder.store.audit.decisions import look as look_at
from keltis_ladder.store.bots.browsing import find_bot
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.tables import Bot, table_of

SHOWN: Final = 10  # differences that are told

app = arguments.group("Check whether bots of a ladder use hidden information, or verify the audit.")


@app.command()
def look(
    bot: Annotated[str, typer.Argument(metavar="[BOT]", help="Only matches of this bot.")] = "",
    latest: Annotated[
        int | None, typer.Option("--latest", min=1, help="Maximum number of matches, the latest.")
    ] = None,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Analyse the decisions of matches not analysed yet, about one a second.

    A ladder may be served meanwhile. If interrupted, the next run resumes there. What is found
    is told here, by `admin audit`, and to the authors; the exit code is 1 if anybody is suspicious.
    """
    with existing_ladder(data, database) as (_, found):
        while found.write(advance).left:
            pass
        chosen = _find(found, bot) if bot else None
        with ProgressBar("looking at decisions") as work:
            looked = look_at(found, chosen, latest, work.tell)
        names = _names(found, looked)
    print(f"Looked at {counted(looked.matches, 'match', 'matches')}.")
    if looked.removed:
        print(f"Of {counted(looked.removed, 'match', 'matches')} the moves are not kept any more.")
    if names:
        print(f"More than chance allows: {', '.join(names)}. See: keltis-ladder admin audit")
        raise typer.Exit(ExitCode.FAILED)
    print("Nobody new is suspicious.")


@app.command()
def recompute(
    store: Annotated[
        bool, typer.Option("--store", help="Replace what is stored by what was recomputed.")
    ] = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Work the audit out again from the results, and compare: every number has to be the same."""
    with existing_ladder(data, database) as (_, found):
        if store:
            print(f"Stored again, from {counted(found.write(replace), 'match', 'matches')}.")
            return
        with found.reading() as session:
            result = compare(session)
    matches = counted(result.matches, "match", "matches")
    print(f"Worked out {matches}, compared {result.compared:,} entries.")
    if result.equal:
        print("All are equal.")
        return
    print(f"{len(result.differences):,} are not equal:")
    for text in result.differences[:SHOWN]:
        print(f"  {text}")
    print("To replace them: keltis-ladder audit recompute --store")
    raise typer.Exit(ExitCode.FAILED)


def _find(database: Database, name: str) -> int:
    with database.reading() as session:
        bot = find_bot(session, name)
    if bot is None or bot.id is None:
        raise BadRequest(f"there is no bot {printable(name)} on this ladder")
    return bot.id


def _names(database: Database, looked: Looked) -> list[str]:
    def work(session: Session) -> list[str]:
        table = table_of(Bot)
        query = select(table.c.name).where(table.c.id.in_(looked.suspects)).order_by(table.c.name)
        return [printable(name) for name in session.execute(query).scalars()]

    with database.reading() as session:
        return work(session)
