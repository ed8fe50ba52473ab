"""A way to PostgreSQL that can be cut at the worst moment: around a commit, or without a word."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

COMMIT = b"COMMIT"
CHUNK = 65_536
NOTICED_SECONDS = 60.0


class Proxy:
    """Forwards connections from a port of this machine to the socket of a server."""

    def __init__(self, server: Path) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[Thread] = []
        self._open: list[socket.socket] = []
        self.cut_after_commit = 0  # so many commits reach the server, and their answers nobody
        self.cut_before_commit = 0  # so many commits do not reach the server
        self.silent = Event()  # nothing is forwarded any more, and nobody is told
        self.cuts = 0

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://tests@127.0.0.1:{self.port}/{database}?sslmode=disable"

    def start(self) -> None:
        self._spawn(self._accept)

    def close(self) -> None:
        self.silent.clear()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._open:
            _shut(each)
        for thread in self._threads:
            thread.join(NOTICED_SECONDS)
        for each in self._open:
            each.close()

    def _spawn(self, work: object, *args: object) -> None:
        thread = Thread(target=work, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            self._open += [client, server]
            try:
                server.connect(str(self._server))
            except OSError:  # it is down
                _shut(client)
                continue
            self._spawn(self._forward, client, server)
            self._spawn(self._answer, client, server)

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        for data in _received(client):
            if self.silent.is_set():
                continue
            if COMMIT in data and self.cut_before_commit:
                self.cut_before_commit -= 1
                self.cuts += 1
                break
            if COMMIT in data and self.cut_after_commit:
                self.cut_after_commit -= 1
                self.cuts += 1
                _shut(client, socket.SHUT_WR)  # what the server answers goes nowhere
            try:
                server.sendall(data)
            except OSError:  # it has hung up
                break
        _shut(client)
        _shut(server, socket.SHUT_WR)  # what it was sent, it still does

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        for data in _received(server):
            try:
                if not self.silent.is_set():
                    client.sendall(data)
            except OSError:
                continue
        if not self.silent.is_set():
            _shut(client)


def _received(source: socket.socket) -> Iterator[bytes]:
    try:
        while data := source.recv(CHUNK):
            yield data
    except OSError:
        return


def _shut(target: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    try:
        target.shutdown(how)
    except OSError:  # the other side was first
        return


@contextmanager
def proxied(server: Path) -> Iterator[Proxy]:
    """Start a proxy, and end it and all its connections."""
    proxy = Proxy(server)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.close()
