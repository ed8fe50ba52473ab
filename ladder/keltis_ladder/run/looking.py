"""The looker of a ladder, as whoever started it sees it: a process that looks at decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from keltis_ladder.run.beside import Beside
from keltis_ladder.store.database import Database

_MODULE: Final = "keltis_ladder.run.looker"


@dataclass(frozen=True)
class DecisionsLooked:
    """The decisions of a match were looked at."""

    match: int
    suspects: tuple[int, ...]  # bots of which more was found than chance allows


class Looking(Beside):
    """A looker that is kept running, with a share of a core, and what it finds."""

    def __init__(
        self, database: Database, share: float, on_looked: Callable[[DecisionsLooked], None]
    ) -> None:
        def take(told: dict[str, Any]) -> None:
            on_looked(DecisionsLooked(told["match"], tuple(told["suspects"])))

        super().__init__("the looker of the audit", _MODULE, database, take, share=share)
