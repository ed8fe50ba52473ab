"""What goes wrong is a page for people."""

from __future__ import annotations

import asyncio
from pathlib import Path

from keltis_server.web.render.words import LANGUAGES, words_of
from tests.server.web.support.pages import HTML, fetch
from tests.server.web.support.pages_app import served_pages


def test_what_is_wrong_is_a_page_for_people_and_plain_for_programs(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            for language in LANGUAGES:
                lost = await fetch(server, "/nothing", language, 404)
                assert words_of(language)("problem.title404") in lost.text
            for path in ("/bots/nobody", "/bots/Nobody", "/tournaments/No%20cup", "/matches/-1"):
                lost = await fetch(server, path, status=404)
                assert words_of("en")("problem.title404") in lost.text
                assert "/" + path.split("/")[1] in lost.links
            await fetch(server, "/matches/99", status=404)
            await fetch(server, "/rules/chess", status=404)
            await fetch(server, "/leaderboard?variant=chess", status=422)
            for path, accept in (("/nothing", "*/*"), ("/api/v1/bots/nobody", HTML["Accept"])):
                headers = {"Accept": accept}
                async with server.http.get(server.url + path, headers=headers) as response:
                    assert response.status == 404
                    assert response.content_type == "application/problem+json"

    asyncio.run(scenario())
