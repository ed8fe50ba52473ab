"""The chain of results: the digest of each result covers it and all that were stored before it.

Nobody can change a result later, or slip one in, without changing every digest after it. The facts
that are digested are public when a match is over; ``docs/readers/seeds.md`` lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, select
from sqlmodel import Session

from keltis_ladder.match.seeds import FAULT_FACTS, NO_RESULT, Facts, match_facts, result_digest
from keltis_ladder.store.matches.records import MatchRows
from keltis_ladder.store.schema.relations import JOB, MATCH
from keltis_ladder.store.schema.tables import FaultRecord, Game, table_of

_BEFORE: Final = select(MATCH.c.result_digest).where(MATCH.c.number == bindparam("number"))


def chained_digest(
    connection: Connection, number: int, job_id: str, rated: bool, seed: str, rows: MatchRows
) -> str:
    """Return the digest of the result that is about to be stored under a number."""
    before = connection.execute(_BEFORE, {"number": number - 1}).scalar()
    facts = match_facts(number, job_id, rows.variant, rated, seed, rows.games, rows.faults)
    return result_digest(before or NO_RESULT, facts)


def broken_links(session: Session) -> Iterator[int]:
    """Yield the numbers of the results whose digest does not follow from them and those before.

    What comes after a broken link is judged by the digest that is stored there.
    """
    chunk, number, before = 500, 0, NO_RESULT
    while True:
        query = (
            select(
                MATCH.c.number, MATCH.c.job_id, MATCH.c.variant, MATCH.c.rated,
                MATCH.c.result_digest, JOB.c.seed,
            )
            .join(JOB, JOB.c.id == MATCH.c.job_id)
            .where(MATCH.c.number > number)
            .order_by(MATCH.c.number)
            .limit(chunk)
        )  # fmt: skip
        rows = session.execute(query).all()
        if not rows:
            return
        last = rows[-1].number
        games = _by_match(session, Game, ("rotation", "ending", "digest", "ranks"), number, last)
        faults = _by_match(session, FaultRecord, FAULT_FACTS, number, last)
        for row in rows:
            if row.result_digest is None:
                if before != NO_RESULT:
                    yield row.number  # once there are digests, every result has one
                continue
            facts = match_facts(
                row.number, row.job_id, row.variant, row.rated, row.seed,
                games.get(row.number, []), faults.get(row.number, []),
            )  # fmt: skip
            if result_digest(before, facts) != row.result_digest:
                yield row.number
            before = row.result_digest
        number = last


def _by_match(
    session: Session, model: type[Game | FaultRecord], names: Sequence[str], first: int, last: int
) -> dict[int, list[Facts]]:
    columns = table_of(model).c
    query = select(columns.match_number, *(columns[name] for name in names)).where(
        columns.match_number > first, columns.match_number <= last
    )
    found: dict[int, list[Facts]] = {}
    for row in session.execute(query):
        found.setdefault(row.match_number, []).append(dict(row._mapping))
    return found
