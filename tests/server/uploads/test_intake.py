"""What was uploaded is checked in the sandbox, and plays if it passes; whatever happens."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import Session

from keltis_ladder.files.excerpts import LARGEST_EXCERPT
from keltis_ladder.programs.builds import GIVES_WAY
from keltis_ladder.run.programs import Programs
from keltis_ladder.sandbox.child import descendants
from keltis_ladder.sandbox.sandbox import SandboxMissing, find_sandbox
from keltis_ladder.store.bots.catalogue import all_versions
from keltis_ladder.store.bots.submissions import restore, take_back
from keltis_ladder.store.bots.version_words import WORDS
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.tables import Version
from keltis_ladder.store.schema.version_states import VersionCause
from keltis_server.uploads import intake
from keltis_server.uploads.lanes import Lane
from tests.server.support.serving import QUIET, served
from tests.server.support.uploading import PATIENCE, Journal, intake_of, small_bot, upload

SLOW = ["sh", "-c", "echo begins; sleep 2"]


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    try:
        find_sandbox()
    except SandboxMissing as missing:
        pytest.skip(str(missing))


def niceness_of_ours(token: str) -> set[int]:
    """Return how nice our processes with such an argument are."""
    mine = set(descendants(os.getpid()))
    return {os.getpriority(os.PRIO_PROCESS, pid) for pid in running(token) if pid in mine}


def running(token: str) -> list[int]:
    """Return the processes that have a word among their arguments."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                words = Path(entry.path, "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if token.encode() in words:
                found.append(int(entry.name))
    return found


def checkers() -> list[int]:
    """Return the processes of this one that check a bot."""
    return [pid for pid in running("keltis_ladder.check.worker") if pid in descendants(os.getpid())]


def test_a_bot_that_passes_plays_and_one_that_does_not_is_told_why(tmp_path: Path) -> None:
    good = small_bot(tmp_path / "good")
    noisy = ["sh", "-c", r"""yes '\000 noise' | head -c 1000000; echo the end; exit 3"""]
    loud = small_bot(tmp_path / "good", build=noisy)
    crashes = small_bot(tmp_path / "crashes", choose="sys.exit('what a pity')")

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada = await server.register("ada")
            await upload(server, ada, good)
            assert await journal.next() == ("good", 1, "checking")
            assert await journal.next() == ("good", 1, "active")
            report = await server.get("/bots/good/versions/1/report", headers=ada)
            assert (report["state"], report["reason"], report["output"]) == ("active", "", "")
            assert {finding["mark"] for finding in report["findings"]} == {"ok"}
            told = [each.data for each in journal.checking if each.kind == "finding"]
            assert told == report["findings"]
            assert report["started"] < report["finished"]

            # A build that fails after a megabyte of noise; the version before plays on.
            journal.checking.clear()
            await upload(server, ada, loud)
            assert await journal.next() == ("good", 2, "checking")
            assert await journal.next() == ("good", 2, "broken")
            report = await server.get("/bots/good/versions/2/report", headers=ada)
            assert report["reason"] == "build: the build ended with exit code 3"
            assert report["reason_code"] == "failed"
            assert report["reason_details"] == {"text": report["reason"]}
            assert "characters are left out" in report["output"]
            assert report["output"].endswith("the end\n")
            assert len(report["output"]) < LARGEST_EXCERPT + 100
            assert report["findings"][-1]["log"].endswith("the end")
            outputs = [each for each in journal.checking if each.kind == "output"]
            assert 1 <= len(outputs) < 50
            assert (await server.get("/bots/good/versions/1"))["state"] == "active"

            await upload(server, ada, crashes)
            assert await journal.next() == ("crashes", 1, "checking")
            assert await journal.next() == ("crashes", 1, "broken")
            report = await server.get("/bots/crashes/versions/1/report", headers=ada)
            failed = next(each for each in report["findings"] if each["mark"] == "failed")
            assert report["reason"].startswith("weg-der-steine, 2 players: game 1, decision")
            assert "what a pity" in failed["log"]
            assert list((tmp_path / "home" / "incoming").iterdir()) == []

    asyncio.run(scenario())


@pytest.mark.parametrize("sandboxed", [True, False])
def test_a_check_that_hangs_is_ended_with_all_its_processes_and_is_our_trouble(
    sandboxed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "RETRY_SECONDS", 0.01)
    hangs = small_bot(tmp_path / "hangs", build=["sh", "-c", "sleep 98765.4321; true"])

    async def scenario() -> None:
        async with served(tmp_path / "home", replace(QUIET, sandboxed=sandboxed)) as server:
            journal = Journal(server)
            intake_of(server).longest = 2.0
            ada = await server.register("ada")
            await upload(server, ada, hangs)
            assert await journal.next() == ("hangs", 1, "checking")
            assert await journal.next() == ("hangs", 1, "unchecked")
            report = await server.get("/bots/hangs/versions/1/report", headers=ada)
            assert report["reason"] == WORDS[VersionCause.NOT_CHECKED]
            assert "failed" not in {finding["mark"] for finding in report["findings"]}
            status = await server.get("/admin/status", headers=server.local)
            told = "the check was not over after 2 s: the machine is too busy"
            assert status["troubles"][0]["text"] == f"hangs 1 could not be checked: {told}"
            assert checkers() == []
            async with asyncio.timeout(PATIENCE):  # the kernel takes a moment
                while running("98765.4321"):
                    await asyncio.sleep(0.02)

    asyncio.run(scenario())


def test_a_server_that_was_stopped_goes_on_with_the_check(tmp_path: Path) -> None:
    slow = small_bot(tmp_path / "slow", build=SLOW)

    async def begin() -> dict[str, str]:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada = await server.register("ada")
            await upload(server, ada, slow)
            await journal.until("output", "begins")
            return ada

    async def go_on(ada: dict[str, str]) -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            assert await journal.next() == ("slow", 1, "active")
            report = await server.get("/bots/slow/versions/1/report", headers=ada)
            assert report["output"] == "begins\n"
            # Whoever plays it finds it built.
            printed: list[str] = []
            programs = Programs(server.site.home, server.site.sandbox, printed.append)
            ((version, bot, _),) = await server.site.read(all_versions)
            entrant = await server.site.work(programs.entrant, version, bot)
            assert (entrant.name, printed) == ("slow", [])

    ada = asyncio.run(begin())
    assert checkers() == []
    asyncio.run(go_on(ada))


def test_what_is_not_the_bots_fault_is_tried_again(tmp_path: Path) -> None:
    slow = small_bot(tmp_path / "slow", build=SLOW)
    lost = small_bot(tmp_path / "lost")

    def digest(session: Session, version_id: int) -> str:
        found = session.get_one(Version, version_id).archive_digest
        assert found is not None
        return found

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada = await server.register("ada")
            await upload(server, ada, slow)
            assert await journal.next() == ("slow", 1, "checking")
            await journal.until("output", "begins")
            (checker,) = checkers()
            os.kill(checker, signal.SIGKILL)
            # Meanwhile another comes in, whose archive is lost before its turn.
            version = await upload(server, ada, lost)
            path = server.site.home.archives.path(await server.site.read(digest, version["id"]))
            path.unlink()
            assert await journal.next() == ("lost", 1, "checking")
            assert await journal.next() == ("slow", 1, "active")
            assert await journal.next() == ("lost", 1, "unchecked")

    asyncio.run(scenario())


def test_a_check_is_broken_off_for_a_newer_version_or_when_the_bot_is_taken_back(
    tmp_path: Path,
) -> None:
    endless = ["sh", "-c", "echo begins; sleep 45678.9"]
    old = small_bot(tmp_path / "mine", build=endless)
    new = small_bot(tmp_path / "mine")
    other = small_bot(tmp_path / "other", build=endless)

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada = await server.register("ada")
            await upload(server, ada, old)
            assert await journal.next() == ("mine", 1, "checking")
            await journal.until("output", "begins")
            await upload(server, ada, new)
            assert await journal.next() == ("mine", 2, "checking")
            assert await journal.next() == ("mine", 1, "superseded")
            assert await journal.next() == ("mine", 2, "active")
            journal.checking.clear()
            await upload(server, ada, other)
            assert await journal.next() == ("other", 1, "checking")
            await journal.until("output", "begins")
            await server.post("/bots/other/retire", json={}, headers=ada)
            assert await journal.next() == ("other", 1, "retired")
            async with asyncio.timeout(PATIENCE):
                while checkers() or running("45678.9"):
                    await asyncio.sleep(0.05)
                while list((tmp_path / "home" / "bots").glob(".new-*")):
                    await asyncio.sleep(0.05)
            assert (await server.get("/bots/other/versions/1"))["state"] == "retired"

            # Restored, it is checked again before it plays.
            await server.post("/bots/mine/retire", json={}, headers=ada)
            await server.post("/bots/mine/restore", headers=ada)
            assert [await journal.next() for _ in range(3)] == [
                ("mine", 2, "retired"),
                ("mine", 2, "checking"),
                ("mine", 2, "active"),
            ]

    asyncio.run(scenario())


ENDLESS = ["sh", "-c", "echo begins; sleep 45678.9"]


def test_many_slow_builds_of_one_author_do_not_keep_another_waiting(tmp_path: Path) -> None:
    slow = [small_bot(tmp_path / f"slow-{letter}", build=ENDLESS) for letter in "abc"]
    good = small_bot(tmp_path / "good")

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada, eve = await server.register("ada"), await server.register("eve")
            for letter, data in zip("abc", slow, strict=True):
                await upload(server, ada, data)
                assert await journal.next() == (f"slow-{letter}", 1, "checking")
            await journal.until("output", "begins")
            await upload(server, eve, good)
            assert await journal.next() == ("good", 1, "checking")
            assert await journal.next() == ("good", 1, "active")
            async with asyncio.timeout(PATIENCE):  # hers is over, and only one of his goes on
                while len(checkers()) > 1:
                    await asyncio.sleep(0.02)
            assert len(intake_of(server).lanes.waiting) == 2

    asyncio.run(scenario())


def test_checks_that_take_long_make_room_and_the_second_of_them_begins_again(
    tmp_path: Path,
) -> None:
    names = ("slow", "slower", "slowest")
    bots = [small_bot(tmp_path / name, build=ENDLESS) for name in names]
    good = small_bot(tmp_path / "good")

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            intake = intake_of(server)
            intake.short_seconds = 0.3
            versions = []
            for name, data in zip(names, bots, strict=True):
                headers = await server.register(f"author-of-{name}")
                versions.append((await upload(server, headers, data))["id"])
                assert await journal.next() == (name, 1, "checking")
            async with asyncio.timeout(PATIENCE):
                while len(intake.lanes.running) != 1 or len(intake.lanes.waiting) != 2:
                    await asyncio.sleep(0.02)
            assert {each.lane for each in intake.lanes.waiting.values()} == {Lane.LONG}
            (first,) = intake.lanes.running
            intake.short_seconds = PATIENCE
            eve = await server.register("eve")
            await upload(server, eve, good)
            assert await journal.next() == ("good", 1, "checking")
            assert await journal.next() == ("good", 1, "active")

            # The next of those that were broken off has its turn when the first is over.
            name = names[versions.index(first)]
            await server.post(f"/bots/{name}/retire", json={}, headers=server.local)
            assert await journal.next() == (name, 1, "retired")
            async with asyncio.timeout(PATIENCE):
                while not (set(versions) - {first}) & set(intake.lanes.running):
                    await asyncio.sleep(0.02)

    asyncio.run(scenario())


def test_the_build_of_a_check_gives_way_to_matches(tmp_path: Path) -> None:
    slow = small_bot(tmp_path / "slow", build=ENDLESS)

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            server.site.settings = replace(server.site.settings, nice=7)
            journal = Journal(server)
            await upload(server, await server.register("ada"), slow)
            await journal.until("output", "begins")
            wanted = os.nice(0) + 7 + GIVES_WAY
            async with asyncio.timeout(PATIENCE):
                while niceness_of_ours("45678.9") != {wanted}:
                    await asyncio.sleep(0.01)

    asyncio.run(scenario())


def test_a_version_that_another_process_wants_checked_is_checked(tmp_path: Path) -> None:
    good = small_bot(tmp_path / "good")

    def restore_elsewhere() -> None:
        elsewhere = Database(str(tmp_path / "home" / "ladder.db"))
        elsewhere.write(lambda session: take_back(session, "good", "for a moment"))
        elsewhere.write(lambda session: restore(session, "good"))
        elsewhere.close()

    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            journal = Journal(server)
            ada = await server.register("ada")
            await upload(server, ada, good)
            assert await journal.next() == ("good", 1, "checking")
            assert await journal.next() == ("good", 1, "active")
            await asyncio.to_thread(restore_elsewhere)
            assert await journal.next() == ("good", 1, "active")

    asyncio.run(scenario())
