"""Many who use a database at the same time, each with connections of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from keltis_ladder.store.database import Database

T = TypeVar("T")


def together(url: str, count: int, work: Callable[[Database, int], T]) -> list[T]:
    """Let so many threads do their work at the same time; return what each came to."""

    def alone(number: int) -> T:
        database = Database(url)
        try:
            return work(database, number)
        finally:
            database.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(alone, range(count)))
