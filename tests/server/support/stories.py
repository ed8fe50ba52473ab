"""Authors, bots and results on a served ladder, put there without playing."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlmodel import Session

from keltis_ladder.match.orders import Order
from keltis_ladder.store.bots.accounts import AUTHOR_SCOPES, TokenScope, add_token
from keltis_ladder.store.bots.catalogue import ensure_author
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.queue import add_job
from keltis_ladder.store.matches.records import MatchRows
from keltis_ladder.store.schema.moments import now
from keltis_server.http.endpoints import API
from keltis_server.play.games import GAMES
from tests.ladder.store.support.ladders import enter
from tests.ladder.store.support.results import any_result, real
from tests.server.support.serving import Served, bearer

T = TypeVar("T")


def quiet(server: Served) -> None:
    """Let nothing be played: bots that are only names have no programs."""
    server.app[GAMES].drain(True)


def change(server: Served, work: Callable[[Session], T]) -> T:
    """Change the database as another process would: the server is not told."""
    return server.site.database.write(work)


def author(
    server: Served, name: str, scopes: Sequence[TokenScope] = AUTHOR_SCOPES
) -> dict[str, str]:
    """Return the header of an author, new if need be."""

    def work(session: Session) -> str:
        return add_token(session, ensure_author(session, name), scopes, now())[1]

    return bearer(change(server, work))


def bots(server: Served, *names: str, author: str = "ada") -> list[int]:
    """Put bots on the ladder; return their versions."""
    return change(server, lambda session: enter(session, *names, author=author))


def result(server: Served, versions: Sequence[int], rows: MatchRows, **more: Any) -> int:
    """Store a result; return its number."""

    def work(session: Session) -> int:
        order = Order(rows.variant, tuple(versions), **{"seed": 1, **more})
        job = add_job(session, order, now())
        return finish(session, job.id, rows, now()).number

    return change(server, work)


def results(
    server: Served, versions: Sequence[int], count: int, variant: str = "keltis", seed: int = 1
) -> list[int]:
    """Store made up results of matches between two of these versions each."""
    chance = random.Random(seed)
    return [
        result(server, chance.sample(list(versions), 2), any_result(chance, variant, 2))
        for _ in range(count)
    ]


def real_result(server: Served, versions: Sequence[int], seed: int, **more: Any) -> int:
    """Store a match that the engine has really played; return its number."""
    rows = real("keltis", len(versions), seed, more.pop("drops", None))
    return result(server, versions, rows, seed=seed, **more)


async def status(server: Served, path: str, **kwargs: Any) -> int:
    """Return the status of the answer to GET."""
    async with server.http.get(server.url + API + path, **kwargs) as response:
        await response.read()
        return response.status


async def problem(server: Served, path: str, **kwargs: Any) -> tuple[int, str]:
    """Return the status and the detail of a problem that GET has."""
    async with server.http.get(server.url + API + path, **kwargs) as response:
        return response.status, (await response.json(content_type=None))["detail"]


async def pages(server: Served, path: str, **query: Any) -> list[Any]:
    """Return all items of a list, page by page."""
    found: list[Any] = []
    after = ""
    while True:
        page = await server.get(path, params={**query, "after": after})
        found += page["items"]
        if page["next"] is None:
            return found
        after = page["next"]
