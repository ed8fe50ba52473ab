"""A bot's life on a real server, from its upload to its last match, through the commands."""

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from keltis_cli.remote.submission import progress
from keltis_server.settings import Quotas
from tests.cli.ladder.test_ladder_commands import wait_for
from tests.cli.support.helpers import ESCAPE, command, output
from tests.cli.support.inside import Inside
from tests.cli.support.remote_server import running
from tests.ladder.support.small_bots import FIRST, write_bot
from tests.server.support.serving import QUIET, Served

LAST = "return request.legal[-1]"
ONE_GAME: dict[str, Any] = {"variants": ["weg-der-steine"], "players": [2]}
SETTINGS = replace(QUIET, sandboxed=False, quotas=Quotas(uploads_per_hour=1000))


@dataclass(frozen=True)
class Ladder:
    """A server with bots of bob and ada on it, and a file that makes the one of ada fail."""

    server: Served
    trouble: Path
    bots: Path
    first: subprocess.CompletedProcess[str]  # what came of sending them
    last: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ladder]:
    place = tmp_path_factory.mktemp("ladder")
    trouble = place / "trouble"
    with running(place / "data", SETTINGS) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(place / "config"))
        patch.setenv("KELTIS_DATA", str(place / "nowhere"))
        patch.setenv("KELTIS_SERVER", server.url)
        patch.delenv("KELTIS_TOKEN", raising=False)
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        output("register", "bob")  # bots of one author do not meet
        first = write_bot(place / "first", **ONE_GAME)
        (first / "__pycache__").mkdir()
        (first / "__pycache__" / "old.pyc").write_text("old")
        sent_first = command("submit", first, "--no-check", "--no-wait")
        output("logout")
        output("register", "ada")
        fails = f"if os.path.exists({str(trouble)!r}):\n"
        fails += "    print('oh \\x1b[1mno', file=sys.stderr); sys.exit(3)\n"
        last = write_bot(place / "last", fails + LAST, **ONE_GAME)
        sent_last = command("submit", last, "--no-check")
        yield Ladder(server, trouble, place, sent_first, sent_last)


@pytest.fixture
def inside(
    ladder: Ladder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Inside:
    monkeypatch.chdir(tmp_path)
    return Inside(capsys, monkeypatch)


def test_a_bot_is_sent_checked_and_plays(ladder: Ladder, inside: Inside) -> None:
    done = ladder.first
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Sent: it is first v1, and is being checked.\n"
    assert re.search(r"^first: [\d.]+ \w+ to send; left out: __pycache__$", done.stderr, re.M)
    done = ladder.last
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Sent: it is last v1, and is being checked."
    assert lines[1].startswith("✓ ok      deals ")
    assert lines[2].startswith("✓ ok      bot.toml ")
    assert "✓ ok      same answers" in done.stdout
    assert done.stdout.count("bot.toml  ") == 1
    assert "last v1 is on the ladder." in lines
    assert re.search(r"^First: Match \d+ \(weg-der-steine\): .*(won|share)", done.stdout, re.M)
    assert re.search(r"^Rating so far: [\d.]+ \(.*\) after \d+ match", done.stdout, re.M)
    assert f"Its page: {ladder.server.url}/bots/last" in lines
    assert ESCAPE not in done.stdout


def test_the_same_program_is_sent_once(ladder: Ladder, inside: Inside, tmp_path: Path) -> None:
    mine = write_bot(tmp_path / "twin", **ONE_GAME)
    told = json.loads(inside.output("submit", mine, "--no-check", "--json"))
    assert told["known"] is False
    assert told["version"]["state"] == "active"
    assert told["first_match"]["rated"] is True
    assert [each["mark"] for each in told["report"]["findings"]].count("failed") == 0
    again = json.loads(inside.output("submit", mine, "--no-check", "--no-wait", "--json"))
    assert again["known"] is True
    assert again["version"]["number"] == 1
    theirs = inside.run("submit", ladder.bots / "first", "--no-check")
    assert theirs.code == 2  # it is bob's


def test_what_is_there_is_shown_within_80_columns(ladder: Ladder, inside: Inside) -> None:
    board = inside.output("leaderboard", "--variant", "weg-der-steine")
    assert board.startswith("Leaderboard: weg-der-steine  (")
    assert re.search(r"(first|last) v\d", board)
    assert "last v" in inside.output("bots", "--mine")
    listed = inside.output("matches", "--bot", "last", "--limit", "3")
    number = re.findall(r"^ *(\d+) ", listed, re.M)[-1]
    page = inside.output("show", number)
    assert page.startswith(f"Match {number}: weg-der-steine, ladder, rated, finished")
    assert re.search(r"^ +1 +(first|last) ", page, re.M)
    bot = inside.output("show", "last")
    assert "by ada, active" in bot
    assert "all variants, 2 players" in bot
    version = inside.output("show", "last/1")
    assert re.search(r"^digest +[0-9a-f]{64}$", version, re.M)
    times = inside.output("times", "last")
    assert re.search(r"^v\d +weg-der-steine +2 ", times, re.M)
    for told in (board, listed, bot, times, page):
        assert ESCAPE not in told
        assert max(len(line) for line in told.splitlines() if "commitment" not in line) <= 80
    match = json.loads(inside.output("show", number, "--json"))
    assert inside.output("show", match["id"]) == page
    many = json.loads(inside.output("matches", "--limit", "2", "--json"))
    assert [each["number"] for each in many] == sorted((m["number"] for m in many), reverse=True)
    assert inside.run("show", "nobody").code == 2
    assert inside.run("show", "../bots").code == 2
    assert inside.run("show", "last/two").code == 2
    assert inside.run("show", "999999").code == 2


def test_joint_ratings_follow_the_matches_and_are_shown(ladder: Ladder, inside: Inside) -> None:
    """A process of its own fits what was played, and publishes it while the server goes on."""

    def published() -> set[str]:
        board = json.loads(inside.output("leaderboard", "--json"))
        assert board["official"] == "joint"
        return {line["bot"] for line in board["lines"] if line["joint"]}

    wait_for(lambda: published() >= {"first", "last"})
    shown = inside.output("leaderboard")
    assert re.search(r"^rank +bot +rating .*expected wins +TrueSkill", shown, re.M)
    assert re.search(r"\d% \(\d+%-\d+%\)", shown)
    versus = inside.output("leaderboard", "--versus", "last")
    assert versus.startswith("last v")
    assert re.search(r"^first v\d +[+-]\d+\.\d ", versus, re.M)
    assert max(len(line) for line in (shown + versus).splitlines()) <= 80
    assert inside.run("leaderboard", "--versus", "nobody").code == 2
    assert "expected wins" in inside.output("show", "last")


def test_a_challenge_is_played_downloaded_and_verified(ladder: Ladder, inside: Inside) -> None:
    told = inside.output("challenge", "last", "first", "--variant", "weg-der-steine")
    number = re.findall(r"^Match (\d+): weg-der-steine, challenge, unrated, fin", told, re.M)[0]
    noted = re.findall(r"^commitment ([0-9a-f]{64})$", told, re.M)[0]
    queued = inside.output("challenge", "last", "first", "-v", "weg-der-steine", "--no-wait")
    assert re.match(r"Match [0-9a-f-]{36} is (waiting|playing|finished)\.", queued)
    assert inside.run("challenge", "last", "first", "--variant", "keltis").code == 2

    inside.output("download", number, "--out", "games.jsonl")
    kept = Path("games.jsonl").read_text()
    assert len(kept.splitlines()) == 2
    assert inside.run("download", number, "--out", "games.jsonl").code == 2
    inside.output("download", number, "--out", "games.jsonl", "--force")
    assert Path("games.jsonl").read_text() == kept
    checked = inside.output("replay", "games.jsonl", "--verify")
    assert "OK: 2 games\nThe seed of all of them fits the commitment in the file" in checked
    assert re.match(r"lines 1 to 2: ok: decisions, scores, digest, faults, ending, ranks,", checked)
    checked = inside.output("replay", "games.jsonl", "--verify", "--commitment", noted)
    assert "fits the hash that you noted" in checked
    other = inside.run("replay", "games.jsonl", "--verify", "--commitment", "0" * 64)
    assert other.code == 1
    assert "line 1: noted commitment: it is" in other.err
    assert "not the one that you noted" in other.err
    assert inside.run("replay", "games.jsonl", "--verify", "--commitment", "abc").code == 2
    assert inside.run("replay", "games.jsonl", "--commitment", noted).code == 2

    first, second = kept.splitlines()
    changed = {**json.loads(first), "job": "another"}
    Path("changed.jsonl").write_text(json.dumps(changed) + "\n" + second + "\n")
    done = inside.run("replay", "changed.jsonl", "--verify")
    assert done.code == 1
    assert "line 1: commitment: 'job' and 'seed' give " in done.err
    assert "0 of 2 games OK\n" in done.out  # each misses the other game of its match
    assert "fits the commitment" not in done.out
    assert "line 2: match: it has 2 games, the file has 1" in done.err


def test_faults_are_told_to_the_author_only(ladder: Ladder, inside: Inside) -> None:
    none = inside.run("crash", "first")
    assert (none.code, "has no faults" in none.err) == (2, True)
    ladder.trouble.touch()
    try:
        told = inside.output("challenge", "last", "first", "--variant", "weg-der-steine")
    finally:
        ladder.trouble.unlink()
    assert "last, crash/" in told
    logs = inside.output("logs", "last")
    assert re.search(r"^  \d+: crash/\S+ in match \d+, game 2, decision \d+", logs, re.M)
    assert "| oh \\x1b[1mno" in logs
    crash = inside.output("crash", "last", "--out", "card.json")
    assert crash.startswith("last: crash/")
    assert "| oh \\x1b[1mno" in crash
    assert "keltis-ladder reproduce card.json" in crash
    for page in (logs, crash):
        assert ESCAPE not in page
    assert json.loads(Path("card.json").read_text())["format"] == "keltis-ladder crash card 1"
    assert inside.run("crash", "last", "--out", "card.json").code == 2  # it is there already
    nobody = inside.run("logs", "last", "--token", "klt_nobody")
    assert nobody.code == 2


def test_a_bot_that_fails_its_check_says_why(
    ladder: Ladder, inside: Inside, tmp_path: Path
) -> None:
    say = "print('about to \\x1b[1mcheat', file=sys.stderr)"
    cheat = f"if asked > 5:\n    {say}; return -1\n{FIRST}"
    bad = write_bot(tmp_path / "bad", cheat, **ONE_GAME)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in bad.iterdir():
            archive.write(path, f"bad/{path.name}")
    Path("bad.zip").write_bytes(packed.getvalue())
    done = inside.run("submit", "bad.zip")
    assert done.code == 1
    assert "✗ failed  weg-der-steine, 2 players" in done.out
    assert "| about to \\x1b[1mcheat" in done.out
    assert "bad v1 is broken." in done.out
    assert ESCAPE not in done.out
    assert "failed" in inside.output("logs", "bad")


def test_what_cannot_be_sent_is_refused_before_it_is(inside: Inside, tmp_path: Path) -> None:
    for name, text in [("no.toml", None), ("bad.toml", "name = 3"), ("odd.toml", "name = [")]:
        bot = tmp_path / name
        bot.mkdir()
        if text is not None:
            (bot / "bot.toml").write_text(text)
        done = inside.run("submit", bot, "--no-check")
        assert done.code == 2
        assert "bot.toml" in done.err
    Path("text.zip").write_text("no archive")
    assert "neither a directory nor a zip" in inside.run("submit", "text.zip").err
    link = write_bot(tmp_path / "link", **ONE_GAME)
    (link / "passwd").symlink_to("/etc/passwd")
    assert "outside of the bot's directory" in inside.run("submit", link, "--no-check").err


def test_a_lost_websocket_makes_us_ask_instead(
    ladder: Ladder, inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keltis_server.client.live.PATH", "/api/v1/nothing")
    bot = write_bot(tmp_path / "last", f"# another\n{LAST}", **ONE_GAME)
    told = inside.output("submit", bot, "--no-check")
    assert "Sent: it is last v" in told
    assert "✓ ok      same answers" in told
    assert told.count("bot.toml  ") == 1
    assert "First: Match " in told
    again = inside.output("challenge", "last", "first", "--variant", "weg-der-steine")
    assert "challenge, unrated, finished" in again


def test_a_tournament_is_held_on_the_server(ladder: Ladder, inside: Inside) -> None:
    plan = ["--bot", "first", "--bot", "last", "--variant", "weg-der-steine", "--matches", "2"]
    made = inside.output("tournament", "create", "cup", *plan)
    assert made.startswith("cup  scheduled\nround-robin, 2 bots, weg-der-steine, 0 of 2 matches")
    assert "keltis-ladder tournament start cup" in made
    assert "cup is running" in inside.output("tournament", "start", "cup")
    watched = inside.run("tournament", "watch", "cup")
    assert watched.code == 0
    assert watched.out.startswith("cup  finished\nround-robin, 2 bots, weg-der-steine, 2 of 2")
    assert inside.output("tournament", "show", "cup") == watched.out
    assert inside.output("show", "cup") == watched.out
    told = inside.output("tournament", "list")
    assert re.search(r"^cup +finished +round-robin +2 +2 of 2", told, re.M)
    plan[-1] = "1"
    inside.output("tournament", "create", "knockout", "-f", "single-elimination", *plan)
    drawn = inside.output("tournament", "show", "knockout")
    assert "─┐" in drawn
    ended = json.loads(inside.output("tournament", "cancel", "knockout", "-y", "--json"))
    assert ended["state"] == "cancelled"
    assert inside.run("tournament", "start", "knockout").code == 2
    assert inside.run("tournament", "create", "none").code == 2


def test_a_bot_is_retired_and_comes_back(ladder: Ladder, inside: Inside) -> None:
    assert "--yes" in inside.run("retire", "last").err
    number = re.findall(r"^last v(\d+) is off the", inside.output("retire", "last", "--yes"))[0]
    assert "retired" in inside.output("show", f"last/{number}")
    assert f"last v{number} is checking" in inside.output("restore", "last")
    path = f"last/{number}"
    wait_for(lambda: "active" in inside.output("show", path))  # others need it


def test_waiting_without_opponents_ends(
    ladder: Ladder, inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "FIRST_MATCH", 0.5)
    alone: dict[str, Any] = {"variants": ["kartenspiel"], "players": [2]}
    told = inside.output("submit", write_bot(tmp_path / "alone", **alone), "--no-check")
    assert "No match yet" in told
