"""An author is removed in the middle of a match: it is finished, and then nothing is left."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlmodel import Session

from keltis_ladder.match.clock import TimeControl
from keltis_ladder.store.matches.matches import match_row
from keltis_ladder.store.schema.tables import JobState, Version
from keltis_server.play.games import GAMES
from tests.ladder.support.small_bots import write_bot
from tests.server.support.serving import Served, served
from tests.server.support.spectating import PATIENCE, Author, Sluice, order, settle_in
from tests.server.support.uploading import intake_of


async def until(server: Served, id: str, state: JobState) -> None:
    """Wait until a match has come so far."""
    async with asyncio.timeout(PATIENCE):
        while (row := await server.site.read(match_row, id)) is None or row.job.state != state:
            await asyncio.sleep(0.05)


def digest_of(session: Session, author: Author) -> str | None:
    return session.get_one(Version, author.version).archive_digest


def test_a_match_of_a_removed_author_is_finished_before_the_programs_go(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path / "home") as server:
            site, pruner = server.site, intake_of(server).pruner
            pruner.soon = 0.2
            alice = await settle_in(server, "alice", "", write_bot(tmp_path / "a"))
            bob = await settle_in(server, "bob", "greedy")
            digest = await site.read(digest_of, alice)
            assert digest is not None
            archive = site.home.archives.path(digest)
            patient = TimeControl(bank_ms=600_000)
            sluice = Sluice(server.app[GAMES].dispatcher)  # it cannot end before we want it to
            playing = await order(server, "keltis", [alice, bob], rated=True, control=patient)
            async with asyncio.timeout(PATIENCE):
                while playing not in server.app[GAMES].live:
                    await asyncio.sleep(0.05)
            held = await order(server, "keltis", [bob, alice], held=True)
            builds = list((site.home.directory / "bots").iterdir())
            assert len(builds) == 1

            await server.post("/admin/authors/alice/remove", headers=server.local)
            row = await site.read(match_row, playing)
            assert row is not None
            assert row.job.state == JobState.LEASED
            assert builds[0].exists()
            assert archive.exists()
            await until(server, held, JobState.CANCELLED)

            sluice.open()
            await until(server, playing, JobState.DONE)
            row = await site.read(match_row, playing)
            assert row is not None
            assert [each.faults for each in row.entrants] == [0, 0]
            assert all(not each.bot.startswith("alice") for each in row.entrants)
            async with asyncio.timeout(PATIENCE):
                while builds[0].exists() or archive.exists():
                    await asyncio.sleep(0.05)
            assert await site.read(digest_of, alice) is None

    asyncio.run(scenario())
