"""Servers for the commands that talk to one: a real one in a thread, and ones that are odd."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from keltis_server.settings import Settings
from tests.server.support.serving import QUIET, Served, served


@contextmanager
def running(directory: Path, settings: Settings = QUIET) -> Iterator[Served]:
    """Run a real server in a thread with a loop of its own, for as long as the block lasts."""
    ready = threading.Event()
    found: list[Served] = []
    stop: list[Callable[[], Any]] = []

    async def serve() -> None:
        loop, ending = asyncio.get_running_loop(), asyncio.Event()
        stop.append(lambda: loop.call_soon_threadsafe(ending.set))
        async with served(directory, settings) as server:
            found.append(server)
            ready.set()
            await ending.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(300)
        assert found, "the server did not start"
        yield found[0]
    finally:
        if stop:
            stop[0]()
        thread.join(60)


Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def odd_server(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """Run something that is no server of ours; yield its address, and the requests it gets."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(f"{self.command} {self.path} {self.headers.get('Authorization')}")
            answer(self)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *words: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requests
        finally:
            server.shutdown()
            thread.join()


def says(status: int, body: str, kind: str = "application/json", **headers: str) -> Answer:
    """Return what answers every request like this."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        data = body.encode()
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer
