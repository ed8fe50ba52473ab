"""What each kind of request costs the server: ``python -m bench.server.costs``.

The CPU time of the server's process for each GET of API and pages, on a ladder of 200 bots that
does not play. The costs that endpoints declare are in proportion to it.
"""

from __future__ import annotations

import argparse
import http.client
import os
import tempfile
import time
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from sqlmodel import col, select
from tests.ladder.store.support.ladders import enter, store
from tests.ladder.store.support.results import real
from tests.system.support.servers import ServerProcess

from bench.server.load import fill
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.tables import Match
from keltis_server.api import PARTS
from keltis_server.http.endpoints import API
from keltis_server.site.local_key import read_address
from keltis_server.web.pages.all import PARTS as PAGES

BOT: Final = "bot-0001"
SECONDS: Final = 1.5  # for each kind
TICK: Final = os.sysconf("SC_CLK_TCK")
LONGEST_PAGE: Final = "limit=200"


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used, its children left out."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def furnish(home: Home) -> str:
    """Add a match of four that was really played; return its id."""
    database = home.open()
    with database.writing() as session:
        versions = enter(session, "north", "east", "south", "west", author="compass")
        store(session, versions, real("keltis", 4, 1), seed=1)
    with database.reading() as session:
        match = session.exec(select(Match.job_id).order_by(col(Match.number).desc())).first()
    database.close()
    assert match is not None
    return match


def drain(server: ServerProcess) -> None:
    """Let nothing be played."""
    address = read_address(server.data)
    assert address is not None
    headers = {"Authorization": f"Bearer {address.key}"}
    with urlopen(Request(f"{server.url}{API}/admin/drain", method="POST", headers=headers)) as done:
        done.read()
    server.wait_for(lambda: server.get("/readyz")["playing"] == 0)


def paths(match: str) -> dict[str, tuple[str, int]]:
    """Return an address of each kind that everybody may ask for, with the cost it declares."""
    found: dict[str, tuple[str, int]] = {}
    for prefix, parts in ((API, PARTS), ("", PAGES)):
        for endpoint in (endpoint for part in parts for endpoint in part.all):
            if endpoint.method != "GET" or endpoint.needs or endpoint.known:
                continue
            path = prefix + endpoint.path
            for name, value in (
                ("{bot}", BOT), ("{number}", "1"), ("{match}", match), ("{rotation}", "0"),
                ("{author}", "author-1"), ("{variant}", "keltis"), ("{language}", "de"),
            ):  # fmt: skip
                path = path.replace(name, value)
            if "{" in path:
                continue
            query = endpoint.models.get("query")
            if query is not None and "limit" in query.model_fields:
                path += f"?{LONGEST_PAGE}"
            found[f"{prefix}{endpoint.path}"] = (path, endpoint.cost)
    return found


def measure(server: ServerProcess, path: str) -> tuple[float, float, int]:
    """Return milliseconds of CPU and of waiting for one request, and its status."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    status = 0
    for _ in range(2):  # what is kept after the first time
        connection.request("GET", path)
        answer = connection.getresponse()
        status = answer.status
        answer.read()
    begin, used, count = time.monotonic(), cpu_seconds(server.process.pid), 0
    while time.monotonic() < begin + SECONDS:
        connection.request("GET", path)
        connection.getresponse().read()
        count += 1
    used = cpu_seconds(server.process.pid) - used
    waited = time.monotonic() - begin
    connection.close()
    return 1000 * used / count, 1000 * waited / count, status


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.costs", description=__doc__)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--matches", type=int, default=2_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keltis-costs-") as scratch:
        home = Home(Path(scratch), str(Path(scratch) / "ladder.db"))
        fill(home, options.bots, options.matches)
        match = furnish(home)
        wide = ("--port", "0", "--no-house", "--requests-per-minute", "100000000")
        with ServerProcess(Path(scratch), *wide) as server:
            drain(server)
            print("CPU ms  waited ms  cost  status  request")
            for kind, (path, cost) in paths(match).items():
                cpu, waited, status = measure(server, path)
                print(f"{cpu:6.2f} {waited:10.2f} {cost:5} {status:7}  {kind}", flush=True)
            server.stop()


if __name__ == "__main__":
    main()
