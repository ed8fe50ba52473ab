"""Patience with a database that is down: what is asked of it is asked again until it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from sqlalchemy.exc import DBAPIError

T = TypeVar("T")

RETRY_SECONDS: Final = 1.0  # until it is asked again


async def patiently(work: Callable[[], Awaitable[T]], on_error: Callable[[DBAPIError], None]) -> T:
    """Do something with the database, again after each of its errors that is not raised further."""
    while True:
        try:
            return await work()
        except DBAPIError as error:
            on_error(error)
            await asyncio.sleep(RETRY_SECONDS)
