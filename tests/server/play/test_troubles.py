"""What failed and was ours is told to the operator: in the log, a metric and the status."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from keltis_engine import find_variant
from keltis_ladder.dispatch.dispatcher import AttemptFailed
from keltis_ladder.match.entrants import built_in
from keltis_ladder.match.jobs import Job
from keltis_ladder.run.scheduler import PlatformTrouble
from keltis_server.http.metrics import TROUBLES
from keltis_server.site.troubles import MOST_KEPT
from tests.server.support.serving import QUIET, served


def test_the_operator_sees_what_the_machine_broke_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    entrants = (built_in("greedy"), built_in("search"))
    job = Job(find_variant("keltis").id, {}, 1, entrants)

    async def scenario() -> None:
        async with served(tmp_path / "ladder", QUIET) as server:
            before = TROUBLES._value.get()
            server.site.tell(PlatformTrouble("the disk is full"))
            server.site.tell(AttemptFailed(job, "the machine is too busy", 2))
            assert TROUBLES._value.get() == before + 2
            told = (await server.get("/admin/status", headers=server.local))["troubles"]
            assert [each["text"] for each in told] == [
                f"match {job.id} (keltis: greedy, search), try 2: the machine is too busy",
                "the disk is full",
            ]
            for number in range(2 * MOST_KEPT):
                server.site.tell(PlatformTrouble(f"trouble {number}"))
            assert (
                len((await server.get("/admin/status", headers=server.local))["troubles"])
                == MOST_KEPT
            )

    asyncio.run(scenario())
    assert "the machine is too busy" in caplog.text
