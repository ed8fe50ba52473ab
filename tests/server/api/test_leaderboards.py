"""Leaderboards over HTTP: the same as in the store, ready for many, and soon up to date."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgpack
from sqlmodel import Session, col, select

from keltis_ladder.ratings.scopes import OVERALL, Scope
from keltis_ladder.store.bots.catalogue import set_aside
from keltis_ladder.store.ratings.leaderboards import leaderboard
from keltis_ladder.store.schema.tables import Author
from keltis_ladder.store.schema.version_states import VersionCause, VersionChanged, VersionState
from keltis_server.http.endpoints import API
from keltis_server.site.leaderboard_cache import FRESH_SECONDS, MEANWHILE, OLDEST, RECHECK, Boards
from tests.ladder.store.support.results import won_by
from tests.server.support.serving import served
from tests.server.support.stories import bots, change, problem, quiet, result, results, status

CHANGED = VersionChanged(
    1, "one", 1, 1, VersionState.ACTIVE, VersionState.RETIRED, VersionCause.TAKEN_BACK, {}
)


def test_a_leaderboard_is_what_is_stored_in_every_scope_and_form(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            assert await server.get("/leaderboard") == {
                "variant": "all", "players": 0, "matches": 0,
                "official": "joint", "as_of": None, "lines": [],
            }  # fmt: skip
            versions = bots(server, "one", "two", "three")
            results(server, versions, 30)
            result(server, versions, won_by("weg-der-steine", 3, winner=0))
            server.site.boards.forget()
            await asyncio.sleep(FRESH_SECONDS + MEANWHILE)
            for variant, players in (("all", 0), ("keltis", 2), ("weg-der-steine", 3)):
                scope = Scope(variant, players)
                lines = await server.site.read(leaderboard, scope)
                path = f"/leaderboard?variant={variant}&players={players}"
                board = await server.get(path)
                assert board["matches"] == 31
                assert [
                    (line["bot"], line["rank"], line["tied"], line["mu"], line["low"])
                    for line in board["lines"]
                ] == [(line.bot, line.rank, line.tied, line.mu, line.low) for line in lines]
                packed = {"Accept": "application/msgpack"}
                async with server.http.get(server.url + API + path, headers=packed) as response:
                    assert msgpack.unpackb(await response.read()) == board
                    etag = response.headers["ETag"]
                assert await status(server, path, headers={"If-None-Match": etag}) == 304
                other = {"If-None-Match": '"another"'}
                assert await status(server, path, headers=other) == 200
            assert (await server.get("/leaderboard?variant=neue-wege"))["lines"] == []
            assert await status(server, "/leaderboard?variant=chess") == 422
            assert await status(server, "/leaderboard?players=5") == 422

    asyncio.run(scenario())


def test_who_is_off_the_ladder_is_shown_only_on_request_and_who_is_shut_out_never(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            mine = bots(server, "one", "two")
            theirs = bots(server, "three", author="bob")
            results(server, mine + theirs, 40)

            def retire(session: Session) -> None:
                set_aside(session, mine[0], VersionCause.TAKEN_BACK, text="enough")

            def shut_out(session: Session) -> None:
                bob = session.exec(select(Author).where(col(Author.name) == "bob")).one()
                bob.disabled = True
                session.add(bob)

            assert await names(server.get("/leaderboard")) == {"one", "two", "three"}
            change(server, retire)
            server.site.tell(CHANGED)
            await asyncio.sleep(FRESH_SECONDS + MEANWHILE)
            assert await names(server.get("/leaderboard")) == {"two", "three"}
            assert await names(server.get("/leaderboard?everybody=true")) == {"one", "two", "three"}
            change(server, shut_out)
            server.site.boards.forget()
            await asyncio.sleep(FRESH_SECONDS + MEANWHILE)
            assert await names(server.get("/leaderboard")) == {"two"}
            assert await names(server.get("/leaderboard?everybody=true")) == {"one", "two"}
            bot = await server.get("/bots/three")
            assert bot["ratings"]
            assert bot["ratings"][0]["rank"] is None

    async def names(board: object) -> set[str]:
        assert asyncio.iscoroutine(board)
        return {line["bot"] for line in (await board)["lines"]}

    asyncio.run(scenario())


def test_many_share_one_computation_and_get_the_last_one_while_it_changes(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            at = 1000.0
            boards = Boards(server.site, lambda: at)
            server.site.listen(boards.note)
            versions = bots(server, "one", "two")
            results(server, versions, 3)
            first, *others = await asyncio.gather(*(boards.get(OVERALL) for _ in range(50)))
            assert all(other is first for other in others)
            assert first.out.matches == 3
            at += RECHECK - 0.1
            assert await boards.get(OVERALL) is first  # nothing has happened
            await boards.get(Scope("keltis", 2))
            results(server, versions, 1)
            server.site.tell(CHANGED)
            second = await boards.get(OVERALL)  # nobody has asked for long: no old one will do
            assert second.out.matches == 4
            results(server, versions, 1)
            server.site.tell(CHANGED)
            at += FRESH_SECONDS - 0.01
            assert await boards.get(OVERALL) is second  # made a moment ago: it will do
            at += 0.02
            assert await boards.get(OVERALL) is second  # while the next is made
            while (third := await boards.get(OVERALL)) is second:
                await asyncio.sleep(0.01)
            assert third.out.matches == 5
            assert third.encoded.etag != second.encoded.etag
            at += OLDEST
            fourth = await boards.get(OVERALL)
            assert fourth is not third  # read again, just in case
            assert fourth.encoded == third.encoded

    asyncio.run(scenario())


def test_what_another_process_changes_is_noticed_without_being_told(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            at = 1000.0
            boards = Boards(server.site, lambda: at)
            versions = bots(server, "one", "two")
            results(server, versions, 2)
            first = await boards.get(OVERALL)
            results(server, versions, 1)
            at += RECHECK - 0.1
            assert await boards.get(OVERALL) is first
            at += 2 * RECHECK  # nobody has asked meanwhile: looks first, then answers
            assert (await boards.get(OVERALL)).out.matches == 3
            results(server, versions, 1)
            at += RECHECK  # while many ask, it looks without letting them wait
            while (await boards.get(OVERALL)).out.matches == 3:
                await asyncio.sleep(0.01)

    asyncio.run(scenario())


def test_a_head_to_head_table_is_of_those_who_are_named_or_the_best(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            quiet(server)
            one, two, three = bots(server, "one", "two", "three")
            for _ in range(3):
                result(server, [one, two], won_by("keltis", 2, winner=0))
            result(server, [one, two], won_by("neue-wege", 2, winner=1))
            result(server, [three, two], won_by("keltis", 2, winner=0))
            table = await server.get("/head-to-head?bot=two&bot=one")
            assert table["bots"] == [{"bot": "two", "version": 1}, {"bot": "one", "version": 1}]
            assert table["pairs"] == [
                {"one": 0, "other": 1, "wins": 1, "draws": 0, "losses": 3, "expected": None}
            ]
            narrow = await server.get("/head-to-head?bot=two&bot=one&variant=neue-wege")
            assert narrow["pairs"] == [
                {"one": 0, "other": 1, "wins": 1, "draws": 0, "losses": 0, "expected": None}
            ]
            everybody = await server.get("/head-to-head")
            assert {bot["bot"] for bot in everybody["bots"]} == {"one", "two", "three"}
            assert len(everybody["pairs"]) == 2
            code, detail = await problem(server, "/head-to-head?bot=two&bot=onne")
            assert code == 404
            assert "do you mean one" in detail
            assert await status(server, "/head-to-head?bot=two") == 422

    asyncio.run(scenario())
