"""Nobody fills the disk: uploads stop in time, and builds that nobody needs make room."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_ladder.store.bots.submissions import Subject
from keltis_server.settings import Quotas
from keltis_server.uploads.check import Findings
from keltis_server.uploads.submitting import SUBMITTING
from tests.server.support.archives import zipped
from tests.server.support.serving import QUIET, served
from tests.server.support.uploading import NO_PLACES, PATIENCE, intake_of, small_bot, upload

HUGE = 10**18  # bytes: more than half of any disk


def test_an_author_s_uploads_take_so_much_at_most_and_what_is_refused_leaves_nothing(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    sizes = Quotas(archive_bytes=200_000, kept_bytes=250_000)

    def noisy(name: str, seed: int) -> bytes:
        (tmp_path / name).mkdir(exist_ok=True)
        noise = random.Random(seed).randbytes(100_000)
        (tmp_path / name / "noise.bin").write_bytes(noise)
        return small_bot(tmp_path / name)

    async def scenario() -> None:
        async with served(home, replace(QUIET, quotas=sizes)) as server:
            intake_of(server).lanes.places = NO_PLACES
            ada = await server.register("ada")
            archives = server.site.home.archives

            def kept() -> set[str]:
                return {path.name for path in archives.root.glob("*/*")}

            first = await upload(server, ada, noisy("one", 1))
            second = await upload(server, ada, noisy("one", 2))
            third = await upload(server, ada, noisy("one", 3))
            assert kept() == {second["digest"], third["digest"]}, "the oldest made room"
            gone = await server.get("/bots/one/versions/1", headers=ada)
            assert (gone["digest"], first["number"]) == (None, 1)

            other = await upload(server, ada, noisy("two", 4))
            assert kept() == {third["digest"], other["digest"]}
            problem = await server.post("/bots", 409, headers=ada, data=noisy("three", 5))
            assert "keltis-ladder retire BOT" in problem["detail"]
            eve = await server.register("eve")
            await server.post("/bots", 409, headers=eve, data=noisy("two", 6))  # it is ada's
            assert kept() == {third["digest"], other["digest"]}

    asyncio.run(scenario())


def test_nobody_fills_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with served(tmp_path, replace(QUIET, sandboxed=False)) as server:
            ada = await server.register("ada")
            intake, site = intake_of(server), server.site

            submitting = server.app[SUBMITTING]
            enough, submitting.reserve = submitting.reserve, HUGE
            problem = await server.post("/bots", 503, headers=ada, data=zipped())
            assert "disk is full" in problem["detail"]
            assert list((tmp_path / "incoming").iterdir()) == []
            status = await server.get("/admin/status", headers=server.local)
            assert "nearly full" in status["troubles"][0]["text"]
            submitting.reserve = enough

            left = site.home.directory / "bots" / ("a" * 64)
            left.mkdir(parents=True)
            (left / ".ready").write_text(str(HUGE))
            found = Subject(1, "mine", 1, author_id=1, digest=left.name)
            monkeypatch.setattr("keltis_ladder.run.build_room.OF_AUTHOR", HUGE - 1)
            findings = Findings()
            failure = await intake._look_for_room(found, findings)
            assert failure is not None
            assert failure.startswith("room: what your bots have built takes")
            assert [each["mark"] for each in findings.findings] == ["failed"]

            intake.pruner.look_for_room()
            async with asyncio.timeout(PATIENCE):
                while left.exists():
                    await asyncio.sleep(0.02)

    asyncio.run(scenario())
