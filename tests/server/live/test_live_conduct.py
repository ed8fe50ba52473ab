"""What the websocket refuses, and how it says so."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from sqlmodel import Session

from keltis_ladder.store.bots.accounts import AUTHOR_SCOPES, add_token
from keltis_ladder.store.bots.catalogue import ensure_author
from keltis_ladder.store.schema.moments import now
from keltis_server.client.live import LiveClient, LiveClosed
from keltis_server.http.endpoints import API
from keltis_server.live import socket as socket_module
from keltis_server.live.socket import BURST, MOST_MISTAKES
from keltis_server.settings import Quotas
from keltis_server.site.budgets import Limiter
from tests.server.support.serving import QUIET, Served, bearer, served
from tests.server.support.spectating import (
    PATIENCE,
    TABLES,
    next_json,
    order,
    raw_socket,
    settle_in,
)

PINGS = BURST + 4 * MOST_MISTAKES


def test_what_is_not_possible_is_refused_with_a_reason(tmp_path: Path) -> None:
    settings = replace(QUIET, quotas=Quotas(sockets=3), origins=("https://friends.example",))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server:
            alice = await settle_in(server, "alice", "greedy")
            bob = await settle_in(server, "bob", "greedy")
            id = await order(server, "keltis", [alice, bob], held=True)
            url = server.url + API + "/live"

            # Who may connect.
            async with server.http.get(url) as response:
                assert response.status == 426
            for origin, status in (
                ("https://evil.example", 403),
                ("null", 403),
                ("http://[", 403),
                (server.url, 101),
                ("https://friends.example", 101),
            ):
                headers = {"Origin": origin}
                if status == 101:
                    async with raw_socket(server, headers=headers) as socket:
                        assert (await next_json(socket))["op"] == "welcome"
                else:
                    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                        await server.http.ws_connect(url, headers=headers)
                    assert refused.value.status == status
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await server.http.ws_connect(url, headers=bearer("klt_nonsense"))
            assert refused.value.status == 401

            # What may be followed.
            async with raw_socket(server, headers=bearer(bob.token)) as socket:
                welcome = await next_json(socket)
                assert welcome["author"] == "bob"
                for topic, code in (
                    ("match/00000000-0000-0000-0000-000000000000", "not-found"),
                    ("match/1", "not-found"),
                    (f"match/{id}/bot/{alice.bot}", "forbidden"),
                    (f"match/{id}/bot/nobody", "not-found"),
                    ("tournament/none", "not-found"),
                    (f"version/{alice.bot}/9", "not-found"),
                    ("leaderboard/chess/0", "not-found"),
                    ("everything", "not-found"),
                ):
                    await socket.send_json({"op": "subscribe", "topic": topic})
                    answer = await next_json(socket)
                    assert (answer["op"], answer["topic"], answer["code"]) == ("error", topic, code)
                # A match that waits has a snapshot without a game.
                await socket.send_json({"op": "subscribe", "topic": f"match/{id}"})
                snapshot = await next_json(socket)
                assert snapshot["data"]["current"] is None
                assert snapshot["data"]["match"]["state"] == "waiting"
                assert snapshot["data"]["match"]["seed"] is None
                assert snapshot["data"]["match"]["commitment"] is None

            # A token may come with a hello, once, before anything else.
            async with raw_socket(server) as socket:
                assert (await next_json(socket))["author"] is None
                await socket.send_json({"op": "hello", "token": alice.token})
                assert (await next_json(socket))["author"] == "alice"
                await socket.send_json({"op": "subscribe", "topic": f"match/{id}/bot/{alice.bot}"})
                assert (await next_json(socket))["op"] == "snapshot"
                await socket.send_json({"op": "hello", "token": bob.token})
                assert (await next_json(socket))["code"] == "bad-message"

            # How much may be asked for.
            async with raw_socket(server) as socket:
                await next_json(socket)
                scopes = [("all", 0), *((variant, n) for variant, n in TABLES)]
                topics = [f"leaderboard/{variant}/{n}" for variant, n in scopes]
                topics += [f"version/{bot}/1" for bot in (alice.bot, bob.bot)] + ["lobby"]
                topics += [f"match/{id}"]
                for _ in range(32 - len(topics)):
                    other = await order(server, "keltis", [alice, bob], held=True)
                    topics.append(f"match/{other}")
                for k, topic in enumerate(topics):
                    if k == 25:
                        await asyncio.sleep(0.5)
                    await socket.send_json({"op": "subscribe", "topic": topic})
                    assert (await next_json(socket))["op"] == "snapshot"
                await socket.send_json({"op": "subscribe", "topic": "tournament/any"})
                assert (await next_json(socket))["code"] == "too-many"
                await socket.send_json({"op": "unsubscribe", "topic": "lobby"})
                await socket.send_json({"op": "ping"})
                assert (await next_json(socket))["op"] == "pong"
                await socket.send_json({"op": "subscribe", "topic": "tournament/any"})
                assert (await next_json(socket))["code"] == "not-found"
                open_ones = [await server.http.ws_connect(url) for _ in range(2)]
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await server.http.ws_connect(url)
                assert refused.value.status == 429
                for one in open_ones:
                    await one.close()

    asyncio.run(scenario())


def test_whoever_sends_rubbish_is_told_so_and_then_sent_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            rubbish = [
                "{", "[]", "3", '{"op":"dance"}', '{"op":"subscribe"}',
                '{"op":"subscribe","topic":7}', '{"op":"subscribe","topic":"lobby","since":-1}',
                '{"op":"subscribe","topic":"lobby","since":true}', '{"op":"ping","x":1}',
                '{"op":"subscribe","topic":"' + "x" * 300 + '"}',
            ]  # fmt: skip
            async with raw_socket(server) as socket:
                await next_json(socket)
                for text in rubbish:
                    await socket.send_str(text)
                    assert (await next_json(socket))["code"] == "bad-message"
                last = await socket.receive(timeout=PATIENCE)
                assert last.type is aiohttp.WSMsgType.CLOSE
                assert socket.close_code == 1008
            async with raw_socket(server) as socket:
                await next_json(socket)
                await socket.send_bytes(b"\xc1")
                assert (await next_json(socket))["code"] == "bad-message"
                await socket.send_str("x" * 5000)
                assert (await socket.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.CLOSE
                assert socket.close_code == 1009
            # However long it takes to send them, they come at once.
            monkeypatch.setattr(socket_module, "Limiter", partial(Limiter, clock=lambda: 0.0))
            async with raw_socket(server) as socket:
                with contextlib.suppress(ConnectionError, aiohttp.ClientError):  # sent away
                    for _ in range(PINGS):
                        await socket.send_str('{"op":"ping"}')
                answers = []
                words = aiohttp.WSMsgType.TEXT
                while (message := await socket.receive(timeout=PATIENCE)).type is words:
                    answers.append(message.json())
                told = [answer["op"] for answer in answers[1:]]  # after the welcome
                assert told == ["pong"] * BURST + ["error"] * MOST_MISTAKES
                assert socket.close_code == 1008

            # Whoever is still there when the server stops is told so.
            session = aiohttp.ClientSession()
            socket = await session.ws_connect(server.url + API + "/live")
            await next_json(socket)
            reading = asyncio.create_task(socket.receive())
        assert (await reading).type is aiohttp.WSMsgType.CLOSE
        assert socket.close_code == 1001
        await session.close()

    asyncio.run(scenario())


def test_whoever_loses_their_token_loses_their_websockets_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            alice = await settle_in(server, "alice", "greedy")
            bob = await settle_in(server, "bob", "greedy")
            id = await order(server, "keltis", [alice, bob], held=True)
            own = {each.name: f"match/{id}/bot/{each.bot}" for each in (alice, bob)}
            headers = bearer(alice.token)
            wish = {"label": "phone", "scopes": ["read"]}
            phone = await server.post("/account/tokens", 201, json=wish, headers=headers)

            async with (
                raw_socket(server, headers=bearer(phone["token"])) as by_header,
                raw_socket(server) as by_hello,
                raw_socket(server, headers=headers) as laptop,
                raw_socket(server, headers=bearer(bob.token)) as bobs,
                raw_socket(server) as stranger,
            ):
                for socket in (by_header, by_hello, laptop, bobs, stranger):
                    await next_json(socket)
                await by_hello.send_json({"op": "hello", "token": phone["token"]})
                assert (await next_json(by_hello))["author"] == "alice"
                for socket, topic in (
                    (by_header, own["alice"]),
                    (by_hello, "lobby"),
                    (laptop, own["alice"]),
                    (bobs, own["bob"]),
                    (stranger, "lobby"),
                ):
                    await socket.send_json({"op": "subscribe", "topic": topic})
                    assert (await next_json(socket))["op"] == "snapshot"

                url = f"{server.url}{API}/account/tokens/{phone['id']}"
                async with server.http.delete(url, headers=headers) as response:
                    assert response.status == 204
                for socket in (by_header, by_hello):
                    assert (await socket.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.CLOSE
                    assert socket.close_code == 4401
                for socket in (laptop, bobs, stranger):
                    await socket.send_json({"op": "ping"})
                    assert (await next_json(socket))["op"] == "pong"

                for socket, act, body in (
                    (laptop, "alice/disable", {"reason": "spam"}),
                    (bobs, "bob/remove", None),
                ):
                    waiting = asyncio.create_task(socket.receive(timeout=PATIENCE))
                    await server.post(f"/admin/authors/{act}", headers=server.local, json=body)
                    assert (await waiting).type is aiohttp.WSMsgType.CLOSE
                    assert socket.close_code == 4401
                await stranger.send_json({"op": "ping"})
                assert (await next_json(stranger))["op"] == "pong"

    asyncio.run(scenario())


def test_a_websocket_ends_with_the_time_of_its_token(tmp_path: Path) -> None:
    def make(session: Session, seconds: float) -> str:
        soon = now() + timedelta(seconds=seconds)
        author = ensure_author(session, "alice")
        return add_token(session, author, AUTHOR_SCOPES, now(), expires=soon)[1]

    async def both_end(server: Served, text: str) -> bool:
        """Follow with a token until its time is over; tell if it was over before we followed."""
        try:
            socket = await server.http.ws_connect(server.url + API + "/live", headers=bearer(text))
        except aiohttp.WSServerHandshakeError:
            return False
        async with socket, raw_socket(server) as two:
            assert (await next_json(socket))["author"] == "alice"
            await next_json(two)
            await two.send_json({"op": "hello", "token": text})
            if (await next_json(two)).get("author") != "alice":
                return False
            for each in (socket, two):
                assert (await each.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.CLOSE
                assert each.close_code == 4401
        return True

    async def scenario() -> None:
        async with served(tmp_path) as server:
            for seconds in (1.5, 15.0, 150.0):  # longer, where the machine is too busy for less
                text = await server.site.write(make, seconds)
                if await both_end(server, text):
                    break
            else:
                raise AssertionError("no token lasted until its websockets were open")

            # Whoever comes back with it is told not to try again.
            with pytest.raises(LiveClosed, match="refuses us: 401"):
                async with LiveClient(server.url, text):
                    pass

    asyncio.run(scenario())
