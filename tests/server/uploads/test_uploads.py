"""Uploads are received as streams, within limits, and become versions of their authors' bots."""

from __future__ import annotations

import asyncio
import io
import sys
import tarfile
from pathlib import Path
from threading import Event

import aiohttp
import pytest
from sqlmodel import Session, select

from keltis_ladder.store.bots.accounts import TokenScope, add_token
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Author, Bot
from keltis_server.http.endpoints import API
from keltis_server.settings import Quotas, Settings
from keltis_server.uploads.receiving import Pace
from keltis_server.uploads.submitting import SUBMITTING
from tests.server.support.archives import digits, zipped
from tests.server.support.serving import Served, bearer, served
from tests.server.support.uploading import (
    NO_PLACES,
    PATIENCE,
    Journal,
    connection,
    head,
    intake_of,
    small_bot,
    status_of,
    upload,
)

KIB = 1024

ADA = "1"  # the id of the first author of a ladder


def waiting_room(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "incoming").iterdir())


async def emptied(directory: Path) -> None:
    """Wait until nothing is left of uploads."""
    async with asyncio.timeout(PATIENCE):
        while waiting_room(directory):
            await asyncio.sleep(0.02)


def test_an_upload_is_never_larger_slower_or_more_often_than_allowed(tmp_path: Path) -> None:
    quotas = Quotas(archive_bytes=64 * KIB, uploads_per_hour=4)
    (tmp_path / "incoming" / "check-1").mkdir(parents=True)
    (tmp_path / "incoming" / "upload-2").write_bytes(b"of a server that was killed")

    async def scenario() -> None:
        async with served(tmp_path, Settings(port=0, house=False, quotas=quotas)) as server:
            assert waiting_room(tmp_path) == []
            server.app[SUBMITTING].receiver.pace = Pace(pause=PATIENCE, whole=PATIENCE)
            ada = await server.register("ada")
            left = server.site.limiters.uploads.left

            # Larger than allowed: by what it says, and by what comes.
            async with connection(server) as (reader, writer):
                writer.write(head(ada, Content_Length=str(10**13)))
                assert await status_of(reader) == 413
            assert left(ADA) == 4
            async with connection(server) as (reader, writer):
                writer.write(head(ada, Transfer_Encoding="chunked"))
                for _ in range(5):
                    writer.write(b"4000\r\n" + bytes(16 * KIB) + b"\r\n")
                assert await status_of(reader) == 413
            assert left(ADA) == 3

            # Cut off, stalled, and so slow that it would never end: none of these counts.
            async with connection(server) as (_, writer):
                writer.write(head(ada, Content_Length="1000") + b"PK")
                await writer.drain()
                while not waiting_room(tmp_path):
                    await asyncio.sleep(0.02)
            await emptied(tmp_path)
            server.app[SUBMITTING].receiver.pace = Pace(pause=0.4, whole=PATIENCE)
            async with connection(server) as (reader, writer):
                writer.write(head(ada, Content_Length="1000") + b"PK")
                assert await status_of(reader) == 408
            server.app[SUBMITTING].receiver.pace = Pace(pause=PATIENCE, whole=1.2)
            async with connection(server) as (reader, writer):
                writer.write(head(ada, Content_Length="1000"))
                answer = asyncio.ensure_future(status_of(reader))
                while not answer.done():
                    writer.write(b"x")
                    await asyncio.sleep(0.1)
                assert await answer == 408
            assert left(ADA) == 3
            await emptied(tmp_path)

            # At most two at a time.
            server.app[SUBMITTING].receiver.pace = Pace(pause=PATIENCE, whole=PATIENCE)
            async with connection(server) as (_, one), connection(server) as (_, other):
                for writer in (one, other):
                    writer.write(head(ada, Content_Length="1000"))
                while len(waiting_room(tmp_path)) < 2:
                    await asyncio.sleep(0.02)
                await refused(server, ada, 429, "2 uploads of yours are under way")
            await emptied(tmp_path)

            # What is no body, or no form.
            await refused(
                server, {**ada, "Content-Encoding": "gzip"}, 415, "without Content-Encoding"
            )
            assert left(ADA) == 3

            # What is refused for what it is, counts.
            await refused(server, ada, 400, "no bot.toml", zipped([("x", b"")]))
            no_form = {**ada, "Content-Type": "multipart/form-data"}
            await refused(server, no_form, 400, "this form cannot be read")
            form = aiohttp.FormData(default_to_multipart=True)
            form.add_field("large", "x" * 65 * KIB)
            await refused(server, ada, 400, "a large field that is no file", form)
            assert left(ADA) == 0
            await refused(server, ada, 429, "at most 4 uploads an hour")
            await emptied(tmp_path)

    asyncio.run(scenario())


async def refused(
    server: Served, headers: dict[str, str], status: int, words: str, data: object = b"what?"
) -> None:
    """Upload something, and see it refused with these words."""
    async with server.http.post(server.url + API + "/bots", data=data, headers=headers) as answer:
        plain = await answer.json(content_type=None)
        assert (answer.status, words in plain["detail"]) == (status, True), plain
        assert ("Retry-After" in answer.headers) == (status == 429)
        assert str(server.site.home.directory) not in plain["detail"]


async def fetched(
    server: Served, bot: str, number: int, page: str, headers: dict[str, str]
) -> tuple[int, bytes]:
    """Return what a page of a version answers."""
    address = f"{server.url}{API}/bots/{bot}/versions/{number}/{page}"
    async with server.http.get(address, headers=headers) as answer:
        return answer.status, await answer.read()


def test_the_server_goes_on_while_an_archive_is_opened_and_blames_nobody_if_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    stand_in = tmp_path / "python"
    stand_in.write_text(
        '#!/bin/sh\nwhile [ "$1" != --scratch ]; do shift; done; mkdir -p "$2/unpacked/left"\n'
        f": > {begun}\nwhile [ ! -e {go} ]; do sleep 0.02; done\n"
    )
    stand_in.chmod(0o755)
    home = tmp_path / "home"

    async def scenario() -> None:
        async with served(home) as server:
            ada = await server.register("ada")
            await refused(server, ada, 400, "extended header of this tar", digits())
            monkeypatch.setattr(sys, "executable", str(stand_in))
            address = server.url + API + "/bots"
            sent = asyncio.create_task(server.http.post(address, data=zipped(), headers=ada))
            async with asyncio.timeout(PATIENCE):
                while not begun.exists():
                    await asyncio.sleep(0.02)
            async with server.http.get(server.url + "/healthz") as answer:
                assert answer.status == 200
            assert not sent.done()
            go.touch()
            async with await sent as answer:
                assert (answer.status, answer.headers["Retry-After"]) == (503, "60")
            await emptied(home)
            # The operator is told.
            status = await server.get("/admin/status", headers=server.local)
            assert "an upload could not be opened: what opens" in status["troubles"][0]["text"]

    asyncio.run(scenario())


def test_only_who_may_submit_can_and_a_name_has_one_author(tmp_path: Path) -> None:
    quotas = Quotas(bots=2)
    home = tmp_path / "home"
    mine = small_bot(tmp_path / "mine")
    changed = small_bot(tmp_path / "mine", description="better")

    def reader_token(session: Session) -> str:
        author = session.exec(select(Author).where(Author.name == "ada")).one()
        return add_token(session, author, [TokenScope.READ], now())[1]

    def disable(session: Session) -> None:
        bot = session.exec(select(Bot).where(Bot.name == "mine")).one()
        bot.disabled = "it is rude"
        session.add(bot)

    async def scenario() -> None:
        settings = Settings(port=0, house=False, quotas=quotas)
        async with served(home, settings) as server:
            intake_of(server).lanes.places = NO_PLACES  # nothing is checked
            journal = Journal(server)
            ada, eve = await server.register("ada"), await server.register("eve")
            await refused(server, {}, 401, "this needs a token")
            reader = bearer(await server.site.write(reader_token))
            await refused(server, reader, 403, "lacks the scope 'submit'")

            # A new bot, the same again, another version, and the same by a form.
            async with server.http.post(server.url + API + "/bots", data=mine, headers=ada) as got:
                first = await got.json()
                assert (got.status, first["number"], first["state"]) == (202, 1, "checking")
                assert got.headers["Location"] == f"{API}/bots/mine/versions/1"
            assert await journal.next() == ("mine", 1, "checking")
            assert (await upload(server, ada, mine, 200))["id"] == first["id"]
            second = await upload(server, ada, changed)
            assert (second["number"], second["description"]) == (2, "better")
            assert await journal.next() == ("mine", 2, "checking")
            assert await journal.next() == ("mine", 1, "superseded")
            form = aiohttp.FormData()
            form.add_field("note", "hello")
            form.add_field("bot", changed, filename="bot.tar.gz", content_type="application/gzip")
            assert (await upload(server, ada, form, 200))["id"] == second["id"]

            # What has come completely is entered, even if nobody waits for the answer.
            busy = Event()
            work = [asyncio.ensure_future(server.site.work(busy.wait)) for _ in range(2)]
            async with connection(server) as (_, writer):
                writer.write(head(ada, Content_Length=str(len(mine))) + mine)
                await writer.drain()
                while len(mine) not in [p.stat().st_size for p in (home / "incoming").iterdir()]:
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.1)
            busy.set()
            await asyncio.gather(*work)
            assert [await journal.next() for _ in range(2)] == [
                ("mine", 3, "checking"),
                ("mine", 2, "superseded"),
            ]
            await upload(server, ada, changed)
            assert [await journal.next() for _ in range(2)] == [
                ("mine", 4, "checking"),
                ("mine", 3, "superseded"),
            ]

            # Names of others and of our own bots; more bots than one may have.
            await refused(server, eve, 409, "belongs to a bot of another author", mine)
            house = small_bot(tmp_path / "greedy")
            await refused(server, eve, 409, "a bot of ours", house)
            await upload(server, ada, small_bot(tmp_path / "another"))
            await refused(server, ada, 409, "you have 2 bots", small_bot(tmp_path / "third"))
            await upload(server, ada, mine)  # a new version always fits
            assert [await journal.next() for _ in range(3)] == [
                ("another", 1, "checking"),
                ("mine", 5, "checking"),
                ("mine", 4, "superseded"),
            ]

            # Report and archive are for the author, and for the operator.
            everybody: list[dict[str, str]] = [{}, eve, ada, reader, server.local]
            reports = [await fetched(server, "mine", 1, "report", who) for who in everybody]
            assert [status for status, _ in reports] == [401, 403, 200, 200, 200]
            archives = [await fetched(server, "mine", 1, "archive", who) for who in everybody]
            assert [status for status, _ in archives] == [401, 403, 200, 200, 200]
            with tarfile.open(fileobj=io.BytesIO(archives[2][1]), mode="r:gz") as archive:
                assert sorted(archive.getnames()) == ["bot.py", "bot.toml"]
            assert (await fetched(server, "mine", 9, "archive", ada))[0] == 404

            # Taken back, and restored; disabled, it cannot be.
            retire, restore = "/bots/mine/retire", "/bots/mine/restore"
            await server.post(retire, 403, json={}, headers=eve)
            await server.post("/bots/nobody/retire", 404, json={}, headers=ada)
            gone = await server.post(retire, json={"reason": "too weak"}, headers=ada)
            assert (gone["number"], gone["state"], gone["reason"]) == (5, "retired", "too weak")
            await server.post(retire, 409, json={}, headers=ada)
            assert (await server.post(restore, headers=ada))["state"] == "checking"
            await server.post(restore, 409, headers=ada)
            await server.post(retire, json={}, headers=ada)
            assert (await upload(server, ada, mine))["number"] == 5
            await server.post(retire, json={}, headers=ada)
            await server.site.write(disable)
            await refused(server, ada, 409, "it is rude", mine)
            await server.post(restore, 409, headers=ada)

    asyncio.run(scenario())


def test_without_a_sandbox_no_bot_is_taken(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            server.site.sandbox = None
            ada = await server.register("ada")
            await refused(server, ada, 503, "cannot run bots of others")

    asyncio.run(scenario())
