"""What failed and was ours is told to the operator: in the log, a metric and the status."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from keltis_engine import find_variant
from keltis_ladder.dispatch.dispatcher import AttemptFailed, MatchPostponed
from keltis_ladder.dispatch.local import LocalDispatcher
from keltis_ladder.match.entrants import built_in
from keltis_ladder.match.jobs import Job
from keltis_ladder.run.scheduler import PlatformTrouble
from keltis_server.http.metrics import POSTPONED, TROUBLES, count
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


def test_the_operator_sees_who_drags_matches_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with served(tmp_path / "ladder", QUIET) as server:
            status = await server.get("/admin/status", headers=server.local)
            assert status["dragging"] == []
            monkeypatch.setattr(LocalDispatcher, "suspects", {"gwyn": 4, "ada": 3})
            status = await server.get("/admin/status", headers=server.local)
            told = [{"bot": "ada", "matches": 3}, {"bot": "gwyn", "matches": 4}]
            assert status["dragging"] == told

    asyncio.run(scenario())


def test_matches_that_were_postponed_are_counted() -> None:
    job = Job(find_variant("keltis").id, {}, 1, (built_in("greedy"), built_in("search")))
    before = POSTPONED._value.get()
    count(MatchPostponed(job, "the machine is too busy"))
    assert POSTPONED._value.get() == before + 1
