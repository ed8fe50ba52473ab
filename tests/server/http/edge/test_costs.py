"""Costs: what is dear to answer takes more of a client's budget, however it is asked for."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_server.api import PARTS, bots
from keltis_server.http.endpoints import API, Endpoint
from keltis_server.live.topics import cost_of
from keltis_server.settings import Quotas
from keltis_server.site.budgets import Budgets, Limiter
from keltis_server.web.pages.all import PARTS as PAGES
from tests.ladder.store.support.ladders import enter
from tests.places import ROOT
from tests.server.support.serving import QUIET, Served, served
from tests.server.support.spectating import next_json, raw_socket
from tests.server.support.stories import author, quiet


def allow(server: Served, tokens: int) -> None:
    """Let every client have so many tokens, and no more as time goes by."""
    budgets = Budgets.of(tokens, lambda: 0.0)
    server.site.limiters = replace(server.site.limiters, budgets=budgets)


def endpoints() -> Iterator[Endpoint]:
    for part in (*PARTS, *PAGES):
        yield from part.all


def named(name: str) -> Endpoint:
    [found] = [endpoint for part in PARTS for endpoint in part.all if endpoint.name == name]
    return found


async def status_of(server: Served, path: str, headers: dict[str, str] | None = None) -> int:
    async with server.http.get(server.url + path, headers=headers) as response:
        return response.status


def test_a_dear_request_takes_more_at_once_and_one_too_many_takes_nothing() -> None:
    at = 0.0
    limiter = Limiter(10, 60, lambda: at)
    assert limiter.take("ada", 7) == 0
    assert limiter.take("ada", 4) == pytest.approx(6)
    assert limiter.take("ada", 3) == 0
    assert limiter.take("ada", 0.1) == pytest.approx(0.6)
    at += 60
    assert limiter.take("ada", 1000) == 0  # never more than all: it must be possible at all
    assert limiter.take("ada", 1) == pytest.approx(6)


def test_addresses_and_authors_have_budgets_of_their_own() -> None:
    budgets = Budgets.of(5, lambda: 0.0)
    assert budgets.pay("1", 5) == 0
    assert budgets.pay("1", 1) > 0
    assert budgets.pay_as(1, 5) == 0
    assert budgets.pay_as(1, 1) > 0
    assert budgets.pay_as(2, 1) == 0


def test_an_endpoint_takes_what_it_costs(tmp_path: Path) -> None:
    dear = named("get_head_to_head").cost
    assert dear > 3

    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            allow(server, dear + 3)
            assert await status_of(server, f"{API}/head-to-head") == 200
            assert await status_of(server, f"{API}/head-to-head") == 429
            assert await status_of(server, API) == 200  # little is left, but enough for that
            async with server.http.get(f"{server.url}{API}/head-to-head") as response:
                assert response.status == 429
                assert int(response.headers["Retry-After"]) > 1

    asyncio.run(scenario())


def test_an_author_pays_wherever_they_are(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, forwarded=True)) as server:
            allow(server, 3)
            ada, bob = author(server, "ada"), author(server, "bob")
            for k in range(4):
                headers = {"X-Forwarded-For": f"192.0.2.{k}", **ada}
                assert await status_of(server, API, headers) == (200 if k < 3 else 429)
            assert await status_of(server, API, {"X-Forwarded-For": "192.0.2.3", **bob}) == 200

    asyncio.run(scenario())


def test_a_page_and_its_files_are_cheap_and_nothing_costs_more_than_a_minute_allows() -> None:
    most = Quotas().requests_per_minute
    for endpoint in endpoints():
        assert 1 <= endpoint.cost <= most / 20, endpoint.name


def test_subscriptions_are_paid_from_the_budget_of_requests(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw_socket(server) as socket:
            await next_json(socket)
            # Two subscriptions and their messages; then there is less than one left.
            allow(server, 2 * cost_of("lobby") + 1)
            for topic in ("lobby", "leaderboard/all/0"):
                await socket.send_json({"op": "subscribe", "topic": topic})
                assert (await next_json(socket))["op"] == "snapshot"
            assert await status_of(server, API) == 429

    asyncio.run(scenario())


def test_a_subscription_that_cannot_be_paid_waits_until_it_can(tmp_path: Path) -> None:
    settings = replace(QUIET, quotas=Quotas(requests_per_minute=60))

    async def scenario() -> None:
        async with served(tmp_path, settings) as server, raw_socket(server) as socket:
            await next_json(socket)
            budgets = server.site.limiters.budgets
            begin = time.monotonic()
            while not budgets.pay("127.0.0.1", 1):  # spend all
                pass
            await socket.send_json({"op": "subscribe", "topic": "lobby"})
            assert (await next_json(socket))["op"] == "snapshot"
            assert time.monotonic() - begin >= cost_of("lobby") - 1  # one token a second

    asyncio.run(scenario())


def test_messages_of_any_kind_are_paid(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server, raw_socket(server) as socket:
            await next_json(socket)
            allow(server, 3)
            for _ in range(12):
                await socket.send_json({"op": "ping"})
                assert (await next_json(socket))["op"] == "pong"
            assert await status_of(server, API) == 429

    asyncio.run(scenario())


def test_the_document_has_the_costs_that_the_endpoints_declare() -> None:
    document = ROOT / "docs/operators" / "server.md"
    rows = re.findall(r"(?m)^\| (\d+) \| (`(?:GET|POST).*) \|$", document.read_text("utf-8"))
    told = {name: int(cost) for cost, names in rows for name in re.findall(r"`([^`]+)`", names)}
    declared = {
        f"{endpoint.method} {prefix}{endpoint.path}": endpoint.cost
        for prefix, parts in ((API, PARTS), ("", PAGES))
        for part in parts
        for endpoint in part.all
        if endpoint.cost > 1
    }
    assert told == declared


def test_a_large_tournament_costs_more_and_its_page_most(tmp_path: Path) -> None:
    names = [f"bot{number}" for number in range(64)]

    async def scenario() -> None:
        async with served(tmp_path) as server:
            await server.site.write(enter, *names, author="ada")
            for name, bots in (("small", names[:4]), ("large", names)):
                wanted = {"format": "swiss", "rounds": 3, "variants": ["keltis"]}
                wanted |= {"name": name, "bots": bots}
                await server.post("/tournaments", 201, json=wanted, headers=server.local)
            for path, tokens, enough in (
                (f"{API}/tournaments/small", 1, True),
                (f"{API}/tournaments/large", 12, False),
                (f"{API}/tournaments/large", 13, True),
                ("/tournaments/small", 1, True),
                ("/tournaments/large", 80, False),
                ("/tournaments/large", 81, True),
            ):
                allow(server, tokens)
                assert await status_of(server, path) == (200 if enough else 429), path

    asyncio.run(scenario())


def test_changes_of_a_large_tournament_cost_more_than_of_a_small_one(tmp_path: Path) -> None:
    names = [f"bot{number}" for number in range(64)]
    wanted = {"format": "swiss", "rounds": 3, "variants": ["keltis"], "bots": names}

    async def post(server: Served, path: str, headers: dict[str, str], **body: object) -> int:
        url = f"{server.url}{API}/tournaments{path}"
        async with server.http.post(url, headers=headers, json=body or None) as response:
            return response.status

    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            await server.site.write(enter, *names, author="ada")
            ada = author(server, "ada")
            create, change = named("create_tournament").cost, named("start_tournament").cost
            allow(server, create + 11)
            assert await post(server, "", ada, name="cup", **wanted) == 429
            assert await status_of(server, f"{API}/tournaments/cup", ada) == 404
            allow(server, create + 12)
            assert await post(server, "", ada, name="cup", **wanted) == 201
            for what in ("start", "pause", "cancel"):
                allow(server, change + 11)
                assert await post(server, f"/cup/{what}", ada) == 429
                allow(server, change + 12)
                assert await post(server, f"/cup/{what}", ada) == 200

    asyncio.run(scenario())


def test_a_bot_with_many_versions_costs_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots, "VERSIONS_A_TOKEN", 2)

    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            for _ in range(6):
                await server.site.write(enter, "one")
            for path in ("history", "faults"):
                allow(server, 3)
                assert await status_of(server, f"{API}/bots/one/{path}") == 429
                allow(server, 4)
                assert await status_of(server, f"{API}/bots/one/{path}") == 200

    asyncio.run(scenario())
