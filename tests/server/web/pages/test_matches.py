"""The page of a match."""

from __future__ import annotations

import asyncio
from pathlib import Path

from keltis_server.web.render.words import words_of
from tests.ladder.store.support.results import made_up
from tests.server.support.stories import bots, quiet, result
from tests.server.web.support.pages import fetch
from tests.server.web.support.pages_app import served_pages


def test_how_a_match_was_decided_is_said(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            quiet(server)
            pair = bots(server, "alder", "birch", author="maeve")
            for games, says in (
                ([[10, 5], [6, 4]], "alder</strong> is ahead by points, 14 to 11"),
                ([[10, 5], [4, 6]], "alder</strong> won 2 of 2 games"),
                ([[10, 5], [10, 5]], "A draw."),
            ):
                number = result(server, pair, made_up("keltis", games))
                assert says in (await fetch(server, f"/matches/{number}")).text
            listed = (await fetch(server, "/matches")).text
            assert listed.count(f">{words_of('en')('match.by_points')}<") == 1

    asyncio.run(scenario())
