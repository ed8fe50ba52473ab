"""Limits: so much at once, more as time goes by, for each home and no more memory than that."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_server.http.rate_limits import home_of
from keltis_server.settings import Quotas
from keltis_server.site.budgets import HOUR, AddressLimiter, Limiter, Limiters
from tests.server.support.serving import QUIET, Served, served


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def test_all_at_once_then_one_by_one_as_time_goes_by() -> None:
    clock = Clock()
    limiter = Limiter(3, 60, clock)
    assert [limiter.take("ada") for _ in range(3)] == [0, 0, 0]
    assert limiter.take("ada") == pytest.approx(20)
    clock.at += 15
    assert limiter.wait("ada") == pytest.approx(5)
    clock.at += 5
    assert limiter.take("ada") == 0
    assert limiter.take("ada") == pytest.approx(20)
    assert limiter.take("bob") == 0
    clock.at += 10_000
    assert [limiter.take("ada") for _ in range(3)] == [0, 0, 0]  # no more than were there at first
    assert limiter.take("ada") > 0


def test_who_is_refused_does_not_wait_longer_for_having_asked() -> None:
    clock = Clock()
    limiter = Limiter(1, 60, clock)
    limiter.take("ada")
    for _ in range(100):
        assert limiter.take("ada") == pytest.approx(60)
    clock.at += 60
    assert limiter.take("ada") == 0


def test_what_was_not_used_is_given_back_but_never_more() -> None:
    limiter = Limiter(2, 60, Clock())
    limiter.take("ada")
    limiter.give_back("ada")
    limiter.give_back("ada")
    assert limiter.left("ada") == 2
    assert [limiter.take("ada") > 0 for _ in range(3)] == [False, False, True]


def test_how_many_are_left_can_be_asked_without_being_remembered() -> None:
    clock = Clock()
    limiter = Limiter(4, 60, clock)
    assert limiter.left("ada") == 4
    assert len(limiter) == 0
    limiter.take("ada")
    limiter.take("ada")
    assert limiter.left("ada") == 2
    clock.at += 14
    assert limiter.left("ada") == 2
    clock.at += 1
    assert limiter.left("ada") == 3


def test_many_addresses_take_no_more_memory_and_whoever_keeps_asking_is_not_forgotten() -> None:
    limiter = Limiter(5, 60, Clock(), most=100)
    for _ in range(5):
        limiter.take("greedy")
    for number in range(10_000):
        limiter.take(f"address {number}")
        assert limiter.take("greedy") > 0
    assert len(limiter) == 100


def test_the_quotas_are_those_of_the_settings() -> None:
    limiters = Limiters.of(Quotas(uploads_per_hour=2, challenges_per_hour=3))
    assert limiters.uploads.count == 2
    assert limiters.challenges.rate == 3 / HOUR
    assert limiters.tournaments.count == Quotas().tournaments_per_hour
    assert limiters.all_registrations.count == Quotas().all_registrations_per_hour


@pytest.mark.parametrize(
    ("address", "home"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:5501", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::9]:443", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
        (":::nonsense:::", ":::nonsense:::"),
        ("x" * 10_000, "x" * 64),
    ],
)
def test_addresses_of_one_owner_count_as_one(address: str, home: str) -> None:
    assert home_of(address) == home


def test_an_address_that_asks_too_often_waits_and_others_do_not(tmp_path: Path) -> None:
    async def ask(server: Served, path: str, forwarded: str) -> tuple[int, str | None]:
        headers = {"X-Forwarded-For": forwarded}
        async with server.http.get(server.url + path, headers=headers) as response:
            return response.status, response.headers.get("Retry-After")

    async def scenario() -> None:
        settings = replace(QUIET, forwarded=True, quotas=Quotas(requests_per_minute=3))
        async with served(tmp_path, settings) as server:
            for last in ("1", "2", "3"):
                answer = await ask(server, "/api/v1", f"2001:db8::{last}")
                assert answer == (200, None)
            status, after = await ask(server, "/api/v1", "198.51.100.1, 2001:db8::4")
            assert status == 429
            assert after is not None
            assert 1 <= int(after) <= 20
            assert (await ask(server, "/nowhere", "2001:db8::5"))[0] == 429
            assert (await ask(server, "/api/v1", "2001:db8:0:1::1"))[0] == 200
            for _ in range(5):
                assert await ask(server, "/healthz", "2001:db8::1") == (200, None)
            assert (await ask(server, "/metrics", "2001:db8::1"))[0] == 429

    asyncio.run(scenario())


def test_networks_of_many_addresses_pay_together_and_few_of_them_are_remembered() -> None:
    clock = Clock()
    one, together = Limiter(3, 60, clock), Limiter(6, 60, clock)
    limiter = AddressLimiter(one, together)
    for number in range(6):
        assert limiter.take(home_of(f"2001:db8:1:{number:x}::1")) == 0
    for number in range(6, 100):
        assert limiter.take(home_of(f"2001:db8:1:{number:x}::1")) == pytest.approx(10)
    assert len(one) == 6
    assert limiter.take(home_of("2001:db8:2::1")) == 0
    assert limiter.take("192.0.2.1") == 0
    clock.at += 10
    assert limiter.take(home_of("2001:db8:1:7::1"), 2) > 0  # a refusal costs neither of them
    assert limiter.take(home_of("2001:db8:1:7::1")) == 0


def test_registrations_are_limited_in_all_and_those_that_fail_do_not_count(tmp_path: Path) -> None:
    quotas = Quotas(all_registrations_per_hour=2)

    async def register(server: Served, name: str, address: str) -> int:
        async with server.http.post(
            f"{server.url}/api/v1/accounts",
            json={"name": name},
            headers={"X-Forwarded-For": address},
        ) as response:
            return response.status

    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, forwarded=True, quotas=quotas)) as server:
            assert await register(server, "ada", "192.0.2.1") == 201
            assert await register(server, "ada", "192.0.2.2") == 409
            assert await register(server, "bob", "192.0.2.3") == 201
            assert await register(server, "eve", "192.0.2.4") == 429
            await server.post("/accounts", 201, json={"name": "eve"}, headers=server.local)

    asyncio.run(scenario())


def test_what_is_refused_for_another_reason_is_paid_as_well(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = replace(QUIET, quotas=Quotas(requests_per_minute=3))
        async with served(tmp_path, settings) as server:
            url = server.url + "/api/v1"
            for _ in range(3):
                async with server.http.get(url, headers={"Host": "evil.example"}) as response:
                    assert response.status == 421
            async with server.http.get(url) as response:
                assert response.status == 429

    asyncio.run(scenario())


def test_whoever_watches_pays_little_and_from_a_budget_of_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = replace(QUIET, quotas=Quotas(requests_per_minute=1))
        async with served(tmp_path, settings) as server:
            statuses = []
            for path in ("/api/v1", "/api/v1", *["/healthz"] * 11):
                async with server.http.get(server.url + path) as response:
                    statuses.append(response.status)
            assert statuses[:2] == [200, 429]
            assert statuses[2:12] == [200] * 10
            assert statuses[12] == 429

    asyncio.run(scenario())
