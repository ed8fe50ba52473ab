"""Requests made up from the OpenAPI document are answered as it says, whoever sends them."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import Session, col, select

from keltis_ladder.run.course import Entry
from keltis_ladder.store.archives import Kept, note_archive
from keltis_ladder.store.bots.catalogue import ensure_house_bots
from keltis_ladder.store.schema.tables import Author, FaultRecord, Match, Version
from keltis_ladder.tournaments.plan import Plan
from keltis_server.api import PARTS
from keltis_server.http.endpoints import API
from keltis_server.http.metrics import REQUESTS
from keltis_server.play.games import GAMES
from keltis_server.settings import Quotas
from tests.ladder.store.support.ladders import enter, store
from tests.ladder.store.support.results import real
from tests.server.support.serving import QUIET, Served, served

CUPS = ("cup", "league", "open")
EXAMPLES = 4  # for each operation, besides those that its bounds and patterns suggest
MOST_REFUSED = 12  # operations that no made up request came through to, such as an upload
MANY = 10**9
FREE = Quotas(
    archive_bytes=2**20,
    uploads_per_hour=MANY,
    bots=MANY,
    challenges_per_hour=MANY,
    registrations_per_hour=MANY,
    requests_per_minute=MANY,
)

# The document cannot say which bytes are a bot: what fits it is mostly a bad archive.
SETTINGS = """
[[operations]]
include-operation-id = "upload_bot"
checks.positive_data_acceptance.expected-statuses = [
    "2xx", "400", "401", "403", "404", "409", "429"
]
"""

OTHERS = (
    "--exclude-tag=administration",
    # It would soon end the token in use, and all that follows would only be refused.
    "--exclude-operation-id=delete_token",
)
ADMINISTRATION = (
    "--include-tag=administration",
    "--include-operation-id=delete_token",  # the operator needs no token
)


def furnish(session: Session, kept: Kept) -> dict[str, list[str | int]]:
    """Put something of everything on the ladder; return names and numbers by parameter."""
    rivals = [version.id for version in ensure_house_bots(session)]
    [mine] = enter(session, "mine", author="ada")
    note_archive(session, kept)
    version = session.get_one(Version, mine)
    version.archive_digest = kept.digest
    session.add(version)
    enter(session, "theirs", author="bob")
    enter(session, "spare", author="carol")
    for seed, rival in enumerate(rivals):
        assert rival is not None
        drops = {0: (0, 5)} if seed == 0 else None
        store(session, [mine, rival], real("keltis", 2, seed, drops), seed=seed)
    fault = session.exec(select(FaultRecord.id)).one()
    match = session.exec(select(Match).order_by(col(Match.number))).first()
    assert match is not None
    assert fault is not None
    return {
        "path.bot": ["mine", "random", "spare"],
        "path.author": ["ada", "carol", "dave"],
        "path.number": [1],
        "path.match": [match.number, match.job_id],
        "path.rotation": [0, 1],
        "path.fault": [fault],
        "path.name": list(CUPS),
        "query.bot": ["mine", "random", "eager"],
        "query.author": ["ada"],
        "body.bot": ["mine"],
    }


def make_cups(server: Served, author: str) -> None:
    site = server.site
    with site.database.writing() as session:
        owner = session.exec(select(Author.id).where(Author.name == author)).one()
        versions = enter(session, "one", "two", "three", author="erin")
    names = ("one", "two", "three")
    entries = [Entry(id, name) for id, name in zip(versions, names, strict=True)]
    for name in CUPS:
        site.director.create(name, Plan("round-robin", entrants=3), entries, author_id=owner)


def configuration(known: dict[str, list[str | int]]) -> str:
    """Return settings by which most of the made up requests are about what is there."""
    values = [f'"{name}" = {{ values = {json.dumps(each)} }}' for name, each in known.items()]
    uses = [f'"{name}" = {{ dictionary = "{name}", probability = 0.6 }}' for name in known]
    return "\n".join(["[dictionaries]", *values, "[parameters]", *uses, SETTINGS])


async def try_out(server: Served, config: Path, *options: str) -> None:
    """Make up requests and check the answers; fail with what is found."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "schemathesis.cli", f"--config-file={config}", "--no-color", "run",
        f"{server.url}{API}/openapi.json", f"--max-examples={EXAMPLES}", "--seed=1",
        "--continue-on-failure", "--warnings=off", "--suppress-health-check=all", *options,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=config.parent,
    )  # fmt: skip
    output, _ = await process.communicate()
    if process.returncode:
        pytest.fail(output.decode(), pytrace=False)
    assert b"Fuzzing" in output


def granted() -> dict[tuple[str, str], float]:
    """Return how often each operation was answered with what was asked for."""
    found: dict[tuple[str, str], float] = {}
    for metric in REQUESTS.collect():
        for sample in metric.samples:
            if sample.name.endswith("_total") and sample.labels["status"].startswith("2"):
                key = (sample.labels["method"], sample.labels["route"])
                found[key] = found.get(key, 0) + sample.value
    return found


def never_granted(before: dict[tuple[str, str], float]) -> set[str]:
    """Return the operations that were only ever refused."""
    after = granted()
    return {
        endpoint.name
        for part in PARTS
        for endpoint in part.all
        if after.get(key := (endpoint.method, API + endpoint.path), 0) == before.get(key, 0)
    }


@pytest.mark.slow
def test_every_request_is_answered_as_the_document_says(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = replace(QUIET, quotas=FREE)
        async with served(tmp_path / "ladder", settings) as server:
            await server.app[GAMES].stop()  # bots here have no programs to play with
            ada, _ = await server.register("ada"), await server.register("dave")
            wish = {"label": "spare", "scopes": ["read"]}
            token = await server.post("/account/tokens", 201, json=wish, headers=server.local)
            known = await server.site.write(furnish, server.site.home.archives.put(b"a bot"))
            await server.site.work(make_cups, server, "ada")
            known["path.id"] = [token["id"]]
            config = tmp_path / "schemathesis.toml"
            config.write_text(configuration(known))
            before = granted()
            await try_out(server, config, "--phases=fuzzing")
            await try_out(server, config, "-H", f"Authorization: {ada['Authorization']}", *OTHERS)
            local = server.local["Authorization"]
            await try_out(server, config, "-H", f"Authorization: {local}", *ADMINISTRATION)
            refused = never_granted(before)
            assert len(refused) <= MOST_REFUSED, refused

    asyncio.run(scenario())
