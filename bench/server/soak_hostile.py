"""Hostile authors for the soak: ``python -m bench.server.soak_hostile URL DATA SECONDS``.

One takes all that the quotas allow (``bench.server.shares``), others upload archives such as nobody
packs by accident (``bench.server.uploads``), each from an address of its own. They say ``ready``
when the first one has its bot on the ladder, and in the end, as JSON, what came of it.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Final

import aiohttp

from bench.server.shares import Author, GreedyAuthor, Measuring
from bench.server.uploads import AUTHORS, KINDS, SEED, drawn, register, upload
from keltis_ladder.store.home import Home

GREEDY: Final = "127.0.0.3"
UPLOADING: Final = "127.0.0.4"
CHANGING: Final = ("ordinary", "damaged")  # kinds of archives of which each is another one


async def archives(url: str, seconds: float) -> Counter[str]:
    """Let four authors upload one archive after the other; return how each kind was answered."""
    draw = random.Random(SEED)
    answers: Counter[str] = Counter()
    made: dict[tuple[str, int], bytes] = {}
    authors = await register(url, UPLOADING, "uploader")
    end = time.monotonic() + seconds
    kinds = cycle(drawn(1000, draw))
    while time.monotonic() < end:
        queues = []
        for author, kind in zip(range(AUTHORS), kinds, strict=False):
            if kind in CHANGING or (kind, author) not in made:
                made[kind, author] = KINDS[kind][1](draw, author)
            queues.append([(kind, made[kind, author])])
        try:
            answers += await upload(url, authors, queues, UPLOADING)
        except (OSError, aiohttp.ClientError) as error:
            answers[type(error).__name__] += 1
    return answers


def main() -> None:
    url, data, seconds = sys.argv[1:]
    database = Home(Path(data)).open(create=False)
    with tempfile.TemporaryDirectory(prefix="keltis-hostile-") as scratch:
        greedy = GreedyAuthor(Author(url, "greedy-one", Path(scratch), GREEDY))
        greedy.prepare(Measuring(database).until_rated)
        database.close()
        greedy.start()
        print("ready", flush=True)
        answers = asyncio.run(archives(url, float(seconds)))
        greedy.stopped.set()
        greedy.join()
    found = {"challenges": greedy.challenges, "archives": dict(sorted(answers.items()))}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
