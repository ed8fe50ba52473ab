"""The audit over HTTP: for the operator and the author only, and felt if the operator wants."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from sqlmodel import Session

from keltis_ladder.store.ratings.memory import active_ids
from keltis_server.http.endpoints import API
from keltis_server.play.games import GAMES
from keltis_server.uploads.auditing import AUDITOR
from tests.ladder.store.support.ladders import enter, store
from tests.ladder.store.support.results import made_up, real, won_by
from tests.server.support.serving import QUIET, Served, served
from tests.server.support.spectating import PATIENCE

TELLING = [[10, 10], [0, 28]]  # the first entrant has the second seat in the later game


def play(session: Session, bot: int, others: list[int], matches: int, telling: bool) -> None:
    """Let a bot meet others in turn: what the matches against one author say is not enough."""
    rows = made_up("keltis", TELLING) if telling else won_by("keltis", 2, 0)
    for _, other in zip(range(matches), cycle(others), strict=False):
        store(session, [bot, other], rows)


async def audited(server: Served) -> None:
    """Wait until the auditor has made a round that began after now."""
    auditor = server.app[AUDITOR]
    async with asyncio.timeout(PATIENCE):
        for _ in range(2):  # one may have been under way
            async with auditor.round:
                auditor.wake()
                await auditor.round.wait()


def test_the_operator_sees_whom_the_audit_suspects_and_the_author_what_it_says(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            site = server.site
            await server.app[GAMES].stop()  # these bots have no programs to play with
            server.app[AUDITOR].pause = 0.01
            ada, bob = await server.register("ada"), await server.register("bob")
            [knows] = await site.write(enter, "knows", author="ada")
            [honest] = await site.write(enter, "honest", author="bob")
            [fair] = await site.write(enter, "fair", author="carol")
            await site.write(play, knows, [honest, fair], 3, False)
            await audited(server)
            said = await server.get("/bots/knows/audit", headers=ada)
            assert (said["matches"], said["suspicious"], said["telling"]) == (3, False, [])
            found = await server.get("/admin/audit", headers=server.local)
            assert (found["done"], found["waiting"], found["suspects"]) == (3, 0, [])

            await site.write(play, knows, [honest, fair], 60, True)
            await audited(server)
            found = await server.get("/admin/audit", headers=server.local)
            [suspect] = found["suspects"]
            assert (suspect["bot"], suspect["partner"]) == ("knows", None)
            assert (suspect["test"], suspect["variant"]) == ("later", "keltis")
            assert suspect["matches"] == 63
            assert suspect["odds"] > 12_000
            assert 3 < suspect["alarm"] <= 63
            assert found["suspend"] is False
            said = await server.get("/bots/knows/audit", headers=ada)
            assert said["suspicious"] is True
            assert said["telling"] == list(range(4, 14))
            said = await server.get("/bots/honest/audit", headers=bob)
            assert (said["suspicious"], said["telling"]) == (False, [])
            assert await site.read(active_ids) == [knows, honest, fair]  # no suspension unasked

            for headers, status in [({}, 401), (bob, 403)]:
                for path in ("/bots/knows/audit", "/admin/audit"):
                    url = server.url + API + path
                    async with server.http.get(url, headers=headers) as response:
                        assert response.status == status, path
            url = f"{server.url}{API}/bots/nobody/audit"
            async with server.http.get(url, headers=server.local) as response:
                assert response.status == 404

    asyncio.run(scenario())


def test_the_server_looks_at_decisions_by_itself_unless_it_is_not_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play_really(session: Session, one: int, other: int) -> None:
        for seed in (1, 2):
            store(session, [one, other], real("weg-der-steine", 2, seed=seed), seed=seed)

    async def scenario(share: int) -> int:
        settings = replace(QUIET, audit_look=share)
        async with served(tmp_path / str(share), settings) as server:
            await server.app[GAMES].stop()
            server.app[AUDITOR].pause = 0.01
            [one] = await server.site.write(enter, "one", author="ada")
            [other] = await server.site.write(enter, "other", author="bob")
            await server.site.write(play_really, one, other)
            await audited(server)
            async with asyncio.timeout(PATIENCE):
                while True:
                    found = await server.get("/admin/audit", headers=server.local)
                    if found["looked_at"] == 2 or server.app[AUDITOR].looking is None:
                        return int(found["looked_at"])
                    await asyncio.sleep(0.05)

    monkeypatch.setattr("keltis_server.uploads.auditing.LOOK_AFTER", 0.0)
    assert [asyncio.run(scenario(share)) for share in (100, 0)] == [2, 0]


def test_a_suspect_is_suspended_if_the_operator_wants_and_stays_enabled_afterwards(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, suspend_suspects=True)) as server:
            site = server.site
            await server.app[GAMES].stop()
            server.app[AUDITOR].pause = 0.01
            [knows] = await site.write(enter, "knows", author="ada")
            [honest] = await site.write(enter, "honest", author="bob")
            [fair] = await site.write(enter, "fair", author="carol")
            await audited(server)
            await site.write(play, knows, [honest, fair], 60, True)
            await audited(server)
            assert await site.read(active_ids) == [honest, fair]
            done = await server.post("/admin/bots/knows/enable", headers=server.local)
            assert [each["state"] for each in done["versions"]] == ["checking"]
            await site.write(play, knows, [honest], 1, True)
            await audited(server)
            versions = await server.get("/bots/knows/versions")
            assert [each["state"] for each in versions["items"]] != ["retired"]

    asyncio.run(scenario())
