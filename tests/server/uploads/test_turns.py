"""Few have their turn at once, and one author never takes two places."""

from __future__ import annotations

import asyncio

from keltis_server.uploads.turns import Turns


def test_an_author_takes_one_place_however_many_uploads_he_has() -> None:
    async def scenario() -> None:
        turns = Turns(2)
        done, log = asyncio.Event(), []

        async def upload(author: int, name: str) -> None:
            async with turns.of(author):
                log.append(name)
                await done.wait()

        tasks = [
            asyncio.create_task(upload(author, name))
            for author, name in ((1, "a"), (1, "b"), (1, "c"), (2, "d"), (3, "e"))
        ]
        for _ in range(10):  # steps of the loop: everybody who can begin has begun
            await asyncio.sleep(0)
        assert log == ["a", "d"]
        done.set()
        await asyncio.gather(*tasks)
        assert sorted(log) == ["a", "b", "c", "d", "e"]
        assert log.index("e") < log.index("c")
        assert not turns.waiting

    asyncio.run(scenario())


def test_who_gives_up_leaves_the_place_to_others() -> None:
    async def scenario() -> None:
        turns = Turns(1)
        begun, done = asyncio.Event(), asyncio.Event()

        async def upload(author: int) -> None:
            async with turns.of(author):
                begun.set()
                await done.wait()

        first = asyncio.create_task(upload(1))
        await begun.wait()
        second, third = asyncio.create_task(upload(2)), asyncio.create_task(upload(3))
        await asyncio.sleep(0)
        second.cancel()
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        done.set()
        await third
        assert not turns.waiting

    asyncio.run(scenario())
