"""Nobody fills the disk: uploads stop in time, and builds that nobody needs make room."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_ladder.store.bots.submissions import Subject
from keltis_server.uploads.check import Findings
from keltis_server.uploads.submitting import SUBMITTING
from tests.server.support.archives import zipped
from tests.server.support.serving import QUIET, served
from tests.server.support.uploading import PATIENCE, intake_of

HUGE = 10**18  # bytes: more than half of any disk


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
