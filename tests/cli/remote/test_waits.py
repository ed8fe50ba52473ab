"""Every wait of the client says what it waits for, and has an end that loses nothing."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from keltis_cli.remote.connect import calls, following
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.submission import progress
from keltis_cli.watch import feed
from keltis_cli.watch import plain as watching
from keltis_ladder.sandbox.sandbox import SandboxMissing, find_sandbox
from keltis_server.uploads.lanes import Lane
from tests.cli.ladder.test_ladder_commands import wait_for
from tests.cli.remote.connect.test_troubles import a_match
from tests.cli.support.inside import Inside
from tests.cli.support.remote_server import odd_server, running, says
from tests.ladder.support.small_bots import write_bot
from tests.server.support.serving import QUIET, Served
from tests.server.support.uploading import NO_PLACES, ONE_TABLE, intake_of


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KELTIS_SERVER", "KELTIS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("KELTIS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def inside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inside:
    return Inside(capsys, monkeypatch)


def register(server: Served, inside: Inside) -> None:
    inside.output("register", "ada", "--server", server.url)


def hold_checks(server: Served) -> None:
    """Let no check begin: whoever waits for one waits for ever."""
    intake_of(server).lanes.places = NO_PLACES


@pytest.mark.parametrize("live", [True, False])
def test_a_check_that_never_ends_is_not_waited_for_for_ever(
    live: bool, inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SIGN_OF_LIFE_SECONDS", 0.3)
    if not live:
        monkeypatch.setattr("keltis_server.client.live.PATH", "/api/v1/nothing")
    bot = write_bot(tmp_path / "patient", **ONE_TABLE)
    with running(tmp_path / "home") as server:
        register(server, inside)
        hold_checks(server)
        done = inside.run("submit", bot, "--no-check", "--timeout", "3")
        assert done.code == 3
        assert "Sent: it is patient v1" in done.out
        sign = r"^still waiting, \d+ s: waiting for the server to build and check it \.\.\.$"
        assert re.search(sign, done.err, re.M)
        assert re.search(
            rf"^keltis-ladder: nothing new from {server.url} for 3 s: stopped waiting, and nothing"
            r" is lost; patient v1 is checking there; to see how it goes on: keltis-ladder show"
            r" patient/1$",
            done.err,
            re.M,
        )
        assert "checking" in inside.output("show", "patient/1")

        # Programs get nothing but the end.
        done = inside.run("submit", bot, "--no-check", "--timeout", "1", "--json")
        assert (done.code, done.out, done.err.count("\n")) == (3, "", 1)


@pytest.mark.parametrize("answers", [True, False])
def test_a_server_that_opens_an_archive_for_long_is_waited_for_as_long_as_one_wants(
    answers: bool, inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SIGN_OF_LIFE_SECONDS", 0.3)
    monkeypatch.setattr(calls, "Server", partial(Server, read_seconds=2.0))
    bot = write_bot(tmp_path / "patient", **ONE_TABLE)
    given_up = threading.Event()

    def open_slowly(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        given_up.wait(4.0 if answers else 300.0)
        says(409, '{"detail": "it is open now"}')(handler)

    with odd_server(open_slowly) as (url, _):
        wait = [] if answers else ["--timeout", "1"]
        done = inside.run("submit", bot, "--no-check", "--server", url, "--token", "klt_x", *wait)
        given_up.set()
    lines = done.err.splitlines()
    assert re.match(r"still waiting, \d+ s: waiting for the server to open it \.\.\.$", lines[1])
    if answers:
        assert (done.code, lines[-1]) == (2, "keltis-ladder: it is open now")
    else:
        assert done.code == 3
        assert lines[-1] == (
            f"keltis-ladder: nothing new from {url} for 2 s: stopped waiting, and nothing is lost;"
            " what was sent completely is still opened; to see whether it is there: keltis-ladder"
            " show patient"
        )


def test_a_match_that_never_comes_is_not_waited_for_for_ever(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SIGN_OF_LIFE_SECONDS", 0.3)
    waiting = {**a_match(), "state": "waiting", "number": None}
    with odd_server(says(200, json.dumps(waiting))) as (url, _):
        done = inside.run("challenge", "x", "y", "--timeout", "2", "--server", url)
    assert done.code == 3
    assert re.search(r"^still waiting, \d+ s: waiting for a referee \.\.\.$", done.err, re.M)
    last = done.err.splitlines()[-1]
    assert last.startswith(f"keltis-ladder: nothing new from {url} for 2 s: stopped waiting")
    assert last.endswith(f"keltis-ladder show {waiting['id']}")


def test_a_tournament_that_rests_is_not_watched_for_ever(
    inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SIGN_OF_LIFE_SECONDS", 0.3)
    with running(tmp_path / "home", replace(QUIET, house=True)) as server:
        register(server, inside)
        plan = ["--bot", "random", "--bot", "greedy", "--variant", "weg-der-steine"]
        inside.output("tournament", "create", "cup", *plan)
        done = inside.run("tournament", "watch", "cup", "--timeout", "2")
        assert done.code == 3
        assert re.search(r"^still waiting, \d+ s: ", done.err, re.M)
        assert done.err.splitlines()[-1].endswith("keltis-ladder tournament show cup")


def test_who_watches_a_quiet_lobby_sees_signs_of_life_and_the_end_of_the_server(
    inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SIGN_OF_LIFE_SECONDS", 0.2)
    monkeypatch.setattr(feed, "LONGEST_ABSENCE_SECONDS", 1.0)
    told: list[str] = []
    monkeypatch.setattr(watching, "print", lambda text, **_: told.append(text), raising=False)
    stop = threading.Event()

    def serve() -> None:
        with running(tmp_path / "home") as server:
            place.append(server.url)
            stop.wait(120)

    def stop_when_told() -> None:
        wait_for(lambda: len(told) > 1)
        stop.set()

    place: list[str] = []
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        wait_for(lambda: place)
        threading.Thread(target=stop_when_told).start()
        done = inside.run("watch", "--plain", "--server", place[0])
    finally:
        stop.set()
        thread.join()
    assert done.code == 3
    assert re.match(r"still watching, nothing new for \d+ s", told[0])
    assert "connection lost, trying again" in told
    assert "any longer: the server was away for 1 s" in done.err


def test_a_server_that_cannot_check_says_so_and_is_asked_again(
    inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        find_sandbox()
    except SandboxMissing as missing:
        pytest.skip(str(missing))
    monkeypatch.setattr(progress, "FIRST_MATCH", 0.5)
    bot = write_bot(tmp_path / "lost", **ONE_TABLE)
    with running(tmp_path / "home") as server:
        register(server, inside)
        hold_checks(server)
        sent = json.loads(inside.output("submit", bot, "--no-check", "--no-wait", "--json"))
        refused = inside.run("recheck", "lost")
        assert refused.code == 2
        assert "is being checked already" in refused.err
        path = server.site.home.archives.path(sent["version"]["digest"])
        away = path.rename(path.with_suffix(".away"))
        intake_of(server).lanes.places = {Lane.SHORT: 1, Lane.LONG: 1}
        inside.output("retire", "lost", "--yes")
        inside.output("restore", "lost")
        wait_for(lambda: "unchecked" in inside.output("show", "lost/1"))
        operator = ["--server", server.url, "--token", server.site.local_key.text]
        assert "lost 1" in inside.output("admin", "status", *operator)

        done = inside.run("recheck", "lost")
        assert done.code == 3, done
        assert done.out.startswith("lost v1 is being checked again.\n")
        assert "lost v1 is unchecked." in done.out
        words = " ".join(done.out.split())
        assert "the server could not check it (our fault, reported to the operator)" in words
        assert "keltis-ladder recheck lost" in words

        told = inside.output("admin", "recheck", "lost", *operator)
        assert told == "Checked again: lost v1.\n"
        away.rename(path)
        wait_for(lambda: "checking" not in inside.output("show", "lost/1"))
        if "unchecked" in inside.output("show", "lost/1"):  # its last try came before
            told = inside.output("recheck", "lost")
            assert "lost v1 is on the ladder." in told
        refused = inside.run("recheck", "lost")
        assert (refused.code, refused.out) == (2, "")
        assert "was checked, and plays" in refused.err
        told = inside.output("admin", "recheck", *operator)
        assert told == "There is none to check again.\n"
