"""Servers that are not there, break off, or answer oddly: one clear line, the right exit code."""

import json
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from keltis_cli.remote.connect import following
from keltis_server.http.problems import too_many
from tests.cli.ladder.test_ladder_commands import wait_for
from tests.cli.support.helpers import ESCAPE, command
from tests.cli.support.inside import Done, Inside
from tests.cli.support.remote_server import odd_server, says

NOBODY = "http://127.0.0.1:9"
ESCAPES = "\x1b[2J\x1b]0;owned\x07"


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


def check_line(done: Done, code: int, *words: str) -> None:
    """Check that there is one clear line on the error output, and nothing else."""
    assert (done.code, done.out) == (code, ""), done.err
    assert done.err.startswith("keltis-ladder: ")
    assert done.err.count("\n") == 1
    assert ESCAPE not in done.err
    for word in words:
        assert word in done.err


def test_without_a_server_it_is_said_what_to_do() -> None:
    done = command("leaderboard")
    check_line(
        Done(done.returncode, done.stdout, done.stderr),
        3,
        "no server was found",
        "keltis-ladder serve",
        "keltis-ladder login URL",
    )


def test_a_server_that_is_not_there_is_not_reached(inside: Inside) -> None:
    check_line(inside.run("bots", "--server", NOBODY), 3, f"cannot reach {NOBODY}")


@pytest.mark.parametrize(
    ("status", "body", "kind", "code", "words"),
    [
        (200, "<html>Welcome</html>", "text/html", 3, "200 and text/html instead of JSON"),
        (404, "<html>Nothing</html>", "text/html", 3, "is it a keltis-ladder server"),
        (200, '{"items": 7}', "application/json", 3, "is it a keltis-ladder server"),
        (200, '{"items": [{"name": 1}], "next": null}', "application/json", 3, "an odd bot"),
        (200, "[[[[", "application/json", 3, "instead of JSON"),
        (400, '"no"', "application/json", 3, "400 without an explanation"),
        (
            500,
            '{"detail": "our mistake"}',
            "application/json",
            3,
            "has an internal error: our mistake",
        ),
        (409, '{"detail": "it\\nis so"}', "application/json", 2, "it is so"),
        (403, '{"detail": "\\u001b[31mred"}', "application/json", 2, "\\x1b[31mred"),
    ],
)
def test_odd_answers_are_one_line(
    inside: Inside, status: int, body: str, kind: str, code: int, words: str
) -> None:
    with odd_server(says(status, body, kind)) as (url, _):
        check_line(inside.run("bots", "--server", url), code, words)


@pytest.mark.parametrize(
    "problem",
    [
        {"detail": "too many requests"},  # of a proxy before the server
        {"detail": "you may try again later, said the proxy"},
        too_many("too many requests", 7.0).to_plain(),
    ],
)
def test_too_many_requests_says_once_when_to_come_again(
    inside: Inside, problem: dict[str, str]
) -> None:
    answer = says(429, json.dumps(problem), Retry_After="7")
    with odd_server(answer) as (url, requests):
        done = inside.run("bots", "--server", url)
    check_line(done, 2, problem["detail"].partition(":")[0])
    assert done.err.count("try again in 7 s") == 1
    assert len(requests) == 1


def test_a_redirect_is_told_and_no_token_follows_it(inside: Inside) -> None:
    with odd_server(says(200, "{}")) as (elsewhere, requests):
        with odd_server(says(301, "", Location=elsewhere)) as (url, _):
            done = inside.run("whoami", "--server", url, "--token", "klt_secret")
        check_line(done, 2, f"has moved to {elsewhere}")
        assert requests == []


def test_a_token_goes_to_its_own_server_only(
    inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = tmp_path / "config" / "keltis-ladder" / "login.json"
    login.parent.mkdir(parents=True)
    with odd_server(says(403, '{"detail": "no"}')) as (url, requests):
        servers = {NOBODY: {"name": "ada", "token": "klt_ours"}}
        plain = {"format": "keltis-ladder logins 1", "default": NOBODY, "servers": servers}
        login.write_text(json.dumps(plain))
        login.chmod(0o600)
        inside.run("bots", "--server", url)
        servers[url] = {"name": "ada", "token": "klt_theirs"}
        login.write_text(json.dumps(plain))
        inside.run("bots", "--server", f"{url}/")
    assert [request.rpartition(" ")[2] for request in requests] == ["None", "klt_theirs"]


def test_questions_are_asked_again_but_deeds_are_not(inside: Inside) -> None:
    def hang_up(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True

    with odd_server(hang_up) as (url, requests):
        check_line(inside.run("bots", "--server", url), 3, "cannot reach")
        assert len(requests) >= 3
        requests.clear()
        check_line(inside.run("register", "ada", "--server", url), 3, "cannot reach")
        assert len(requests) == 1


def test_a_question_is_answered_when_the_server_is_back(inside: Inside) -> None:
    good = says(200, '{"items": [], "next": null}')

    def second_time(handler: BaseHTTPRequestHandler) -> None:
        if len(requests) > 1:
            good(handler)
        else:
            handler.close_connection = True

    with odd_server(second_time) as (url, requests):
        assert "No bots yet" in inside.output("bots", "--server", url)


def test_a_download_that_breaks_off_leaves_no_file(inside: Inside, tmp_path: Path) -> None:
    match = says(200, json.dumps(a_match()))

    def die_in_the_middle(handler: BaseHTTPRequestHandler) -> None:
        if not handler.path.endswith("/replay"):
            match(handler)
            return
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        handler.wfile.write(b"{" * 1000)

    with odd_server(die_in_the_middle) as (url, _):
        check_line(inside.run("download", "7", "--server", url), 3, "cannot reach")
    assert [path.name for path in tmp_path.iterdir() if path.suffix in (".jsonl", ".part")] == []


def test_a_server_that_dies_while_we_wait_is_given_up(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "RESTART_SECONDS", 0.1)
    waiting = says(202, json.dumps({**a_match(), "state": "waiting", "number": None}))

    def accept_and_die(handler: BaseHTTPRequestHandler) -> None:
        if handler.command == "POST":
            waiting(handler)
        else:
            handler.close_connection = True

    with odd_server(accept_and_die) as (url, _):
        done = inside.run("challenge", "x", "y", "--server", url)
    assert done.code == 3
    assert done.err.splitlines()[-1].startswith("keltis-ladder: cannot reach ")


def test_an_interrupt_stops_the_waiting_only() -> None:
    waiting = says(200, json.dumps({**a_match(), "state": "waiting", "number": None}))
    with (
        odd_server(waiting) as (url, requests),
        subprocess.Popen(
            [sys.executable, "-m", "keltis_cli", "challenge", "x", "y", "--server", url],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            # Whoever started the tests in the background ignores interrupts, and so would this.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process,
    ):
        try:
            wait_for(lambda: [each for each in requests if "GET /api/v1/matches/" in each])
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 130
    assert errors.splitlines()[-1] == (
        "Stopped waiting; the match is still played: keltis-ladder matches"
    )


def test_a_tournament_without_a_subcommand_is_run_here(inside: Inside) -> None:
    for words in (["run", "random"], ["random"], ["--format", "swiss", "random"]):
        done = inside.run("tournament", *words)
        assert done.code == 2
        assert "entrants" in done.err
    assert "watch" in inside.output("tournament", "--help")
    check_line(inside.run("tournament", "show", "cup"), 3, "no server was found")


def test_names_with_escapes_never_reach_the_terminal(inside: Inside) -> None:
    bot = {
        "name": f"evil{ESCAPES}",
        "author": f"eve{ESCAPES}",
        "house": False,
        "created": "2026-01-01T00:00:00Z",
        "description": f"{ESCAPES}\nsecond line",
        "state": f"active{ESCAPES}",
        "version": 1,
        "variants": [f"keltis{ESCAPES}"],
        "players": [2],
        "ratings": [],
    }
    none = {"size": None, "digest": None, "built_in": None}
    why = {"reason": ESCAPES, "reason_code": "failed", "reason_details": {"text": ESCAPES}}
    version = {**bot, **none, "id": 1, "number": 1, **why}

    def answer(handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.partition("?")[0]
        plain: Any = {"items": [bot], "next": None}
        if path.endswith("/bots/evil"):
            plain = bot
        elif path.endswith("/versions"):
            plain = {"items": [version], "next": None}
        elif path.endswith("/versions/1"):
            plain = version
        elif path.endswith("/matches"):
            plain = {"items": [a_match(f"x{ESCAPES}")], "next": None}
        elif "/matches/" in path:
            plain = a_match(f"x{ESCAPES}")
        says(200, json.dumps(plain))(handler)

    commands = [["bots"], ["matches"], ["show", "evil"], ["show", "evil/1"], ["show", "7"]]
    with odd_server(answer) as (url, _):
        for words in commands:
            told = inside.output(*words, "--server", url)
            assert ESCAPE not in told
            assert "\x07" not in told
            assert "\\x1b[2J" in told or words == ["matches"]
            assert max(map(len, told.splitlines())) <= 80


def test_completion_is_silent_and_soon(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    freed = threading.Event()
    waits: list[bool] = []

    def hang(handler: BaseHTTPRequestHandler) -> None:
        waits.append(freed.wait(300))

    monkeypatch.setenv("_KELTIS_LADDER_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_CWORD", "2")
    monkeypatch.setenv("COMP_WORDS", "keltis-ladder logs ")
    with odd_server(hang) as (url, requests):
        monkeypatch.setenv("KELTIS_SERVER", url)
        done = inside.run()
        assert requests
        assert waits == []  # nobody has waited for the answer
        freed.set()
    assert (done.code, done.out.strip(), done.err) == (0, "", "")


def test_completion_knows_commands_variants_and_names(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    def complete(words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        return inside.output().split()

    page = {"items": [{"name": "greedy"}, {"name": "great\x1b[m"}], "next": None}
    monkeypatch.setenv("_KELTIS_LADDER_COMPLETE", "complete_bash")
    with odd_server(says(200, json.dumps(page))) as (url, _):
        monkeypatch.setenv("KELTIS_SERVER", url)
        assert complete("keltis-ladder who") == ["whoami"]
        assert complete("keltis-ladder leaderboard --variant k") == ["keltis", "kartenspiel"]
        assert complete("keltis-ladder logs gr") == ["greedy"]
        assert complete("keltis-ladder tournament wa") == ["watch"]


def a_match(name: str = "x") -> dict[str, Any]:
    entrants = [
        {
            "position": k,
            "bot": name,
            "version": 1,
            "author": name,
            "rank": k + 1,
            "wins": 1.0,
            "points": 3,
            "faults": 0,
            "mu": None,
            "sigma": None,
        }
        for k in range(2)
    ]
    game = {
        "rotation": 0,
        "seats": [0, 1],
        "ending": "figures",
        "scores": [1, 2],
        "ranks": [2, 1],
        "digest": "",
        "faults": [],
    }
    return {
        "id": "0" * 36,
        "number": 7,
        "state": "finished",
        "purpose": "ladder",
        "rated": True,
        "variant": name,
        "players": 2,
        "options": {},
        "clock": {"bank_ms": 1000, "increment_ms": 20, "start_ms": 1000},
        "reason": name,
        "tournament": None,
        "leg": None,
        "commitment": None,
        "seed": None,
        "origin": None,
        "result_digest": None,
        "entrants": entrants,
        "decisions": 9,
        "created": "2026-01-01T00:00:00Z",
        "finished": None,
        "games": [game],
        "replay_removed": False,
    }
