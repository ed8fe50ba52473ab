"""Hosts and origins: only what was meant for us is answered, and other sites change nothing."""

from __future__ import annotations

import asyncio
import json
import socket
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from keltis_ladder.store.bots.accounts import AUTHOR_SCOPES, TokenScope
from keltis_server.client.live import LiveClient, LiveClosed
from keltis_server.http import metrics
from keltis_server.http.edge.hosts import host_of
from keltis_server.http.endpoints import API
from keltis_server.settings import BadSettings, Deadlines, Settings
from tests.server.support.raw import raw, request
from tests.server.support.serving import QUIET, Served, served
from tests.server.support.stories import author

PUBLIC = "https://ladder.example"
JSON = {"Content-Type": "application/json"}


async def status_for(server: Served, host: str | None, path: str = API) -> tuple[int, bytes]:
    async with raw(server) as client:
        text = request("GET", path, {"Host": host or ""})
        client.send(text if host is not None else text.replace(b"Host: \r\n", b""))
        status, _, body = await client.answer()
        return status, body


def test_only_known_hosts_are_answered(tmp_path: Path) -> None:
    settings = replace(QUIET, public_url=PUBLIC)

    async def scenario() -> None:
        async with served(tmp_path, settings) as server:
            server.site.url = json.loads((tmp_path / "server.json").read_text())["url"]
            port = urlsplit(server.url).port
            for host, status in [
                ("127.0.0.1", 200),
                (f"127.0.0.1:{port}", 200),
                ("localhost", 200),
                ("LOCALHOST:1", 200),
                ("[::1]:8080", 200),
                ("[0:0::0:1]", 200),
                ("[::FFFF:7f00:1]:80", 200),
                ("127.8.9.1", 200),
                ("ladder.example", 200),
                ("Ladder.Example:443", 200),
                ("evil.example", 421),
                (f"evil.example:{port}", 421),
                ("ladder.example.evil.example", 421),
                ("notlocalhost", 421),
                ("localhost.evil.example", 421),
                ("127.0.0.1.evil.example", 421),
                ("203.0.113.9", 421),
                # What others may read in another way than we do.
                ("localhost.", 421),
                ("ladder.example.:443", 421),
                ("127.0.0.1.", 421),
                ("localhost:", 421),
                ("localhost:80:90", 421),
                ("localhost:99999", 421),
                ("localhost:+80", 421),
                ("localhost:8\u0660", 421),
                ("localhost:80@evil.example", 421),
                ("localhost@evil.example", 421),
                ("evil.example@localhost", 421),
                ("localhost/evil.example", 421),
                ("localhost#evil.example", 421),
                ("localhost?evil.example", 421),
                ("localhost\\evil.example", 421),
                ("localhost, evil.example", 421),
                ("evil.example localhost", 421),
                ("local%68ost", 421),
                ("\u212aeltis.localhost", 421),
                ("::1", 421),
                ("[::1", 421),
                ("[::1]evil.example", 421),
                ("[::1%25lo]", 421),
                ("[127.0.0.1]", 421),
                ("[v1.localhost]", 421),
                ("[localhost]", 421),
                ("127.1", 421),
                ("2130706433", 421),
                ("0x7f000001", 421),
                ("0177.0.0.1", 421),
                ("0.0.0.0", 421),
                ("[::]", 421),
                ("http://localhost", 421),
                ("x" * 1000, 421),
                ("", 421),
                (None, 400),
            ]:
                assert (await status_for(server, host))[0] == status, host
            for path in ("/", "/static/nothing", "/nowhere", "/readyz", "/metrics", f"{API}/live"):
                status, body = await status_for(server, "evil.example", path)
                assert status == 421, path
                assert b"--public-url" in body
            assert (await status_for(server, "evil.example", "/healthz"))[0] == 200

    asyncio.run(scenario())


def other_address() -> str | None:
    """Return an address of this machine that is no loopback one, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        return str(probe.getsockname()[0])


def test_bound_to_all_addresses_it_answers_for_the_one_that_the_client_came_to(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, host="0.0.0.0")) as server:
            port = urlsplit(server.url).port
            server.site.url = f"http://127.0.0.1:{port}"
            assert (await status_for(server, "127.0.0.1"))[0] == 200
            assert (await status_for(server, "evil.example"))[0] == 421
            here = other_address() or "127.0.0.5"
            server.site.url = f"http://{here}:{port}"
            async with server.http.get(f"{server.url}{API}") as response:
                assert response.status == 200
            headers = {"Host": "203.0.113.9"}
            async with server.http.get(f"{server.url}{API}", headers=headers) as response:
                assert response.status == 421

    asyncio.run(scenario())


HERE = "Host: localhost\r\n"
THERE = "Host: evil.example\r\n"


def test_a_request_is_for_one_host_whichever_way_it_names_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            for target, headers, status in [
                ("http://localhost/api/v1", HERE, 200),
                ("HTTP://LocalHost:80/api/v1", HERE, 200),
                ("http://127.0.0.1/api/v1", HERE, 200),
                ("http://evil.example/api/v1", HERE, 421),
                ("http://localhost/api/v1", THERE, 421),
                ("http://localhost@evil.example/api/v1", HERE, 421),
                ("http://evil.example@localhost/api/v1", HERE, 421),
                ("http://localhost./api/v1", HERE, 421),
                ("http://evil.example?/api/v1", HERE, 421),
                ("ftp://localhost/api/v1", HERE, 421),
                ("http:///api/v1", HERE, 400),
                ("//evil.example/api/v1", HERE, 404),  # a path, whatever it looks like
                ("/api/v1", HERE + THERE, 400),
                ("/api/v1", THERE + HERE, 400),
                ("/api/v1", HERE + HERE, 400),
                ("/api/v1", HERE.lower(), 200),
                ("/api/v1", "Host : localhost\r\n", 400),
                ("/api/v1", "X: y\r\n Host: localhost\r\n", 400),
            ]:
                async with raw(server) as client:
                    client.send(f"GET {target} HTTP/1.1\r\n{headers}\r\n".encode())
                    assert (await client.answer())[0] == status, (target, headers)

    asyncio.run(scenario())


def test_a_request_for_no_page_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            for method in ("OPTIONS", "CONNECT", "GET"):
                for target in ("*", "localhost", "localhost:80", "evil.example:80"):
                    async with raw(server) as client:
                        client.send(f"{method} {target} HTTP/1.1\r\n{HERE}\r\n".encode())
                        status = (await client.answer())[0]
                        assert status in (400, 421), (method, target)

    asyncio.run(scenario())


def test_a_host_header_is_read_as_browsers_write_it() -> None:
    for text, host in [
        ("a.example", "a.example"),
        ("A.example:80", "a.example"),
        ("A.example.:80", "a.example."),
        ("[2001:DB8:0::1]:80", "2001:db8::1"),
        ("a.example:80:90", ""),
        ("a.example:", ""),
        ("user@a.example", ""),
        ("a.example\n", ""),
        ("", ""),
        ("[", ""),
    ]:
        assert host_of(text) == host, text


@pytest.mark.parametrize(
    "url", ["https://m\u00fcll.example", "https://a.example:x", "https://@a.example", "https://["]
)
def test_a_public_address_that_no_request_can_name_is_refused(url: str) -> None:
    with pytest.raises(BadSettings, match="xn--"):
        Settings(public_url=url).check()


def test_a_page_of_another_site_changes_nothing(tmp_path: Path) -> None:
    settings = replace(QUIET, public_url=PUBLIC, origins=("https://friends.example",))

    async def post(server: Served, name: str, **headers: str) -> int:
        body = json.dumps({"name": name}).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        lines = {**JSON, "Content-Length": str(len(body)), **sent}
        async with raw(server) as client:
            client.send(request("POST", f"{API}/accounts", lines) + body)
            return (await client.answer())[0]

    async def scenario() -> None:
        async with served(tmp_path, settings) as server:
            url = json.loads((tmp_path / "server.json").read_text())["url"]
            server.site.url = url
            foreign = [
                {"Origin": "https://evil.example"},
                {"Origin": "null"},
                {"Origin": "http://["},
                {"Origin": "http://localhost:1"},  # another program of this machine
                {"Origin": "https://friends.example"},  # may watch, not act
                {"Sec_Fetch_Site": "cross-site"},
            ]
            for headers in foreign:
                assert await post(server, "eve", **headers) == 403, headers
            # The name leads here, and the page comes from that name: rebinding.
            rebound = {"Host": "evil.example", "Origin": "http://evil.example"}
            assert await post(server, "eve", **rebound) == 421
            # What a page can send without asking first is not understood anyway.
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
                assert await post(server, "eve", Content_Type=kind) == 415
            # To ask first (CORS) is answered with a refusal, and allows nothing.
            async with server.http.options(f"{url}{API}/accounts") as response:
                assert response.status == 405
                assert not [name for name in response.headers if name.startswith("Access-")]
            assert await post(server, "ada", Origin=PUBLIC) == 201
            assert await post(server, "bob", Origin="http://localhost") == 201
            assert await post(server, "carol") == 201
            assert await post(server, "eve") == 201  # nobody has registered under this name

    asyncio.run(scenario())


def test_a_websocket_needs_a_known_host_and_origin(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            for headers, status in (
                ({"Host": "evil.example", "Origin": "http://evil.example"}, 421),
                ({"Origin": "http://evil.example"}, 403),
            ):
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await server.http.ws_connect(f"{server.url}{API}/live", headers=headers)
                assert refused.value.status == status
            # Our own client does not try again: the server will not know this name later, either.
            live = LiveClient(server.url)
            live._headers["Host"] = "evil.example"
            with pytest.raises(LiveClosed, match="421"):
                await live.__aenter__()

    asyncio.run(scenario())


OPERATORS = ("/readyz", "/metrics")


@pytest.mark.parametrize("path", OPERATORS)
def test_operators_are_told_on_the_machine_itself_and_others_need_a_token(
    tmp_path: Path, path: str
) -> None:
    settings = replace(QUIET, public_url=PUBLIC, forwarded=True)

    async def status(server: Served, headers: dict[str, str]) -> int:
        async with raw(server) as client:
            client.send(request("GET", path, headers))
            return (await client.answer())[0]

    async def scenario() -> None:
        async with served(tmp_path, settings) as server:
            server.site.url = json.loads((tmp_path / "server.json").read_text())["url"]
            assert await status(server, {}) == 200
            for proxied in (
                {"X-Forwarded-For": "127.0.0.1"},
                {"Forwarded": "for=127.0.0.1"},
                {"Via": "1.1 proxy"},
                {"X-Real-IP": "127.0.0.1"},
                {"Host": "ladder.example"},
            ):
                assert await status(server, proxied) == 401, proxied
                admin = author(server, "root", (TokenScope.ADMIN,))
                assert await status(server, {**proxied, **admin}) == 200
                assert await status(server, {**proxied, **server.local}) == 200
                ada = author(server, "ada", AUTHOR_SCOPES)
                assert await status(server, {**proxied, **ada}) == 403

    asyncio.run(scenario())


def test_metrics_are_made_once_in_a_while_however_many_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    def count(registry: object) -> bytes:
        made.append(registry)
        return b"counted\n"

    async def scenario() -> None:
        monkeypatch.setattr(metrics, "generate_latest", count)
        monkeypatch.setattr(metrics, "FRESH_FOR", 1000.0)
        exposition = metrics.Exposition()
        found = await asyncio.gather(*(exposition.text() for _ in range(50)))
        assert set(found) == {b"counted\n"}
        assert await exposition.text() == b"counted\n"
        assert len(made) == 1
        monkeypatch.setattr(metrics, "FRESH_FOR", 0.0)
        await exposition.text()
        assert len(made) == 2

    asyncio.run(scenario())


def test_clients_cannot_make_metrics_grow_by_odd_methods(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            for method in ("PURGE", "PROPFIND", "MKCOL"):
                async with server.http.request(method, f"{server.url}/nowhere") as response:
                    assert response.status in (404, 405)
        methods = {
            sample.labels["method"]
            for metric in metrics.REQUESTS.collect()
            for sample in metric.samples
        }
        assert methods <= {*metrics.METHODS, "other"}

    asyncio.run(scenario())


def test_settings_with_a_deadline_of_nothing_are_refused() -> None:
    with pytest.raises(BadSettings, match="head"):
        Settings(deadlines=Deadlines(head=0)).check()
