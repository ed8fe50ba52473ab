"""Kill a running ladder again and again: ``python -m bench.server.kills --strikes 1000``.

The same siege as in the tests, but longer: referees, the process that runs the ladder, those who
hold the database's lock, and on PostgreSQL its connections are killed at random moments. In the end
every result that was told must be stored, none twice, and all ratings must recompute exactly.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.ladder.store.support.postgres import running
from tests.system.support.siege import Siege, Strike, die_with_the_lock, kill_a_referee

from bench.keeping import keep
from keltis_ladder.store.home import Home


def besiege(home: Home, kinds: dict[str, Strike], strikes: int, seed: int) -> dict[str, Any]:
    """Run one siege and return what came of it."""
    siege = Siege(home, random.Random(seed))
    siege.prepare()
    begin = time.monotonic()

    def show(done: int) -> None:
        print(f"\r{done} of {strikes} strikes, {len(siege.told)} results", end="", file=sys.stderr)

    siege.endure(strikes, kinds, show)
    siege.finish()
    print(file=sys.stderr)
    return {
        "strikes": dict(Counter(siege.strikes)),
        "results": len(siege.told),
        "seconds": round(time.monotonic() - begin),
        "wrong": siege.verdict(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.kills", description=__doc__)
    parser.add_argument("--strikes", type=int, default=500, help="on each database")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(prefix="keltis-kills-") as scratch:
        home = Home(Path(scratch), str(Path(scratch) / "ladder.db"))
        kinds = {"referee": kill_a_referee, "lock": die_with_the_lock(Path(scratch) / "ladder.db")}
        found["SQLite"] = besiege(home, kinds, options.strikes, options.seed)
    with running() as server, tempfile.TemporaryDirectory(prefix="keltis-kills-") as scratch:
        server.execute("CREATE DATABASE ladder")
        kinds = {
            "referee": kill_a_referee,
            "connection": lambda _: server.cut_connections("ladder"),
        }
        home = Home(Path(scratch), server.url("ladder"))
        found["PostgreSQL"] = besiege(home, kinds, options.strikes, options.seed + 1)
    print(json.dumps(found, indent=2))
    keep("kills", {"seed": options.seed, "sieges": found})
    if any(siege["wrong"] for siege in found.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
