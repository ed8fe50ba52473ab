"""The server as a whole: it starts, tells how it is, and ends without leaving anything."""

from __future__ import annotations

import asyncio
from pathlib import Path

from keltis_server.site.local_key import read_address
from tests.server.support.serving import served


def test_a_server_starts_tells_that_it_is_ready_and_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            address = read_address(tmp_path)
            assert address is not None
            assert address.url == server.url
            assert (await server.get(""))["name"] == "keltis-ladder"
            async with server.http.get(server.url + "/readyz") as response:
                assert response.status == 200
                assert (await response.json())["ready"] is True
        assert read_address(tmp_path) is None

    asyncio.run(scenario())
