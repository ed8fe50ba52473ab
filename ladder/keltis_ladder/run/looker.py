"""The looker: a process that looks at decisions for the audit while a ladder is played.

To look at a match takes a second of computing, more than a server may spend in itself. It takes the
newest match that nobody has looked at, so that where more is played than it has time for everybody
is looked at all the same, and works through the others when less is played. Which match is next
does not depend on what happened in it, and so the odds of the audit hold. It keeps nothing that is
not in the database, and can be killed at any moment. For each match it writes a line.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from keltis_engine import EngineError
from keltis_ladder.run.beside_child import FINISH, Orders, follow
from keltis_ladder.store.audit.book import mark_of, unlooked
from keltis_ladder.store.audit.decisions import look_at
from keltis_ladder.store.database import Database

IDLE: Final = 5.0  # seconds from one look for new matches to the next
AT_ONCE: Final = 20  # matches that are chosen in one go

Tell = Callable[[int, tuple[int, ...]], None]  # a match, and the bots that it made suspicious


class Looker:
    """Looks at one match after the other."""

    def __init__(
        self,
        database: Database,
        share: float,
        tell: Tell,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._database = database
        self._share = share  # of a core
        self._tell = tell
        self._clock = clock
        self._settled = 0  # up to this match there is nothing left to look at
        self._chosen: list[int] = []  # matches to look at next
        self._passed: set[int] = set()  # those that could not be looked at

    def work(self) -> float:
        """Look at a match, if there is one; return for how many seconds to rest."""
        begin = self._clock()
        if not self._chosen and not self._choose():
            return IDLE
        number = self._chosen.pop(0)
        try:
            suspects = look_at(self._database, number)
        except EngineError as error:  # it was played by other rules: db check tells of it
            print(f"match {number} cannot be looked at: {error}", file=sys.stderr, flush=True)
            suspects = None
        if suspects is None:
            self._passed.add(number)
        else:
            self._tell(number, suspects)
        return (self._clock() - begin) * (1 / self._share - 1)

    def _choose(self) -> bool:
        with self._database.reading() as session:
            begin, done = mark_of(session)
            after = max(begin, self._settled)
            if done > after:
                self._chosen = unlooked(session, after, done, AT_ONCE, self._passed)
        if not self._chosen:
            self._settled = done
            self._passed.clear()
        return bool(self._chosen)


def tell(match: int, suspects: tuple[int, ...]) -> None:
    """Write a line about a match."""
    print(json.dumps({"match": match, "suspects": suspects}), flush=True)


def serve(known: dict[str, Any], orders: Orders) -> None:
    """Look at matches until the input ends."""
    database = Database(known["database"])
    looker = Looker(database, known["share"], tell)
    while not orders.over:
        if orders.next(looker.work()) == FINISH:
            break
    database.close()


if __name__ == "__main__":
    follow("Look at the decisions of matches for the audit of a ladder.", serve)
