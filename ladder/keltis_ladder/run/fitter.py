"""The fitter: a process that publishes the joint rating while a ladder is played.

Compiled loops let no other thread of their process run, so they have one of their own. It looks
into the database for what has changed, fits all matches from scratch, and publishes scope by scope.
What it does is bounded by what it costs: however many versions there are, it takes no more than a
fifth of a core. It keeps nothing that is not in the database, and can be killed at any moment.

For each publication it writes a line.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Final

from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.run.beside_child import FINISH, Orders, follow
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.joint.fitting import figures, read_ground
from keltis_ladder.store.ratings.joint.publishing import Published, outdated, write_out
from keltis_ladder.store.ratings.leaderboards import signature

LEAST_REST: Final = 2.0  # seconds from one look to the next
REST_PER_WORK: Final = 4.0  # seconds for each of work, in time of the processor
SLICE: Final = 2.0  # seconds of work after which no other scope is begun
LAST_SLICE: Final = 10.0  # the same before the end


class Fitter:
    """Publishes what is not up to date."""

    def __init__(
        self,
        database: Database,
        tell: Callable[[Published], None],
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._database = database
        self._tell = tell
        self._clock = clock
        self._settled: tuple[int, ...] | None = None  # the signature when nothing was left to do

    def work(self, seconds: float = SLICE) -> float:
        """Publish what is outdated, for about so long; return what it took of the processor.

        The overall rating always comes first, and then the oldest of the others, at least one: so
        all of them have their turn, even where a single scope takes longer than that.
        """
        begin = self._clock()
        with self._database.reading() as session:
            now = signature(session)
            if now == self._settled:
                return 0.0
            ages = outdated(session)
            ground = read_ground(session) if ages else None
        if ground is None:
            self._settled = now
            return self._clock() - begin
        fit = ground.fit()
        for done, scope in enumerate(_order([age.scope for age in ages])):
            if done >= 2 and self._clock() - begin >= seconds:
                break
            published = write_out(self._database, scope, ground, figures(fit, scope))
            if published is not None:
                self._tell(published)
        return self._clock() - begin


def _order(scopes: list[Scope]) -> list[Scope]:
    return sorted(scopes, key=lambda scope: scope != OVERALL)


def rest_after(work: float) -> float:
    """Return for how many seconds to rest."""
    return max(LEAST_REST, REST_PER_WORK * work)


def tell(published: Published) -> None:
    """Write a line about a publication."""
    line = {"scope": str(published.scope), "as_of": published.as_of, "serial": published.serial}
    print(json.dumps(line), flush=True)


def serve(known: dict[str, Any], orders: Orders) -> None:
    """Publish until the input ends."""
    database = Database(known["database"])
    fitter = Fitter(database, tell)
    while not orders.over:
        order = orders.next(rest_after(fitter.work()))
        if order == FINISH:
            fitter.work(LAST_SLICE)
            break
    database.close()


if __name__ == "__main__":
    follow("Publish the joint rating of a ladder.", serve)
