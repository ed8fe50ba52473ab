"""A tournament from the command line: played once, whatever happens in between."""

import json
import re
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.tournaments.plan import DOUBLE, FORMATS, SINGLE
from tests.cli.ladder.test_ladder_commands import wait_for
from tests.cli.support.helpers import ESCAPE
from tests.cli.support.inside import Inside
from tests.ladder.support.arena import processes_with
from tests.ladder.support.small_bots import write_bot
from tests.preloaded.process import start_command

QUICK = ["--no-sandbox", "--variant", "weg-der-steine", "--name", "cup"]
DATABASE = Path("cup.tournament/ladder.db")
LAST = "return request.legal[-1]"


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory of our own; a ladder that is in use elsewhere is left alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KELTIS_DATA", str(tmp_path / "not here"))
    monkeypatch.setenv("KELTIS_DATABASE", str(tmp_path / "nor here"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def inside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inside:
    return Inside(capsys, monkeypatch)


def counted(query: str) -> int:
    """Return a number from the tournament's database; 0 if there is none yet."""
    if not DATABASE.exists():
        return 0
    with closing(sqlite3.connect(DATABASE)) as connection:
        try:
            return int(connection.execute(query).fetchone()[0])
        except sqlite3.OperationalError:  # its tables are being made
            return 0


def matches_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all matches of a result, in the order in which they were stored."""
    found = [
        match
        for view in document["rounds"]
        for table in view["tables"]
        for match in table["matches"]
    ]
    return sorted(found, key=lambda match: int(match["match"]))


def check_result(document: dict[str, Any], matches: int) -> None:
    """Check that a result is complete, and that no match is in it twice."""
    assert document["format"] == "keltis-ladder tournament 1"
    assert document["state"] == "finished"
    played = matches_of(document)
    assert [match["match"] for match in played] == list(range(1, matches + 1))
    assert document["matches"] == matches
    assert len({match["job"] for match in played}) == matches
    assert len({match["seed"] for match in played}) == matches
    assert sorted(standing["bot"] for standing in document["standings"]) == list(
        range(len(document["bots"]))
    )


@contextmanager
def tournament(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Start a tournament; it is gone at the end whatever happens."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start_command("tournament", *arguments, *QUICK, encoding="utf-8", **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_round_robin_is_played_told_and_written(tmp_path: Path, inside: Inside) -> None:
    first, last = write_bot(tmp_path / "first"), write_bot(tmp_path / "last", LAST)
    arguments: list[str | Path] = ["tournament", first, last, "random", "greedy", "-n", "2"]
    arguments += QUICK
    done = inside.run(*arguments)
    assert done.code == 0
    assert done.err == "Wrote cup.json.\n"
    assert done.out.startswith("cup\nround-robin, 4 bots, 12 matches of weg-der-steine\n\n")
    assert re.search(r"^1=?  +\S+ +\d½? +\d \d \d  ", done.out, re.MULTILINE)
    assert ESCAPE not in done.out
    document = json.loads(Path("cup.json").read_text())
    check_result(document, 12)
    assert [bot["name"] for bot in document["bots"]] == ["first", "last", "random", "greedy"]
    assert document["bots"][3]["key"].startswith("greedy ")
    assert re.fullmatch("[0-9a-f]{64}", document["bots"][0]["key"])
    pairs = Counter(
        frozenset(table["bots"]) for view in document["rounds"] for table in view["tables"]
    )
    assert set(pairs.values()) == {1}
    assert len(pairs) == 6
    won = Counter[int]()
    for view in document["rounds"]:
        for table in view["tables"]:
            for match in table["matches"]:
                [better, worse] = sorted(zip(match["ranks"], table["bots"], strict=True))
                won[better[1]] += 2 if better[0] < worse[0] else 1
                won[worse[1]] += 0 if better[0] < worse[0] else 1
    assert {s["bot"]: s["score"] for s in document["standings"]} == {
        bot: won[bot] / 2 for bot in range(4)
    }
    again = inside.run(*arguments)
    assert (again.code, again.out) == (0, done.out)
    assert again.err == "cup.json exists already and stays; --force replaces it.\n"
    assert json.loads(inside.output(*arguments, "--json")) == document
    games = inside.output("ladder", "replay", "3", "--json", "--data", "cup.tournament",
                          "--database", DATABASE)  # fmt: skip
    assert json.loads(games.splitlines()[0])["seed"] == matches_of(document)[2]["seed"]


@pytest.mark.parametrize("format_", [name for name in FORMATS if name != "round-robin"])
def test_every_format_is_played_to_its_end(format_: str, tmp_path: Path, inside: Inside) -> None:
    first = write_bot(tmp_path / "first")
    told = inside.output("tournament", "greedy", "random", first, "-f", format_, *QUICK)
    document = json.loads(Path("cup.json").read_text())
    check_result(document, len(matches_of(document)))
    if format_ in (SINGLE, DOUBLE):
        winner = document["bots"][document["standings"][0]["bot"]]["name"]
        assert re.search(rf"─ {winner}$", told, re.MULTILINE)


def test_more_bots_at_a_table_play_all_variants(inside: Inside) -> None:
    # Twice as quick as keltis: all bots are ours, and there is one match of each.
    arguments = ["--no-sandbox", "--name", "cup", "--bank", "60", "--increment", "1"]
    told = inside.output(
        "tournament", "random", "greedy", "search", "-p", "3", "-n", "4", "-v", "all", *arguments
    )
    assert "3 bots, 4 matches of keltis, neue-wege, kartenspiel, weg-der-steine" in told
    document = json.loads(Path("cup.json").read_text())
    check_result(document, 4)
    assert len({match["variant"] for match in matches_of(document)}) == 4
    assert all(sorted(match["games_won"])[-1] <= 3 for match in matches_of(document))


def test_a_tournament_that_was_killed_goes_on_where_it_stood(
    tmp_path: Path, inside: Inside
) -> None:
    token = f"token-{time.time_ns()}"
    slow = f"time.sleep(0.004)\n{LAST}"
    bots = [str(write_bot(tmp_path / "slow", slow, token=token)), "random", "greedy"]
    with tournament(*bots, "-n", "6") as process:
        wait_for(lambda: counted("SELECT count(*) FROM match") >= 3)
        process.kill()
        process.communicate()
    before = counted("SELECT count(*) FROM match")
    assert 3 <= before < 18
    assert not Path("cup.json").exists()
    wait_for(lambda: not processes_with(token))
    with closing(sqlite3.connect(DATABASE)) as connection:
        earlier = connection.execute("SELECT number, job_id FROM match ORDER BY number").fetchall()
    done = inside.run("tournament", *bots, "-n", "6", *QUICK)
    assert done.code == 0
    assert f"Resuming: {before} of 18 matches played.\n" in done.err
    document = json.loads(Path("cup.json").read_text())
    check_result(document, 18)
    assert [(match["match"], match["job"]) for match in matches_of(document)][:before] == earlier
    assert counted("SELECT count(*) FROM match") == 18
    assert counted("SELECT count(*) FROM job WHERE state != 'done'") == 0


def test_an_interrupt_pauses_and_says_how_to_go_on(tmp_path: Path, inside: Inside) -> None:
    slow = write_bot(tmp_path / "slow", f"time.sleep(0.004)\n{LAST}")
    with tournament(slow, "random", "-n", "9") as process:
        wait_for(lambda: counted("SELECT count(*) FROM match") >= 1)
        process.send_signal(signal.SIGINT)
        told, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert told == ""
    assert "Traceback" not in errors
    [sentence] = re.findall(r"^Paused after (\d+) of 9 matches\. To go on: (.*)$", errors, re.M)
    assert int(sentence[0]) == counted("SELECT count(*) FROM match")
    assert sentence[1] == f"keltis-ladder tournament {slow} random -n 9 {' '.join(QUICK)}"
    assert counted("SELECT count(*) FROM job WHERE state = 'leased'") == 0
    assert counted("SELECT count(*) FROM tournament WHERE state = 'paused'") == 1
    done = inside.run(*sentence[1].split()[1:])
    assert done.code == 0
    assert f"Resuming: {sentence[0]} of 9 matches played." in done.err
    check_result(json.loads(Path("cup.json").read_text()), 9)


def test_another_tournament_is_not_mixed_with_the_one_that_is_there(
    tmp_path: Path, inside: Inside
) -> None:
    mine = write_bot(tmp_path / "mine")
    inside.output("tournament", mine, "random", *QUICK)

    def refused(*arguments: str | Path) -> str:
        done = inside.run("tournament", *arguments, *QUICK)
        assert done.code == 2
        assert done.err.count("\n") == 1
        assert done.err.startswith("keltis-ladder: cup.tournament holds another tournament (")
        assert "choose another --name or --data" in done.err
        return done.err

    assert "matches 1 there, 3 here" in refused(mine, "random", "-n", "3")
    assert "bank 1000 there, 900 here" in refused(mine, "random", "--bank", "900")
    assert "bots mine, random there, random, mine here" in refused("random", mine)
    assert "bots mine, random there, mine, greedy here" in refused(mine, "greedy")
    assert "format round-robin there, swiss here" in refused(mine, "random", "-f", "swiss")
    (mine / "bot.py").write_text((mine / "bot.py").read_text() + "# better\n")
    assert "mine has changed since" in refused(mine, "random")


def test_a_ladder_is_no_tournament(inside: Inside) -> None:
    ladder = ["--data", "ladder", "--database", "ladder/ladder.db", *QUICK[:3]]
    inside.output("ladder", "run", "random", "greedy", "-n", "1", "-q", "--no-house", *ladder)
    done = inside.run("tournament", "random", "greedy", "--data", "ladder", *QUICK)
    assert done.code == 2
    assert "ladder holds a ladder, not a tournament: choose another --data" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["greedy"], "1 entrants cannot fill a table of 2: enter 2 or more"),
        (["greedy", "random", "-p", "3"], "2 entrants cannot fill a table of 3"),
        (["greedy", "random", "-f", "knockout"], "there is no format 'knockout': choose from"),
        (["greedy", "gredy"], "there is no bot 'gredy': name one of random, greedy, search"),
        (["greedy", "empty"], "empty has no bot.toml"),
        (["greedy", "greedy"], "two of the bots are called 'greedy'"),
        (["greedy", "random", "-v", "chess"], "there is no variant 'chess': choose from"),
        (["greedy", "picky", "-v", "keltis", "-v", "neue-wege"], "picky does not play neue-wege"),
        (["greedy", "random", "picky", "-p", "3"], "picky does not play with 3 players"),
        (["greedy", "random", "-n", "0"], "a pairing cannot have 0 matches"),
        (["greedy", "random", "-f", SINGLE, "--rounds", "2"], "leave out rounds (you gave 2)"),
        (["greedy", "random", "--challengers", "2"], "only a gauntlet has challengers"),
        (["greedy", "random", "--name", "../cup"], "invalid name '../cup'"),
        (["greedy", "random", "--name", "c\x1b[2Jp"], "invalid name 'c\\\\x1b[2Jp'"),
        (["greedy", "random", "--name", ""], "invalid name ''"),
        (["greedy", "random", "--cores", "1000"], "cores, not 1000"),
        (["greedy", "random", "--json", "--out", "-"], "both want the output"),
    ],
)
def test_wrong_input_is_one_clear_line_and_leaves_nothing_behind(
    tmp_path: Path, inside: Inside, arguments: list[str], message: str
) -> None:
    write_bot(tmp_path / "picky", variants=["keltis"], players=[2])
    (tmp_path / "empty").mkdir()
    done = inside.run("tournament", *arguments, "--no-sandbox")
    assert done.code == 2
    assert done.err.startswith("keltis-ladder: ")
    assert done.err.count("\n") == 1
    assert message in done.err
    assert done.out == ""
    assert not list(tmp_path.glob("*.tournament"))
