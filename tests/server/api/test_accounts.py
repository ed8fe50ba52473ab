"""Accounts over HTTP: who may open one, and what tokens can and cannot do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.sandbox.limits import PLAY
from keltis_server.http.endpoints import API
from keltis_server.settings import Quotas, Registration
from tests.server.support.serving import QUIET, Served, bearer, served

Headers = dict[str, str]


async def register(server: Served, status: int, headers: Headers | None = None, **body: Any) -> Any:
    return await server.post("/accounts", status, json=body, headers=headers or {})


async def delete(server: Served, path: str, headers: Headers) -> int:
    async with server.http.delete(server.url + API + path, headers=headers) as response:
        return response.status


async def refusal(server: Served, path: str, headers: Headers) -> int:
    async with server.http.get(server.url + API + path, headers=headers) as response:
        assert response.content_type == "application/problem+json"
        return response.status


def test_everybody_is_told_what_a_bot_may_use_here(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            limits = (await server.get(""))["limits"]
            share = server.site.share.limits
            assert limits == {"memory_bytes": share.memory, "scratch_bytes": share.scratch}
            assert 0 < share.memory <= PLAY.memory

    asyncio.run(scenario())


def test_an_author_registers_and_looks_after_their_tokens(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            opened = await register(server, 201, name="ada", label="laptop")
            assert opened["name"] == "ada"
            assert opened["scopes"] == ["read", "submit", "play", "account"]
            ada = bearer(opened["token"])
            await register(server, 409, name="ada")
            await register(server, 409, name="keltis-ladder")
            await register(server, 422, name="Ada Lovelace")

            account = await server.get("/account", headers=ada)
            assert (account["name"], account["house"], account["bots"]) == ("ada", False, [])
            assert account["uploads_left"] == account["quotas"]["uploads_per_hour"] == 20
            assert await refusal(server, "/account", {}) == 401
            assert await refusal(server, "/account", bearer("klt_made-up")) == 401
            assert await refusal(server, "/account", {"Authorization": "Basic YTpi"}) == 401

            wish = {"label": "ci", "scopes": ["submit", "submit"], "days": 30}
            made = await server.post("/account/tokens", 201, json=wish, headers=ada)
            assert made["scopes"] == ["submit"]
            assert made["expires"] > made["created"]
            assert made["current"] is False
            tokens = (await server.get("/account/tokens", headers=ada))["tokens"]
            assert [(each["label"], each["current"]) for each in tokens] == [
                ("laptop", True),
                ("ci", False),
            ]
            assert "token" not in tokens[0]

            small = bearer(made["token"])
            assert (await server.get("/account", headers=small))["scopes"] == ["submit"]
            assert await refusal(server, "/account/tokens", small) == 403
            assert await delete(server, f"/account/tokens/{made['id']}", small) == 403

            wish = {"label": "more", "scopes": ["read", "admin"]}
            await server.post("/account/tokens", 403, json=wish, headers=ada)

            bob = await server.register("bob")
            assert await delete(server, f"/account/tokens/{made['id']}", bob) == 404
            assert await delete(server, f"/account/tokens/{made['id']}", ada) == 204
            assert await delete(server, f"/account/tokens/{made['id']}", ada) == 404
            assert await refusal(server, "/account", small) == 401
            assert await delete(server, f"/account/tokens/{tokens[0]['id']}", ada) == 204
            assert await refusal(server, "/account", ada) == 401  # it was the one in use

    asyncio.run(scenario())


def test_a_token_does_not_outlive_the_one_that_made_it(tmp_path: Path) -> None:
    async def make(server: Served, headers: Headers, days: int | None) -> Any:
        wish = {"label": "another", "scopes": ["read", "account"], "days": days}
        return await server.post("/account/tokens", 201, json=wish, headers=headers)

    async def scenario() -> None:
        async with served(tmp_path) as server:
            ada = await server.register("ada")
            one = await make(server, ada, 1)
            two = await make(server, bearer(one["token"]), None)
            three = await make(server, bearer(two["token"]), 365)
            beside = await make(server, ada, None)
            assert one["expires"] == two["expires"] == three["expires"]
            assert beside["expires"] is None

            assert await delete(server, f"/account/tokens/{one['id']}", ada) == 204
            for made in (one, two, three):
                assert await refusal(server, "/account", bearer(made["token"])) == 401
            for headers in (ada, bearer(beside["token"])):
                assert (await server.get("/account", headers=headers))["name"] == "ada"

    asyncio.run(scenario())


def test_a_token_with_less_cannot_make_one_with_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            ada = await server.register("ada")
            wish = {"label": "keys only", "scopes": ["account"]}
            keys = bearer(
                (await server.post("/account/tokens", 201, json=wish, headers=ada))["token"]
            )
            for scope in ("read", "submit", "play", "admin"):
                wish = {"label": "more", "scopes": ["account", scope]}
                await server.post("/account/tokens", 403, json=wish, headers=keys)
            wish = {"label": "the same", "scopes": ["account"]}
            await server.post("/account/tokens", 201, json=wish, headers=keys)

            wish = {"label": "for the office", "scopes": ["admin"]}
            made = await server.post("/account/tokens", 201, json=wish, headers=server.local)
            admin = bearer(made["token"])
            wish = {"label": "all", "scopes": ["read", "admin"]}
            await server.post("/account/tokens", 201, json=wish, headers=admin)

    asyncio.run(scenario())


@pytest.mark.parametrize("bad", ["\x1b[2J", "a\u202eb", "\u2067", "\u200f", "\u061c", "\x9b", "\n"])
def test_texts_that_change_what_is_around_them_are_refused_in_words(
    bad: str, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with served(tmp_path, QUIET) as server:
            wish = {"label": f"mine {bad}", "scopes": ["read"]}
            told = await server.post("/account/tokens", 422, json=wish, headers=server.local)
            assert "label: " in told["detail"]
            assert f"the character U+{ord(bad.strip('ab')[0]):04X} is not allowed" in told["detail"]
            for path, body in (
                ("/admin/invitations", {"label": bad}),
                ("/admin/bots/greedy/disable", {"reason": bad}),
                ("/bots/greedy/retire", {"reason": bad}),
                ("/accounts", {"name": f"gwyn{bad}"}),
            ):
                await server.post(path, 422, json=body, headers=server.local)

    asyncio.run(scenario())


def test_the_local_key_is_not_for_the_account_of_whoever_registered_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "gwyn")

    async def scenario() -> None:
        async with served(tmp_path, QUIET) as server:
            stranger = bearer((await register(server, 201, name="gwyn"))["token"])
            mine = await server.get("/account", headers=server.local)
            assert mine["name"] == "gwyn-local"
            wish = {"label": "mine", "scopes": ["admin"]}
            await server.post("/account/tokens", 201, json=wish, headers=server.local)
            theirs = await server.get("/account/tokens", headers=stranger)
            assert len(theirs["tokens"]) == 1
        async with served(tmp_path, QUIET) as server:  # and after a restart it is the same account
            mine = await server.get("/account", headers=server.local)
            assert mine["name"] == "gwyn-local"

    asyncio.run(scenario())


def test_where_registration_is_by_invitation_each_opens_one_account(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = replace(QUIET, registration=Registration.INVITATION)
        async with served(tmp_path, settings) as server:
            answer = await register(server, 403, name="ada")
            assert "by invitation" in answer["detail"]
            await register(server, 403, name="ada", invitation="kli_made-up")
            wish = {"label": "for Ada", "days": 7}
            made = await server.post("/admin/invitations", 201, json=wish, headers=server.local)
            invitation = made["invitation"]
            await register(server, 409, name="admin", invitation=invitation)  # and it is not used
            await register(server, 201, name="ada", invitation=invitation)
            answer = await register(server, 403, name="bob", invitation=invitation)
            assert "used before" in answer["detail"]
            await register(server, 201, server.local, name="bob")

    asyncio.run(scenario())


def test_where_registration_is_closed_only_whoever_runs_the_ladder_opens_accounts(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, registration=Registration.CLOSED)) as server:
            await register(server, 403, name="ada")
            ada = bearer((await register(server, 201, server.local, name="ada"))["token"])
            assert (await server.get("/account", headers=ada))["name"] == "ada"
            await register(server, 403, ada, name="bob")

    asyncio.run(scenario())


def test_registrations_from_one_address_are_limited(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = replace(QUIET, quotas=Quotas(registrations_per_hour=2))
        async with served(tmp_path, settings) as server:
            await register(server, 201, name="a")
            await register(server, 201, name="b")
            url = f"{server.url}{API}/accounts"
            async with server.http.post(url, json={"name": "c"}) as response:
                assert response.status == 429
                assert 1 <= int(response.headers["Retry-After"]) <= 1800
                assert response.content_type == "application/problem+json"
            await register(server, 201, server.local, name="c")

    asyncio.run(scenario())
