"""A check tells a good bot from a bad one, and says what to do."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support.helpers import ESCAPE, command, output
from tests.ladder.support.small_bots import FIRST, write_bot

ONE_GAME: dict[str, Any] = {"variants": ["weg-der-steine"], "players": [2]}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory of our own, and keep prepared bots there, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(bot: Path, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit code, and the findings by the name of their check."""
    done = command("check", bot, "--no-sandbox", "--json", *arguments)
    assert "Traceback" not in done.stderr
    report = json.loads(done.stdout)
    assert report["format"] == "keltis-ladder check 1"
    assert report["passed"] == (done.returncode == 0)
    return done.returncode, {finding["check"]: finding for finding in report["findings"]}


def test_a_good_bot_passes_in_everything_it_claims(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "good", variants=["weg-der-steine", "kartenspiel"], players=[2, 3])
    told = output("check", bot, "--no-sandbox")
    lines = told.splitlines()
    assert lines[-1] == "It can join the ladder. 17 ok."
    assert all(line.startswith("✓ ok ") for line in lines[:-2])
    for name in ("weg-der-steine, 2", "weg-der-steine, 3", "kartenspiel, 2", "kartenspiel, 3"):
        assert f"{name} players" in told
    assert ESCAPE not in told
    assert max(map(len, lines)) <= 100
    assert not Path("crashes").exists()


def test_a_quick_check_of_one_variant_is_short(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "good")
    code, findings = checked(bot, "--quick", "--variant", "kartenspiel")
    assert code == 0
    assert [name for name in findings if "players" in name] == ["kartenspiel, 2 players"]
    assert findings["kartenspiel, 2 players"]["text"].startswith("2 games, ")


def test_an_illegal_choice_fails_with_advice_log_and_card(tmp_path: Path) -> None:
    say = "print('about to \\x1b[1mcheat', file=sys.stderr)"
    bot = write_bot(tmp_path / "cheat", f"if asked > 5:\n    {say}; return -1\n{FIRST}", **ONE_GAME)
    done = command("check", bot, "--no-sandbox")
    assert done.returncode == 1
    told = done.stdout
    assert "✗ failed  weg-der-steine, 2 players\n" in told
    assert "the bot chose -1, which is no action at all" in told
    assert "Answer with one of the numbers in the request's `legal`." in told
    assert "  | about to \\x1b[1mcheat\n" in told
    assert "It cannot join the ladder yet. 5 ok, 1 failed." in told
    again = re.search(r"^Make a fault happen again with: keltis-ladder (.*)$", told, re.MULTILINE)
    assert again
    assert "Reproduced" in output(*again[1].split(), "--no-sandbox")


@pytest.mark.parametrize(
    ("before", "code", "words"),
    [
        ("sys.exit('no licence')", "exit", "no licence"),
        ("print('hello'); sys.stdout.flush()", "text-on-stdout", "print to stderr instead"),
        ("time.sleep(60)", "start", "no answer to hello within"),
    ],
)
def test_a_bot_that_does_not_start_properly_is_told_why(
    tmp_path: Path, before: str, code: str, words: str
) -> None:
    bot = write_bot(tmp_path / "broken", before=before, **ONE_GAME)
    status, findings = checked(bot)
    assert status == 1
    assert list(findings) == ["bot.toml", "files", "start"]  # the rest would be pointless
    start = findings["start"]
    assert start["fault"]["code"] == code
    assert words in start["text"] + start["log"]
    assert start["advice"]


def test_manners_that_need_not_be_perfect_are_warnings(tmp_path: Path) -> None:
    stays = "import atexit, signal\natexit.register(time.sleep, 30)\n"
    bot = write_bot(tmp_path / "slow", f"time.sleep(0.012)\n{FIRST}", before=stays, **ONE_GAME)
    status, findings = checked(bot)
    assert status == 0
    marks = {name: finding["mark"] for name, finding in findings.items()}
    assert marks["goodbye"] == "warning"
    assert "still there 1 s after its stdin was closed" in findings["goodbye"]["text"]
    assert marks["low clock"] == "warning"
    assert "loses on time with 50 + 5 ms" in findings["low clock"]["text"]
    assert marks["time"] == marks["restart"] == "ok"


@pytest.mark.parametrize(
    ("answer", "code", "slowly"),
    [
        ("bytes([0, 0, 0, 1, 0x80])", "missing-field", ""),
        ("bytes([0, 0, 0, 1, 0x80])", "missing-field", "time.sleep(0.3)"),
        ("b'good game\\n'", "text-on-stdout", "time.sleep(0.3)"),
        ("frame({'type': 'action', 'id': 1, 'action': 0})", "extra-reply", ""),
    ],
)
def test_answers_that_nobody_asked_for_fail(
    tmp_path: Path, answer: str, code: str, slowly: str
) -> None:
    bot = write_bot(tmp_path / "chatty", **ONE_GAME)
    source = (bot / "bot.py").read_text()
    chatty = f"""
from keltis_bots.framing import frame
class Chatty:
    def choose(self, request):
        return choose(request)
    def game_over(self, result):
        {slowly or "pass"}
        os.write(target, {answer})
        {slowly or "pass"}
target = os.dup(1)
run(Chatty())
"""
    (bot / "bot.py").write_text(source.replace("run(choose)\n", chatty))
    status, findings = checked(bot)
    assert status == 1
    failed = {name: finding for name, finding in findings.items() if finding["mark"] == "failed"}
    assert list(failed) == ["weg-der-steine, 2 players"]
    assert {finding["fault"]["code"] for finding in failed.values()} == {code}
    quick_status, quick = checked(bot, "--quick")  # one game in each process: only silence shows it
    assert quick_status == 1
    assert [name for name in quick if quick[name]["mark"] == "failed"] == ["silence"]
    assert quick["silence"]["fault"]["code"] == code
    assert quick["silence"]["text"].startswith("after the end of a game something else came than")


def test_a_machine_that_is_busy_makes_no_goodbye_bad(tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    burns = f"""
    import atexit
    def burn():
        os.sched_setaffinity(0, {{{core}}})
        begin = time.process_time()
        while time.process_time() < begin + 0.4:
            pass
    atexit.register(burn)
    """
    bot = write_bot(tmp_path / "tidy", before=burns, **ONE_GAME)
    pin = f"import os; os.sched_setaffinity(0, [{core}])\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", pin]) for _ in range(6)]
    try:
        _, findings = checked(bot, "--quick")
    finally:
        for other in others:
            other.kill()
            other.wait()
    goodbye = findings["goodbye"]
    assert goodbye["mark"] == "ok", goodbye
    (took,) = re.findall(r"ended (\d+) ms after", goodbye["text"])
    assert int(took) > 400, "it cannot have been quicker than what it computed"


def test_a_bot_that_ends_after_one_game_is_told_so(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "leaves", **ONE_GAME)
    source = (bot / "bot.py").read_text()
    leaves = """
class Leaves:
    def choose(self, request):
        return choose(request)
    def game_over(self, result):
        os._exit(0)
run(Leaves())
"""
    (bot / "bot.py").write_text(source.replace("run(choose)\n", leaves))
    status, findings = checked(bot, "--quick")
    assert status == 1
    assert findings["silence"]["fault"]["code"] == "exit"
    assert findings["silence"]["text"] == (
        "after its first game the bot ended in the middle of a game: exit code 0; "
        "it has to play any number of games"
    )


def test_a_bot_that_leaves_a_lock_behind_cannot_be_restarted(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    before = f"""
    import threading
    path = {str(lock)!r} + str(os.getppid())
    if os.path.exists(path) and open(path).read() == 'playing':
        sys.exit('already running')
    """
    choose = (
        f"if asked == 5: open(path, 'w').write('playing')\nif asked == 6: os.remove(path)\n{FIRST}"
    )
    bot = write_bot(tmp_path / "locks", choose, before=before, **ONE_GAME)
    status, findings = checked(bot, "--quick")
    assert status == 1
    assert findings["restart"]["mark"] == "failed"
    assert "already running" in findings["restart"]["log"]


def test_answers_that_differ_from_run_to_run_are_allowed(tmp_path: Path) -> None:
    choose = "return request.legal[int.from_bytes(os.urandom(4), 'big') % len(request.legal)]"
    status, findings = checked(write_bot(tmp_path / "dice", choose, **ONE_GAME), "--quick")
    assert status == 0
    assert findings["same answers"]["text"].startswith("answers differ from run to run")


def test_a_build_that_fails_is_the_end(tmp_path: Path) -> None:
    build = [sys.executable, "-c", "raise SystemExit('no compiler')"]
    status, findings = checked(write_bot(tmp_path / "broken", build=build))
    assert status == 1
    assert list(findings) == ["bot.toml", "files", "build"]
    assert "no compiler" in findings["build"]["log"]


def test_a_bad_manifest_is_a_finding_and_a_missing_directory_wrong_input(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "odd", players=[7])
    status, findings = checked(bot)
    assert status == 1
    assert "'players' must list some of 2, 3, 4" in findings["bot.toml"]["text"]
    status, findings = checked(write_bot(tmp_path / "one", **ONE_GAME), "--variant", "keltis")
    assert status == 1
    assert "claims to play only weg-der-steine" in findings["bot.toml"]["text"]
    for arguments in (["nowhere"], ["one", "--variant", "chess"]):
        done = command("check", *arguments, "--no-sandbox")
        assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
