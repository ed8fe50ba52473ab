"""The whole: real processes, real bots, real sockets, as their users meet them.

An author registers, submits bots in two languages, sees them qualify, play and be rated, watches
them by websocket and in the terminal, and reads why others of hers failed. A server that is killed
in the middle of it all goes on as if nothing had happened.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.sandbox.child import descendants
from keltis_server.client.live import LiveClient
from tests.ladder.support.arena import HOSTILE
from tests.ladder.support.small_bots import write_bot
from tests.preloaded.process import run_command
from tests.system.support.servers import PATIENCE, LoadedServerProcess, ServerProcess, runs

# So that the bots of the house leave the core to those that matter: what is new or ordered is
# played at once, whatever the pace.
QUICK = ("--bank", "200", "--increment", "4", "--matches-per-minute", "1")


class User:
    """Somebody at a terminal, with a home of their own."""

    def __init__(self, home: Path, **environment: str) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.environment = {
            **{name: value for name, value in os.environ.items() if "KELTIS" not in name},
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "COLUMNS": "100",
            **environment,
        }

    def types(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command; return how it ended."""
        return run_command(*words, cwd=self.home, env=self.environment, timeout=2 * PATIENCE)

    def reads(self, *words: str | Path) -> str:
        """Return what a command prints, which must succeed."""
        done = self.types(*words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def gets(self, *words: str | Path) -> Any:
        """Return what a command prints with --json."""
        return json.loads(self.reads(*words, "--json"))


def starter(user: User, name: str, language: str) -> Path:
    """Make a bot as the guide says."""
    user.reads("init", name, "--lang", language)
    directory = user.home / name
    manifest = directory / "bot.toml"
    manifest.write_text(re.sub(r"(?m)^name = .*$", f'name = "{name}"', manifest.read_text()))
    return directory


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    options = ("--port", "0", "--cores", "1", *QUICK, "--requests-per-minute", "100000")
    with LoadedServerProcess(tmp_path / "ladder", *options, "--archive-mib", "1") as running:
        yield running


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + 2 * PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.2)
    return found


@pytest.mark.slow
def test_an_author_submits_bots_watches_them_and_reads_why_others_failed(
    server: ServerProcess, tmp_path: Path
) -> None:
    ada = User(tmp_path / "ada")
    registered = ada.reads("register", "ada", "--server", server.url)
    assert "ada" in registered
    assert ada.gets("whoami")["name"] == "ada"

    seen: list[dict[str, Any]] = []
    watcher = threading.Thread(target=follow_bots, args=(server.url, {"snake", "plus"}, seen))
    watcher.start()

    # A Python bot, and one that has to be compiled in the sandbox.
    snake = ada.gets("submit", starter(ada, "snake", "python"))
    assert snake["version"]["state"] == "active"
    assert snake["first_match"]["rated"] is True
    assert "snake" in [entrant["bot"] for entrant in snake["first_match"]["entrants"]]
    assert snake["rating"] is not None
    plus = ada.gets("submit", starter(ada, "plus", "cpp"), "--no-check")
    assert plus["version"]["state"] == "active"
    assert any(finding["check"] == "build" for finding in plus["report"]["findings"])
    board = {line["bot"] for line in ada.gets("leaderboard")["lines"]}
    assert {"snake", "plus", "search", "greedy", "random"} <= board

    watch_and_verify(ada, plus["first_match"])
    challenged = ada.gets("challenge", "snake", "greedy", "--variant", "kartenspiel")
    assert challenged["state"] == "finished"
    assert challenged["rated"] is False

    read_why_they_failed(ada, tmp_path)
    outsiders_learn_nothing(User(tmp_path / "eve"), server)
    watcher.join(2 * PATIENCE)
    assert not watcher.is_alive()
    check_watched(seen)
    assert server.stop() == 0, server.output
    assert "Traceback" not in server.output


def watch_and_verify(ada: User, match: dict[str, Any]) -> None:
    """See a match again in the terminal, and check its replay against the commitment."""
    number = str(match["number"])
    told = ada.reads("watch", number, "--plain")
    assert all(entrant["bot"] in told for entrant in match["entrants"])
    messages = [json.loads(line) for line in ada.reads("watch", number, "--json").splitlines()]
    assert messages
    ada.reads("download", number)
    verified = ada.reads("replay", f"match-{number}.jsonl", "--verify")
    assert "OK" in verified
    noted = ada.types(
        "replay", f"match-{number}.jsonl", "--verify", "--commitment", match["commitment"]
    )
    assert noted.returncode == 0, noted.stderr
    forged = ada.types("replay", f"match-{number}.jsonl", "--verify", "--commitment", "0" * 64)
    assert forged.returncode == 1


def read_why_they_failed(ada: User, tmp_path: Path) -> None:
    """Submit what cannot be: each is refused with its reason, and the server does not mind."""
    broken = write_bot(tmp_path / "broken", "raise RuntimeError('no plan today')")
    done = ada.types("submit", broken, "--no-check", "--json")
    assert done.returncode == 1
    assert "broken" in json.loads(done.stdout)["version"]["state"]
    assert "no plan today" in ada.reads("logs", "broken")

    hostile = tmp_path / "bomb"
    shutil.copytree(HOSTILE, hostile)
    (hostile / "bot.toml").write_text('name = "bomb"\nrun = ["python3", "never_starts.py"]\n')
    done = ada.types("submit", hostile, "--no-check", "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    forking = tmp_path / "forks"
    shutil.copytree(HOSTILE, forking)
    (forking / "bot.toml").write_text(
        'name = "forks"\nrun = ["python3", "fork_bomb.py"]\nvariants = ["keltis"]\nplayers = [2]\n'
    )
    ada.types("submit", forking, "--no-check", "--no-wait")

    huge = write_bot(tmp_path / "huge")
    (huge / "weights.bin").write_bytes(os.urandom(3 * 1024 * 1024))
    done = ada.types("submit", huge, "--no-check")
    assert done.returncode == 2
    assert "MiB" in done.stderr or "bytes" in done.stderr or "large" in done.stderr


def outsiders_learn_nothing(eve: User, server: ServerProcess) -> None:
    """Try to read what is for the author alone."""
    eve.reads("register", "eve", "--server", server.url)
    assert eve.types("logs", "broken").returncode == 2
    assert eve.types("times", "snake").returncode == 2
    assert eve.types("retire", "snake").returncode == 2
    taken = write_bot(eve.home / "snake")
    done = eve.types("submit", taken, "--no-check")
    assert done.returncode == 2
    assert "another author" in done.stderr


def follow_bots(url: str, bots: set[str], seen: list[dict[str, Any]]) -> None:
    """Follow the lobby until each of these bots was seen in a match, and that match to its end."""

    async def follow() -> None:
        left = set(bots)
        ended: set[str] = set()
        topics: set[str] = set()
        async with LiveClient(url) as live, asyncio.timeout(4 * PATIENCE):
            await live.subscribe("lobby")
            async for message in live:
                seen.append(message)
                for id, names in begun(message):
                    if left & names and f"match/{id}" not in topics:
                        topics.add(f"match/{id}")
                        left -= names
                        await live.subscribe(f"match/{id}")
                if message["op"] == "end":
                    ended.add(message["topic"])
                if not left and topics <= ended:
                    return

    asyncio.run(follow())


def begun(message: dict[str, Any]) -> Iterator[tuple[str, set[str]]]:
    """Yield the matches that a message of the lobby names, with their bots."""
    if message.get("topic") != "lobby":
        return
    data = message["data"]
    matches = data["matches"] if message["op"] == "snapshot" else []
    events = data if message["op"] == "delta" else []
    matches = [*matches, *(event["match"] for event in events if event["kind"] == "began")]
    for match in matches:
        yield match["id"], {entrant["bot"] for entrant in match["entrants"]}


def check_watched(seen: list[dict[str, Any]]) -> None:
    """Check what a spectator was sent: in order, without a seed before the end."""
    numbers: dict[str, int] = {}
    for message in seen:
        topic = message.get("topic")
        if topic is None or "seq" not in message:
            continue
        if message["op"] in ("delta", "end"):
            assert message["seq"] == numbers[topic] + 1
        numbers[topic] = message["seq"]
        if topic.startswith("match/") and message["op"] == "snapshot":
            match = message["data"]["match"]
            assert match["commitment"]
            assert match["seed"] is None or match["state"] == "finished"
    ends = [message for message in seen if message["op"] == "end"]
    assert ends
    assert all(end["data"]["match"]["seed"] for end in ends)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.mark.slow
def test_a_server_killed_in_the_middle_of_everything_goes_on_as_if_nothing_had_happened(
    tmp_path: Path,
) -> None:
    data, port = tmp_path / "ladder", free_port()
    options = ("--port", str(port), "--cores", "1", *QUICK, "--requests-per-minute", "100000")
    ada = User(tmp_path / "ada")
    seen: list[dict[str, Any]] = []
    told: set[tuple[int, str]] = set()
    with ServerProcess(data, *options) as server:
        ada.reads("register", "ada", "--server", server.url)
        ada.reads("tournament", "create", "cup", "--format", "round-robin", "--bot", "random",
                  "--bot", "greedy", "--matches", "12")  # fmt: skip
        ada.reads("tournament", "start", "cup")
        bot = starter(ada, "phoenix", "python")
        ada.reads("submit", bot, "--no-check", "--no-wait")
        watcher = threading.Thread(target=follow_bots, args=(server.url, {"phoenix"}, seen))
        watcher.start()
        for _ in range(3):
            told |= wait_for(lambda: results(server) - told, "one more result")  # noqa: B023
            children = descendants(server.process.pid)
            server.kill()
            assert wait_for(lambda: not [p for p in children if runs(p)], "its children to end")  # noqa: B023
            server = ServerProcess(data, *options)
            server.__enter__()
        wait_for(lambda: found(server, "bots/phoenix")["state"] != "checking", "its check")
        assert ada.gets("show", "phoenix")["state"] == "active"
        wait_for(lambda: found(server, "matches?bot=phoenix")["items"], "a match of phoenix")
        assert ada.gets("matches", "--bot", "phoenix")
        wait_for(lambda: found(server, "tournaments/cup")["state"] == "finished", "the cup")
        cup = ada.gets("tournament", "show", "cup")
        assert cup["played"] == cup["total"] == 12
        watcher.join(2 * PATIENCE)  # it came back by itself, each time
        assert not watcher.is_alive()
        assert told <= results(server)  # what was told once stays so for ever
        assert server.stop() == 0, server.output
    operator = User(tmp_path / "operator")
    operator.reads("db", "check", "--data", data)
    operator.reads("ratings", "recompute", "--data", data)


def results(server: ServerProcess) -> set[tuple[int, str]]:
    """Return the number and id of every result that the server tells."""
    found: set[tuple[int, str]] = set()
    after = ""
    while True:
        page = server.get(f"/api/v1/matches?state=finished&limit=200&after={after}")
        found |= {(match["number"], match["id"]) for match in page["items"]}
        after = page["next"]
        if not after:
            return found


def found(server: ServerProcess, path: str) -> Any:
    """Return what the server tells; to wait for something with commands would take a core."""
    return server.get(f"/api/v1/{path}")
