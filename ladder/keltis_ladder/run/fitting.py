"""The fitter of a ladder, as whoever started it sees it: a process that publishes ratings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.run.beside import Beside
from keltis_ladder.store.database import Database

_MODULE: Final = "keltis_ladder.run.fitter"


@dataclass(frozen=True)
class JointPublished:
    """The joint rating of a scope was published again."""

    scope: Scope
    as_of: int  # the last match that is in it


class Fitting(Beside):
    """A fitter that is kept running, and what it publishes."""

    def __init__(self, database: Database, on_published: Callable[[JointPublished], None]) -> None:
        def take(told: dict[str, Any]) -> None:
            on_published(JointPublished(Scope.parse(told["scope"]), told["as_of"]))

        super().__init__("the fitter of the joint rating", _MODULE, database, take)
