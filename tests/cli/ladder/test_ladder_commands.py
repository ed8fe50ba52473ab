"""A ladder from the command line: it plays, stops when told, and shows what is stored."""

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from keltis_cli.draw import displays
from keltis_cli.draw.displays import FullScreen, Lines, Silence, display_for
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.recomputing import compare
from tests.cli.support.helpers import ESCAPE
from tests.cli.support.inside import Inside
from tests.ladder.support.arena import processes_with
from tests.ladder.support.small_bots import write_bot
from tests.preloaded.process import start_command

QUICK = ["--no-house", "--no-sandbox", "--variant", "weg-der-steine"]
ALT_SCREEN, BACK = f"{ESCAPE}[?1049h", f"{ESCAPE}[?1049l"
COLOUR = re.compile(rf"{ESCAPE}\[[0-9;]*m")


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory of our own, with a ladder of our own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KELTIS_DATA", str(tmp_path / "ladder"))
    monkeypatch.delenv("KELTIS_DATABASE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def inside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inside:
    return Inside(capsys, monkeypatch)


def stored() -> list[tuple[int, str]]:
    """Return the matches in the database: number and job."""
    with sqlite3.connect("ladder/ladder.db") as connection:
        rows = connection.execute("SELECT number, job_id FROM match ORDER BY number").fetchall()
    connection.close()
    return rows


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def wait_for(condition: Callable[[], object], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


@contextmanager
def runner(*arguments: str | Path, **streams: Any) -> Iterator[subprocess.Popen[str]]:
    """Start ``ladder run``; it is gone at the end whatever happens."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    with start_command("ladder", "run", *arguments, *QUICK, encoding="utf-8", **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until_said(process: subprocess.Popen[str], words: str) -> None:
    """Read stderr up to the line with these words."""
    assert process.stderr is not None
    watchdog = threading.Timer(300, process.kill)
    watchdog.start()
    try:
        while words not in (line := process.stderr.readline()):
            assert line, f"it ended and never said {words!r}"
    finally:
        watchdog.cancel()


def rest_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return what a run says until its end; ``communicate`` would forget what was read ahead."""
    assert process.stdout is not None
    assert process.stderr is not None
    watchdog = threading.Timer(300, process.kill)
    watchdog.start()
    try:
        return process.stdout.read(), process.stderr.read()
    finally:
        watchdog.cancel()


def test_a_run_is_told_stored_and_shown(inside: Inside) -> None:
    told = records(inside.output("ladder", "run", "random", "greedy", "-n", "9", "--json", *QUICK))
    assert [record["match"] for record in told] == list(range(1, 10))
    assert [(record["match"], record["job"]) for record in told] == stored()
    for record in told:
        assert record["variant"] == "weg-der-steine"
        assert set(record["bots"]) == {"random", "greedy"}
        assert record["players"] == len(record["ranks"]) == len(record["versions"]) == 2
        assert sum(record["shares"]) == 2
        assert record["faults"] == [0, 0]
    lines = json.loads(inside.output("ladder", "show", "--json"))["lines"]
    last = dict(zip(told[-1]["bots"], told[-1]["ratings"], strict=True))
    assert {line["bot"]: (line["mu"], line["sigma"]) for line in lines} == {
        bot: (rating["mu"], rating["sigma"]) for bot, rating in last.items()
    }
    assert {line["matches"] for line in lines} == {9}
    [pair] = json.loads(inside.output("ladder", "matrix", "--json"))["pairs"]
    assert pair["wins"] + pair["draws"] + pair["losses"] == 9
    page = inside.output("ladder", "show")
    assert page.startswith("Leaderboard: all variants  (9 matches stored)\n\nrank  bot ")
    assert re.search(r"^ *1(-2)? +greedy v1 +\d+\.\d ±", page, re.MULTILINE)  # published at the end
    assert re.search(r"^1 greedy v1 +░░░ +\d+%$", inside.output("ladder", "matrix"), re.MULTILINE)
    assert "Nobody has played yet." in inside.output("ladder", "show", "-v", "keltis")
    assert ESCAPE not in page
    assert max(map(len, page.splitlines())) <= 80


def test_the_games_of_a_match_can_be_read(inside: Inside) -> None:
    inside.output("ladder", "run", "random", "greedy", "-n", "1", "--quiet", *QUICK)
    page = inside.output("ladder", "replay", "1")
    assert page.startswith("Match 1: weg-der-steine, ")
    assert page.count("last tile") == 2
    inside.output("ladder", "replay", "1", "--out", "games.jsonl")
    assert "OK: 2 games\n" in inside.output("replay", "--verify", "games.jsonl")
    games = records(Path("games.jsonl").read_text())
    assert games == records(inside.output("ladder", "replay", "1", "--json"))
    assert [game["names"] for game in games] == [games[0]["names"], games[0]["names"][::-1]]
    assert inside.run("ladder", "replay", "1", "--out", "games.jsonl").code == 2


def test_a_run_without_a_terminal_ends_with_the_leaderboard(inside: Inside) -> None:
    told = inside.output("ladder", "run", "random", "greedy", "--seconds", "1", *QUICK)
    head = (
        r"Ladder, weg-der-steine: [\d,]+ match(es)? in \d+:\d\d\n\n(rank  bot |Nobody has played)"
    )
    assert re.match(head, told)
    assert ESCAPE not in told


def test_bots_come_in_versions_and_go(tmp_path: Path, inside: Inside) -> None:
    mine = write_bot(tmp_path / "mine")

    def versions() -> list[tuple[str, int, str]]:
        found = json.loads(inside.output("ladder", "bots", "--json"))["versions"]
        return [(each["bot"], each["version"], each["state"]) for each in found]

    assert "mine v1 is on the ladder now." in inside.run("ladder", "add", mine, "--no-sandbox").err
    done = inside.run("ladder", "add", mine, "greedy", "--no-sandbox")
    assert done.err == "mine v1 is on the ladder already.\ngreedy v1 is on the ladder now.\n"
    (mine / "bot.py").write_text((mine / "bot.py").read_text() + "# better\n")
    assert "mine v2 is on the ladder now." in inside.run("ladder", "add", mine, "--no-sandbox").err
    before = [("greedy", 1, "active"), ("mine", 2, "active"), ("mine", 1, "superseded")]
    assert versions() == before
    done = inside.run("ladder", "retire", "mine", "--reason", "on holiday")
    assert done.err == "mine v2 is off the ladder; its results stay.\n"
    assert "on holiday" in inside.output("ladder", "bots")
    done = inside.run("ladder", "run", mine, *QUICK)
    assert done.code == 2
    assert "mine v2 stays off the ladder (retired: on holiday)" in done.err
    assert "1 bot on the ladder, and no two that can meet in weg-der-steine" in done.err
    inside.output("ladder", "add", mine, "--no-sandbox")
    assert versions() == before
    told = records(inside.output("ladder", "run", mine, "-n", "2", "--json", *QUICK))
    assert [set(record["bots"]) for record in told] == [{"mine", "greedy"}] * 2


def test_our_own_bots_are_on_every_ladder_unless_left_out(inside: Inside) -> None:
    # Nobody of ours is quick in all variants, so the run ends as soon as it has begun.
    inside.output("ladder", "run", "--seconds", "0", "--no-sandbox", "--quiet")
    found = json.loads(inside.output("ladder", "bots", "--json"))["versions"]
    assert [(each["bot"], each["house"]) for each in found] == [
        ("greedy", True), ("random", True), ("search", True)
    ]  # fmt: skip


def test_several_runners_share_one_ladder() -> None:
    with (
        runner("random", "greedy", "-n", "6", "--json", "--cores", "1") as one,
        runner("random", "greedy", "-n", "6", "--json", "--cores", "1") as other,
    ):
        texts = [process.communicate(timeout=300)[0] for process in (one, other)]
        assert (one.returncode, other.returncode) == (0, 0)
    told = sorted((record["match"], record["job"]) for text in texts for record in records(text))
    assert told == stored()
    assert len(told) == 12
    database = Database("ladder/ladder.db")
    with database.reading() as session:
        assert compare(session)[0].equal
    database.close()


def test_ratings_of_another_release_are_worked_out_again(inside: Inside) -> None:
    inside.output("ladder", "run", "random", "greedy", "-n", "3", "--quiet", *QUICK)
    with sqlite3.connect("ladder/ladder.db") as connection:
        connection.execute("UPDATE ledger SET rating_model = 0")
        connection.execute("UPDATE rating SET mu = 99")
    connection.close()
    done = inside.run("ladder", "run", "random", "greedy", "-n", "1", "--quiet", *QUICK)
    assert "worked them out again from 3 rated matches" in done.err
    database = Database("ladder/ladder.db")
    with database.reading() as session:
        found, _ = compare(session)
    database.close()
    assert (found.matches, found.equal) == (4, True)


def test_an_interrupt_ends_the_run_in_good_order(tmp_path: Path) -> None:
    token = f"token-{time.time_ns()}"
    mine = write_bot(tmp_path / "mine", token=token)
    with runner(mine, "random", "--json") as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, errors = rest_of(process)
    assert process.returncode == 130
    assert "Finishing: running matches are handed back." in errors
    assert "Traceback" not in errors
    told = records(first + rest)
    assert [(record["match"], record["job"]) for record in told] == stored()
    wait_for(lambda: not processes_with(token))
    with sqlite3.connect("ladder/ladder.db") as connection:
        states = connection.execute("SELECT DISTINCT state FROM job").fetchall()
    connection.close()
    assert ("leased",) not in states


def test_a_second_interrupt_ends_the_run_at_once(tmp_path: Path) -> None:
    token = f"token-{time.time_ns()}"
    mine = write_bot(tmp_path / "mine", token=token)
    with runner(mine, "random", "--json") as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        held = sqlite3.connect("ladder/ladder.db", isolation_level=None, timeout=300)
        held.execute("BEGIN IMMEDIATE")  # nothing can be stored: it would never finish
        process.send_signal(signal.SIGINT)
        read_until_said(process, "Finishing")  # two signals that come at once are one
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest, errors = rest_of(process)
        held.execute("ROLLBACK")
        held.close()
    assert process.returncode == 130
    assert errors.endswith("Stopped immediately; running matches are played again.\n")
    wait_for(lambda: not processes_with(token))
    told = [(record["match"], record["job"]) for record in records(first + rest)]
    assert told == stored()[: len(told)]


def screen_of(
    *arguments: str, until: str, stop: signal.Signals, **environment: str
) -> tuple[str, int]:
    """Run a ladder in a terminal until it shows a text; return all it wrote, and its code."""
    ours, its = pty.openpty()
    os.set_blocking(ours, False)
    size = {"COLUMNS": "100", "LINES": "30", "TERM": "xterm-256color"}
    inherited = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    streams = {"stdout": its, "stderr": its, "env": inherited | size | environment}
    written = bytearray()

    def read() -> str:
        # Nothing new, or nobody is left who could write.
        with suppress(BlockingIOError, OSError):
            while data := os.read(ours, 1 << 16):
                written.extend(data)
        return written.decode("utf-8", "replace")

    with runner("random", "greedy", *arguments, **streams) as process:
        os.close(its)
        wait_for(lambda: until in read())
        process.send_signal(stop)
        wait_for(lambda: read() and process.poll() is not None)
        text = read()
    os.close(ours)
    return text, process.returncode


def test_a_terminal_gets_a_screen_and_is_given_back() -> None:
    written, code = screen_of(until="latest", stop=signal.SIGINT)
    assert code == 130
    before, screen = written.split(ALT_SCREEN)
    screen, after = screen.split(BACK)
    assert "greedy v1 is on the ladder now." in before
    assert "Finishing: running matches are handed back." in screen
    assert COLOUR.search(screen)
    assert COLOUR.sub("", after).strip().startswith("Ladder, weg-der-steine: ")
    assert f"{ESCAPE}[?25h" in screen + after  # the cursor is back


def test_a_screen_without_colours_says_the_same() -> None:
    written, code = screen_of("--ascii", until="latest", stop=signal.SIGTERM, NO_COLOR="1")
    assert code == 143
    assert COLOUR.sub("", written) == written
    assert "Ladder, weg-der-steine - " in written
    written.encode("ascii")


def test_a_terminal_without_abilities_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sentence:
        def lines(self, width: int, height: int) -> list[Text]:
            return [Text("a picture")]

        def line(self) -> str:
            return "a picture"

    for terminal, kind in (("xterm", FullScreen), ("dumb", Lines), ("unknown", Lines)):
        monkeypatch.setenv("TERM", terminal)
        monkeypatch.setattr(
            displays, "console", lambda stderr: Console(force_terminal=True, stderr=stderr)
        )
        assert type(display_for(Sentence(), quiet=False, for_programs=False)) is kind
        assert type(display_for(Sentence(), quiet=False, for_programs=True)) is Lines
        assert type(display_for(Sentence(), quiet=True, for_programs=True)) is Silence


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "gredy"], "there is no bot 'gredy': name one of random, greedy, search"),
        (["run", "empty"], "empty has no bot.toml"),
        (["run", "--variant", "chess"], "there is no variant 'chess'"),
        (["run", "--cores", "1000"], "cores, not 1000"),
        (["run", "random", "--no-house"], "1 bot on the ladder, and no two that can meet"),
        (["run", "greedy", "greedy"], "two of the bots are called 'greedy'"),
        (["run", "--database", "mysql://here/there"], "a database of the kind 'mysql'"),
        (["add", "gredy"], "there is no bot 'gredy'"),
        (["show", "--data", "nowhere"], "there is no ladder yet"),
        (["show", "--variant", "chess"], "there is no variant 'chess'"),
        (["show", "--players", "7"], "there are no matches with 7 players: take 2 to 4"),
        (["replay", "5", "--data", "a ladder"], "there is no match 5"),
        (["retire", "nobody", "--data", "a ladder"], "there is no bot 'nobody' on this ladder"),
        (["retire", "broken", "--data", "a ladder"], "there is no bot 'broken' on this ladder"),
    ],
)
def test_wrong_input_is_one_clear_line(
    tmp_path: Path, inside: Inside, arguments: list[str], message: str
) -> None:
    (tmp_path / "empty").mkdir()
    if "a ladder" in arguments:
        inside.output("ladder", "add", "random", "--data", "a ladder")
    done = inside.run("ladder", *arguments)
    assert done.code == 2
    *_, last = done.err.splitlines()
    assert last.startswith("keltis-ladder: ")
    assert message in last
    assert done.out == ""


def test_a_bot_that_cannot_be_built_does_not_get_on_the_ladder(
    tmp_path: Path, inside: Inside
) -> None:
    broken = write_bot(tmp_path / "broken", build=[sys.executable, "-c", "1/0"])
    done = inside.run("ladder", "add", broken, "--no-sandbox")
    assert done.code == 2
    assert "| ZeroDivisionError: division by zero" in done.err
    assert f"keltis-ladder: {broken} cannot be built: the build " in done.err
    assert json.loads(inside.output("ladder", "bots", "--json"))["versions"] == []


def test_a_platform_that_fails_is_one_clear_line(tmp_path: Path) -> None:
    # Referees that cannot start: their Python finds another package of our name first.
    shadow = tmp_path / "shadow" / "keltis_ladder"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").touch()
    (shadow / "referee").mkdir()
    (shadow / "referee" / "__init__.py").touch()
    (shadow / "referee" / "worker.py").write_text("raise SystemExit('no referee today')\n")
    code = (
        "import os, sys\n"
        "import keltis_ladder\n"
        "from keltis_ladder.dispatch import supervisor\n"
        "supervisor.RESTART_SECONDS = 0.01\n"
        f"os.environ['PYTHONPATH'] = {str(shadow.parent)!r}\n"
        f"sys.argv[1:] = ['ladder', 'run', 'random', 'greedy', *{QUICK!r}]\n"
        "from keltis_cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("keltis-ladder: the ladder was aborted: a referee could not start")
    assert last.endswith("no referee today")
    assert "Traceback" not in done.stderr
