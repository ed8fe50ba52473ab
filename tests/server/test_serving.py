"""The server as a whole: it starts, tells how it is, and ends without leaving anything."""

from __future__ import annotations

import asyncio
import resource
from pathlib import Path

from keltis_ladder.doctor.capacity import CONNECTIONS, RESERVED_FILES
from keltis_server.http.edge import connections
from keltis_server.serve import raise_open_files
from keltis_server.settings import Quotas
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


def test_the_server_opens_as_many_files_as_it_may() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[0] - 1, before[1]))
    try:
        raise_open_files()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert soft == hard == before[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_doctor_looks_for_as_many_files_as_the_server_needs() -> None:
    assert Quotas().all_connections == CONNECTIONS
    assert connections.RESERVED_FILES == RESERVED_FILES
