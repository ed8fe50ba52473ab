"""A server with pages, for tests; to look at it, run this module with a directory and a port."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from keltis_server.settings import Settings
from tests.server.support.serving import served

served_pages = served  # the pages are a part of every server


async def _look(directory: Path, port: int) -> None:
    async with served_pages(directory, Settings(port=port)) as server:
        print(f"pages at {server.url}", flush=True)
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(_look(Path(sys.argv[1]), int(sys.argv[2])))
