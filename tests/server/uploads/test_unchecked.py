"""A check that fails on our side is tried again, then told, and can be had again; once each."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path

import pytest
from sqlmodel import Session, select

from keltis_ladder.sandbox.sandbox import SandboxMissing, find_sandbox
from keltis_ladder.store.bots.version_words import WORDS
from keltis_ladder.store.schema.tables import Version
from keltis_ladder.store.schema.version_states import VersionCause
from tests.server.support.serving import Served, served
from tests.server.support.uploading import NO_PLACES, Journal, intake_of, small_bot, upload
from tests.server.uploads.test_intake import checkers

Headers = dict[str, str]

LINES = ["sh", "-c", "echo begins; echo ends"]
SLOWLY = "time.sleep(0.03)\nreturn request.legal[0]"  # there is time to end its check in the middle

CANNOT_CHECK = WORDS[VersionCause.NOT_CHECKED]


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    try:
        find_sandbox()
    except SandboxMissing as missing:
        pytest.skip(str(missing))


def digest_of(session: Session, version_id: int) -> str:
    found = session.get_one(Version, version_id).archive_digest
    assert found is not None
    return found


async def lose(server: Served, version_id: int) -> Path:
    """Put the archive of a version out of the way; return where it is now."""
    path = server.site.home.archives.path(await server.site.read(digest_of, version_id))
    return path.rename(path.with_suffix(".away"))


def find_again(away: Path) -> None:
    away.rename(away.with_suffix(""))


async def unchecked(server: Served, journal: Journal, author: Headers, data: bytes) -> Path:
    """Upload a bot whose archive is lost at once; return where that is, when it is given up."""
    intake = intake_of(server)
    places, intake.lanes.places = intake.lanes.places, NO_PLACES
    version = await upload(server, author, data)
    assert (await journal.next())[2] == "checking"
    away = await lose(server, version["id"])
    intake.lanes.places = places
    intake.add(version["id"])
    assert (await journal.next())[2] == "unchecked"
    return away


def test_whatever_fails_on_our_side_is_tried_again_and_then_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    lost = small_bot(tmp_path / "lost")

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada = await server.register("ada")
            before = await server.get("/admin/status", headers=server.local)
            assert before["unchecked"] == []
            await unchecked(server, journal, ada, lost)

            # The author's client, the author's page and the API say whose fault it is.
            version = await server.get("/bots/lost/versions/1", headers=ada)
            assert (version["state"], version["reason"]) == ("unchecked", CANNOT_CHECK)
            report = await server.get("/bots/lost/versions/1/report", headers=ada)
            assert (report["state"], report["reason"]) == ("unchecked", CANNOT_CHECK)
            assert report["findings"] == []
            assert str(tmp_path) not in str(report)
            async with server.http.get(f"{server.url}/bots/lost") as page:
                assert "could not be checked (our fault)" in await page.text()

            # The operator is told what failed, and of which bot.
            status = await server.get("/admin/status", headers=server.local)
            assert (status["unchecked"], status["checking"]) == (["lost 1"], 0)
            async with server.http.get(f"{server.url}/metrics") as found:
                text = await found.text()
            assert 'keltis_versions_total{state="unchecked"}' in text
            errors = [record for record in caplog.records if record.levelno == logging.ERROR]
            assert "lost 1 could not be checked" in errors[-1].getMessage()
            assert "is missing" in errors[-1].getMessage()
            tries = [record for record in caplog.records if "check of lost 1" in record.message]
            assert len(tries) == 3

    asyncio.run(scenario())


def test_an_error_that_nobody_thought_of_is_ours_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise EOFError("a file that ended too early")

    monkeypatch.setattr("keltis_server.uploads.intake.run_check", fail)

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada = await server.register("ada")
            await upload(server, ada, small_bot(tmp_path / "odd"))
            assert await journal.next() == ("odd", 1, "checking")
            assert await journal.next() == ("odd", 1, "unchecked")

    caplog.set_level(logging.INFO)
    asyncio.run(scenario())
    traced = [record for record in caplog.records if record.exc_info]
    assert traced, "the operator gets the traceback of what nobody thought of"


def test_a_version_is_checked_again_by_command_or_when_it_is_sent_again(tmp_path: Path) -> None:
    data = small_bot(tmp_path / "lost")

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada, bob = await server.register("ada"), await server.register("bob")
            away = await unchecked(server, journal, ada, data)
            await server.post("/bots/lost/recheck", 403, headers=bob)
            await server.post("/bots/nobody/recheck", 404, headers=ada)
            await server.post("/admin/recheck", 403, json={}, headers=ada)

            # While the trouble lasts it comes to the same end; the operator may try as well.
            again = await server.post("/bots/lost/recheck", headers=ada)
            assert (again["number"], again["state"], again["reason"]) == (1, "checking", "")
            assert await journal.next() == ("lost", 1, "checking")
            refused = await server.post("/bots/lost/recheck", 409, headers=ada)
            assert "is being checked" in refused["detail"]
            assert await journal.next() == ("lost", 1, "unchecked")
            done = await server.post("/admin/recheck", json={}, headers=server.local)
            assert done["versions"] == [{"bot": "lost", "number": 1, "state": "checking"}]
            assert await journal.next() == ("lost", 1, "checking")
            assert await journal.next() == ("lost", 1, "unchecked")

            # The very same program, sent again, is another wish for a check.
            find_again(away)
            await upload(server, ada, data)
            assert await journal.next() == ("lost", 1, "checking")
            assert await journal.next() == ("lost", 1, "active")
            refused = await server.post("/bots/lost/recheck", 409, headers=ada)
            assert "plays" in refused["detail"]
            done = await server.post("/admin/recheck", json={}, headers=server.local)
            assert done["versions"] == []
            await server.post("/admin/recheck", 404, json={"bot": "nobody"}, headers=server.local)
            await server.post("/admin/recheck", 409, json={"bot": "lost"}, headers=server.local)

    asyncio.run(scenario())


def test_the_next_start_of_the_server_checks_it_again(tmp_path: Path) -> None:
    data = small_bot(tmp_path / "lost")

    async def lose_it() -> Path:
        async with served(tmp_path / "home") as server:
            ada = await server.register("ada")
            return await unchecked(server, Journal(server), ada, data)

    async def go_on() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            if (await server.get("/bots/lost/versions/1"))["state"] != "active":
                while await journal.next() != ("lost", 1, "active"):
                    pass

    find_again(asyncio.run(lose_it()))
    asyncio.run(go_on())


def test_a_version_that_was_not_checked_can_be_replaced_and_taken_back(tmp_path: Path) -> None:
    old, new = small_bot(tmp_path / "a" / "mine"), small_bot(tmp_path / "mine", choose="False")
    other = small_bot(tmp_path / "other")

    def states(session: Session) -> list[str]:
        return list(session.exec(select(Version.state).order_by(Version.id)))  # type: ignore[arg-type]

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada = await server.register("ada")
            await unchecked(server, journal, ada, old)
            await upload(server, ada, new)
            assert await journal.next() == ("mine", 2, "checking")
            assert await journal.next() == ("mine", 1, "superseded")
            assert (await journal.next())[:2] == ("mine", 2)
            await unchecked(server, journal, ada, other)
            await server.post("/bots/other/retire", json={}, headers=ada)
            assert await journal.next() == ("other", 1, "retired")

    asyncio.run(scenario())


def test_what_a_check_told_before_it_was_tried_again_is_not_told_twice(tmp_path: Path) -> None:
    bot = small_bot(tmp_path / "slow", build=LINES, choose=SLOWLY)

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada = await server.register("ada")
            await upload(server, ada, bot)
            assert await journal.next() == ("slow", 1, "checking")
            await journal.until("finding", "built in")
            (checker,) = checkers()
            os.kill(checker, signal.SIGKILL)
            assert await journal.next() == ("slow", 1, "active")
            report = await server.get("/bots/slow/versions/1/report", headers=ada)
            told = [each.data["check"] for each in journal.checking if each.kind == "finding"]
            assert told == [each["check"] for each in report["findings"]]
            printed = "".join(c.data["text"] for c in journal.checking if c.kind == "output")
            assert printed == "begins\nends\n"

    asyncio.run(scenario())
