"""A real server inside a test: its own ladder, its own port, real referees."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from keltis_ladder.store.home import Home
from keltis_server.app import make_app
from keltis_server.http.edge.running import EdgeRunner
from keltis_server.http.endpoints import API
from keltis_server.serve import listen, open_site
from keltis_server.settings import Settings
from keltis_server.site.site import Site
from tests.ladder.store.support.templates import place_database

# No bots: nothing is played, and nothing looked at, unless a test wants it.
QUIET = Settings(port=0, house=False, audit_look=0)


@dataclass
class Served:
    """A server that runs, and a client session for it."""

    site: Site
    app: web.Application
    http: aiohttp.ClientSession

    @property
    def url(self) -> str:
        """Where it is."""
        return self.site.url

    @property
    def local(self) -> dict[str, str]:
        """The header of the operator."""
        return bearer(self.site.local_key.text)

    async def get(self, path: str, **kwargs: Any) -> Any:
        """Return what the API answers to GET, which must succeed."""
        async with self.http.get(self.url + API + path, **kwargs) as response:
            plain = await response.json(content_type=None)
            assert response.status == 200, plain
            return plain

    async def post(self, path: str, status: int = 200, **kwargs: Any) -> Any:
        """Return what the API answers to POST, with this status."""
        async with self.http.post(self.url + API + path, **kwargs) as response:
            plain = await response.json(content_type=None)
            assert response.status == status, plain
            return plain

    async def register(self, name: str) -> dict[str, str]:
        """Open an account; return the header that its author sends."""
        opened = await self.post("/accounts", 201, json={"name": name})
        return bearer(opened["token"])


def bearer(token: str) -> dict[str, str]:
    """Return the header of whoever has a token."""
    return {"Authorization": f"Bearer {token}"}


def _own_core() -> int:
    """Return the core to play on: tests that run beside each other share the machine."""
    cores = sorted(os.sched_getaffinity(0))
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return cores[int(worker) % len(cores)]


@asynccontextmanager
async def served(directory: Path, settings: Settings = QUIET) -> AsyncIterator[Served]:
    """Run a server for as long as the block lasts; it plays on one core unless told otherwise."""
    cores = settings.cores or (_own_core(),)
    settings = replace(settings, cores=cores, nice=0)  # other tests need the machine, too
    database = place_database(directory / "ladder.db")
    site = open_site(settings, Home(directory, str(database)))
    app = make_app(site)
    runner = EdgeRunner(app, settings, shutdown_timeout=5.0)
    try:
        await runner.setup()
        try:
            await listen(site, runner)
            async with aiohttp.ClientSession() as http:
                yield Served(site, app, http)
        finally:
            site.local_key.withdraw()
            await runner.cleanup()
    finally:
        site.close()
