"""The server as a process: how it starts, what it refuses to start with, and how it ends."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text
from sqlmodel import select

from keltis_ladder.sandbox.child import descendants
from keltis_ladder.sandbox.runtimes import ShownToBots
from keltis_ladder.sandbox.sandbox import SandboxMissing
from keltis_ladder.store.home import Home
from keltis_ladder.store.ratings.recomputing import compare
from keltis_ladder.store.ratings.renewing import RATING
from keltis_ladder.store.schema.tables import Job, JobState
from keltis_server.serve import open_site, prepare
from keltis_server.settings import Settings
from keltis_server.site.local_key import FILE
from tests.cli.support.helpers import command
from tests.cli.support.inside import Inside
from tests.ladder.store.support.ladders import enter, store
from tests.ladder.store.support.results import won_by
from tests.places import ROOT
from tests.server.support.serving import QUIET, served
from tests.system.support.servers import ServerProcess, runs


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_hands_back_its_matches_and_leaves_nothing(
    tmp_path: Path, number: int
) -> None:
    quick = ("--port", "0", "--cores", "1", "--bank", "100", "--increment", "2")
    with ServerProcess(tmp_path, *quick) as server:
        server.wait_for(lambda: server.get("/readyz")["matches"] >= 2)
        children = descendants(server.process.pid)
        key = tmp_path / FILE
        assert key.stat().st_mode & 0o777 == 0o600
        assert server.stop(number) == 0, server.output
    assert not key.exists()
    assert not [pid for pid in children if runs(pid)]
    home = Home(tmp_path, str(tmp_path / "ladder.db"))
    database = home.open(create=False)
    with database.reading() as session:
        states = set(session.exec(select(Job.state)))
        found, _ = compare(session)
    database.close()
    assert states <= {JobState.DONE, JobState.WAITING}
    assert found.equal
    assert found.matches >= 2


def test_what_it_says_to_type_can_be_typed(tmp_path: Path) -> None:
    beside = Path(sys.executable).parent
    for path in (os.defpath, f"{beside}{os.pathsep}{os.defpath}"):
        with ServerProcess(tmp_path, "--port", "0", "--no-house", PATH=path) as server:
            server.wait_for(lambda: "Ctrl-C" in server.output)
            found = re.search(r"(?m)^  (?:KELTIS_DATA=\S+ )?(\S+) leaderboard$", server.output)
        assert found is not None
        typed = shutil.which(found[1], path=path)
        assert typed is not None, found[1]
        assert Path(typed).absolute() == beside / "keltis-ladder"


def test_a_database_that_cannot_be_is_refused(tmp_path: Path) -> None:
    done = command("serve", "--data", tmp_path, "--database", "mysql://nowhere")
    assert done.returncode == 2
    assert "cannot be used" in done.stderr


def test_logs_are_json_for_machines_and_hold_no_key(tmp_path: Path) -> None:
    options = ("--port", "0", "--cores", "1", "--no-house", "--access-log")
    with ServerProcess(tmp_path, *options, KELTIS_LOG="json") as server:
        key = json.loads((tmp_path / FILE).read_text())["key"]
        server.get("/api/v1", {"Authorization": f"Bearer {key}"})
        server.wait_for(lambda: "GET /api/v1" in server.output)
        send_rubbish(server.url, f"GET / HTTP/1.1\r\nAuthorization: Bearer {key}\0\r\n\r\n")
        server.wait_for(lambda: '\\" 400 ' in server.output)
        server.stop()
    records = [json.loads(line) for line in server.lines if line.startswith("{")]
    assert any("/api/v1" in record["text"] for record in records)
    assert all(record["at"].endswith("+00:00") for record in records)
    assert key not in server.output


def send_rubbish(url: str, text: str) -> None:
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=300) as connection:
        connection.sendall(text.encode())
        connection.recv(4096)


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = command("serve", "--data", tmp_path, "--port", str(port), "--cores", "1")
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("KELTIS_PORT", "99999", "there is no port 99999"),
        ("KELTIS_PORT", "http", "KELTIS_PORT"),
        ("KELTIS_PUBLIC_URL", "ladder.example", "write https://HOST"),
        ("KELTIS_ORIGINS", "https://a.example/page", "write https://HOST"),
        ("KELTIS_REGISTRATION", "sometimes", "invitation"),
        ("KELTIS_CORES", "0", "KELTIS_CORES"),
        ("KELTIS_LOG_LEVEL", "loud", "debug"),
        ("KELTIS_NICE", "20", "19"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_begins(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    value: str,
    words: str,
) -> None:
    monkeypatch.setenv(variable, value)
    done = Inside(capsys, monkeypatch).run("serve", "--data", tmp_path / "ladder")
    assert done.code == 2, done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "ladder").exists()


def test_without_a_sandbox_only_our_own_bots_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "keltis_ladder.sandbox.sandbox.TOOLS_PATH", str(tmp_path)
    )  # nothing is there

    async def scenario() -> None:
        async with served(tmp_path / "ladder", replace(QUIET, house=True)) as server:
            assert "bubblewrap" in server.site.missing
            async with asyncio.timeout(300):
                while not (await server.get("/leaderboard"))["matches"]:
                    await asyncio.sleep(0.1)

    asyncio.run(scenario())
    with pytest.raises(SandboxMissing):  # a ladder for guests only has nothing to play
        asyncio.run(ended_at_once(tmp_path / "other"))


def test_where_no_clock_is_exact_strangers_play_only_if_the_operator_insists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keltis_ladder.sandbox.cgroups.can_count", lambda directory: False)

    async def scenario(name: str, settings: Settings) -> str:
        async with served(tmp_path / name, settings) as server:
            return server.site.missing

    private = replace(QUIET, house=True)
    public = replace(private, public_url="https://ladder.example")
    assert asyncio.run(scenario("private", private)) == ""
    missing = asyncio.run(scenario("public", public))
    assert "keltis-ladder doctor" in missing
    assert "--inexact-clock" in missing
    assert asyncio.run(scenario("insisted", replace(public, inexact_clock=True))) == ""
    with pytest.raises(SandboxMissing):
        asyncio.run(scenario("guests", replace(public, house=False)))


def test_where_nothing_limits_their_memory_strangers_play_only_if_the_operator_insists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("keltis_ladder.sandbox.cgroups.Groups.can_limit", False)

    async def scenario(name: str, settings: Settings) -> str:
        async with served(tmp_path / name, settings) as server:
            return server.site.missing

    private = replace(QUIET, house=True)
    public = replace(private, public_url="https://ladder.example", inexact_clock=True)
    assert asyncio.run(scenario("private", private)) == ""
    assert "bring the machine down" in caplog.text
    missing = asyncio.run(scenario("public", public))
    assert "keltis-ladder doctor" in missing
    assert "--no-limits" in missing
    assert asyncio.run(scenario("insisted", replace(public, no_limits=True))) == ""
    with pytest.raises(SandboxMissing, match="no control groups here that limit memory"):
        asyncio.run(scenario("guests", replace(public, house=False)))


def test_a_ladder_that_bots_could_read_is_not_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(ShownToBots, match="which every bot can read"):
        open_site(QUIET, Home(tmp_path / "ladder", str(tmp_path / "ladder" / "ladder.db")))
    assert not (tmp_path / "ladder" / "ladder.db").exists()


def test_a_server_says_how_far_it_is_with_ratings_of_another_release(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = Home(tmp_path, str(tmp_path / "ladder.db")).open()
    with database.writing() as session:
        versions = enter(session, "a", "b")
        for winner in (0, 1, 0):
            store(session, versions, won_by("keltis", 2, winner))
        session.execute(text("UPDATE ledger SET joint_model = 0"))
        session.execute(text("UPDATE duel SET margin = 0"))
    with caplog.at_level(logging.INFO, "keltis_server.serve"):
        prepare(database, house=False)
        told = list(caplog.messages)
        prepare(database, house=False)
    assert told == caplog.messages == [f"before serving: {RATING}", f"{RATING}: 3 of 3"]
    with database.reading() as session:
        assert compare(session)[0].equal
    database.close()


async def ended_at_once(directory: Path) -> None:
    async with served(directory, QUIET):
        pass


def test_every_setting_is_in_the_documents() -> None:
    text = (ROOT / "docs/operators" / "server.md").read_text()
    told = set(re.findall(r"`(--[a-z-]+)`", text)) | set(re.findall(r"`(KELTIS_[A-Z_]+)`", text))
    shown = command("serve", "--help", COLUMNS="200").stdout
    found = set(re.findall(r"(?<![\w-])(--[a-z-]+)", shown)) - {"--help"}
    found |= set(re.findall(r"KELTIS_[A-Z_]+", shown))
    assert found - told == set()
    assert {each for each in told if each.startswith("KELTIS")} - found == set()
