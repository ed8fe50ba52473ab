"""A client that uses the key of this machine's server goes on when the server is started again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.servers import find_place
from keltis_cli.remote.connect.troubles import Refused
from keltis_server.site.local_key import LocalKey


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KELTIS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def test_the_new_key_is_read_and_shown(directory: Path) -> None:
    asyncio.run(scenario(directory))


async def scenario(directory: Path) -> None:
    keys = [LocalKey(directory), LocalKey(directory)]
    current = keys[0]

    async def greet(request: web.Request) -> web.Response:
        shown = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not current.fits(shown):
            return web.json_response({"detail": "this token is not valid"}, status=401)
        return web.json_response({"name": "operator"})

    app = web.Application()
    app.router.add_get("/api/v1/whoami", greet)
    async with TestServer(app) as served:
        url = str(served.make_url("/")).rstrip("/")
        keys[0].publish(url)
        async with Server(find_place(url)) as server:
            assert await server.get("/whoami") == {"name": "operator"}
            current = keys[1]
            with pytest.raises(Refused, match="not valid"):  # nobody has told of a new key yet
                await server.get("/whoami")
            keys[1].publish(url)
            assert await server.get("/whoami") == {"name": "operator"}
        async with Server(find_place(url, token="klt_of_somebody_else")) as stranger:
            with pytest.raises(Refused, match="not valid"):
                await stranger.get("/whoami")
