"""What belongs to pages: the choice of a language, and static files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urldefrag

from keltis_server.web.render.assets import HASH_MARK, Assets
from tests.server.web.support.pages import HTML, Page, fetch
from tests.server.web.support.pages_app import served_pages


def test_a_language_is_chosen_once_and_leads_back_but_never_away(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            board = await fetch(server, "/leaderboard?players=2")
            [link] = [each for each in board.links if each.startswith("/language/de")]
            async with server.http.get(server.url + link, allow_redirects=False) as response:
                assert response.status == 303
                assert response.headers["Location"] == "/leaderboard?players=2"
                chosen = {"Cookie": f"language={response.cookies['language'].value}"}
            headers = {**HTML, **chosen, "Accept-Language": "en"}
            async with server.http.get(server.url + "/", headers=headers) as response:
                assert Page(await response.text()).language == "de"
            for away in ("//evil.example", "https://evil.example", "/\\evil.example", ""):
                ask = server.http.get(
                    server.url + "/language/en", params={"to": away}, allow_redirects=False
                )
                async with ask as response:
                    assert response.status == 422, away

    asyncio.run(scenario())


def test_static_files_are_packed_and_kept_only_under_the_right_hash(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path) as server:
            page = await fetch(server, "/")
            assets = Assets.load()
            for load in page.loads:
                assert f"/{HASH_MARK}{assets.hash}/" in load
                async with server.http.get(server.url + urldefrag(load)[0]) as response:
                    assert response.status == 200, load
                    assert "immutable" in response.headers["Cache-Control"]
                    assert response.headers["X-Content-Type-Options"] == "nosniff"
                    etag = response.headers["ETag"]
                headers = {"If-None-Match": etag}
                async with server.http.get(server.url + load, headers=headers) as response:
                    assert response.status == 304
            for other in ("/static/lib/live.js", f"/static/{HASH_MARK}0000/lib/live.js"):
                async with server.http.get(server.url + other) as response:
                    assert response.status == 200
                    assert response.headers["Cache-Control"] == "no-cache"
                    assert response.headers["Content-Encoding"] == "gzip"
            for bad in ("/static/../app.py", "/static/%2e%2e/%2e%2e/app.py", "/static/lib/none.js"):
                async with server.http.get(server.url + bad) as response:
                    assert response.status == 404
            for path, kind in (("/robots.txt", "text/plain"), ("/favicon.svg", "image/svg+xml")):
                async with server.http.get(server.url + path) as response:
                    assert response.status == 200
                    assert response.content_type == kind

    asyncio.run(scenario())
