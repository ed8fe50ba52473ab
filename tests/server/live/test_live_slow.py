"""Who reads slowly is dropped; who reads quickly does not notice."""

from __future__ import annotations

import asyncio
import base64
import os
import socket as sockets
from pathlib import Path
from urllib.parse import urlsplit

from keltis_server.client.live import LiveClient
from keltis_server.events import Checking
from keltis_server.http import metrics
from keltis_server.http.endpoints import API
from keltis_server.live.socket import MOST_OUTSTANDING
from tests.server.support.serving import Served, served
from tests.server.support.spectating import PATIENCE, Author, settle_in

CHUNK = "x" * 50_000
COUNT = 400  # 20 MB: more than the kernel keeps for anybody
# What the server keeps for a client, and what the kernel does.
MOST_KEPT = MOST_OUTSTANDING + int(Path("/proc/sys/net/ipv4/tcp_wmem").read_text().split()[2])


async def silent_client(server: Served, author: Author, topic: str) -> sockets.socket:
    """Subscribe, and then never read again."""
    where = urlsplit(server.url)
    loop = asyncio.get_running_loop()
    client = sockets.socket()
    client.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    client.setblocking(False)
    await loop.sock_connect(client, (where.hostname, where.port))
    key = base64.b64encode(os.urandom(16)).decode()
    await loop.sock_sendall(
        client,
        (
            f"GET {API}/live HTTP/1.1\r\nHost: {where.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {author.token}\r\n\r\n"
        ).encode(),
    )
    assert b"101" in await loop.sock_recv(client, 12)
    text = b'{"op":"subscribe","topic":"%s"}' % topic.encode()
    # A mask of zeros leaves the text as it is.
    await loop.sock_sendall(client, bytes((0x81, 0x80 | len(text))) + bytes(4) + text)
    return client


async def open_sockets(count: int) -> None:
    """Wait until so many are open."""
    while metrics.SOCKETS._value.get() != count:
        await asyncio.sleep(0.02)


def test_a_client_that_does_not_read_is_dropped_and_delays_nobody(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            alice = await settle_in(server, "alice", "greedy")
            topic = f"version/{alice.bot}/1"
            dropped = metrics.DROPPED._value.get()
            client = await silent_client(server, alice, topic)
            async with (
                asyncio.timeout(PATIENCE),
                LiveClient(server.url, alice.token) as live,
            ):
                await live.subscribe(topic)
                messages = aiter(live)
                assert (await anext(messages))["op"] == "snapshot"
                await open_sockets(2)
                seq = -1
                dropped_after = 0  # messages
                for number in range(COUNT):
                    server.site.tell(
                        Checking(alice.version, 1, "output", {"text": f"{number} {CHUNK}"})
                    )
                    message = await anext(messages)  # never, if the other one were waited for
                    assert message["data"][0]["text"].startswith(f"{number} ")
                    assert seq in (-1, message["seq"] - 1)
                    seq = message["seq"]
                    if not dropped_after and metrics.DROPPED._value.get() > dropped:
                        dropped_after = number + 1
                assert metrics.DROPPED._value.get() == dropped + 1
                assert dropped_after * len(CHUNK) <= MOST_KEPT + 2 * len(CHUNK)
                await open_sockets(1)
            client.close()

    asyncio.run(scenario())
