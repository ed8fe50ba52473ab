"""Faults happen again from their crash cards, or it is said what happens instead."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support.helpers import ESCAPE, command
from tests.ladder.support.small_bots import FIRST, write_bot

AT_TURN = "if request.view['turn'] > 8 and len(request.legal) > 2:\n    "
FAULTS = {
    "not-legal": f"{AT_TURN}return 9999\n{FIRST}",
    "exit": f"{AT_TURN}sys.exit('I give up')\n{FIRST}",
    "signal": f"{AT_TURN}os.kill(os.getpid(), 11)\n{FIRST}",
    "clock": f"{AT_TURN}time.sleep(9)\n{FIRST}",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory of our own, and keep prepared bots there, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cards_of(bot: Path, *arguments: str) -> list[Path]:
    """Let a bot play against ours, and return the crash cards."""
    usual = ["-n", "2", "-v", "kartenspiel", "--bank", "200", "--no-sandbox"]
    played = command("match", bot, "random", *usual, *arguments)
    assert played.returncode == 0, played.stderr
    return sorted(Path("crashes").iterdir())


def again(card: Path, bot: Path | str = "bot") -> tuple[int, str]:
    """Reproduce a card; return the exit code and what was told."""
    done = command("reproduce", card, "--bot", bot, "--no-sandbox")
    assert done.stderr == ""
    assert ESCAPE not in done.stdout
    return done.returncode, done.stdout


@pytest.mark.parametrize("code", FAULTS)
def test_the_same_fault_happens_again(tmp_path: Path, code: str) -> None:
    bot = write_bot(tmp_path / "bot", FAULTS[code])
    for card in cards_of(bot)[:2]:
        assert json.loads(card.read_text())["fault"]["code"] == code
        status, told = again(card)
        assert status == 0
        assert "Reproduced: the same fault again." in told
        assert "on record" not in told
        assert ("  | I give up\n" in told) == (code == "exit")


def test_a_fault_at_the_start_happens_again_or_is_gone(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot", before="sys.exit('no licence')")
    card = cards_of(bot)[0]
    status, told = again(card)
    assert status == 0
    assert "when it was started" in told
    assert "  | no licence\n" in told
    status, told = again(card, write_bot(tmp_path / "fixed"))
    assert status == 1
    assert "Not reproduced: it started and answered hello in " in told


def test_a_repaired_bot_answers_legally(tmp_path: Path) -> None:
    card = cards_of(write_bot(tmp_path / "bot", FAULTS["exit"]))[0]
    status, told = again(card, write_bot(tmp_path / "fixed"))
    assert status == 1
    assert "Not reproduced: it answered '" in told
    assert "which is legal, in " in told
    status, told = again(card, write_bot(tmp_path / "other", FAULTS["not-legal"]))
    assert status == 1
    assert "Not reproduced, but another fault: illegal/not-legal" in told


def test_answers_that_are_not_those_on_record_are_told_once(tmp_path: Path) -> None:
    card = cards_of(write_bot(tmp_path / "bot", FAULTS["exit"]))[0]
    different = FAULTS["exit"].replace("legal[0]", "legal[-1]")
    status, told = again(card, write_bot(tmp_path / "different", different))
    assert status == 0
    assert told.count("on record") == 1
    assert "(and " in told
    assert "the game went on as recorded" in told


def test_a_fault_that_needs_earlier_games_is_explained(tmp_path: Path) -> None:
    tired = f"if asked > 60: return 9999\n{FIRST}"  # a game has fewer decisions than that
    bot = write_bot(tmp_path / "bot", tired)
    card = cards_of(bot, "-v", "weg-der-steine", "--cores", "1", "-n", "3")[0]
    status, told = again(card)
    assert status == 1
    assert "Its process had played other games before this one" in told


def test_the_conversation_is_the_one_on_record(tmp_path: Path) -> None:
    log = "print(request.id, request.left_ms, len(request.events), file=sys.stderr)\n"
    bot = write_bot(tmp_path / "bot", log + FAULTS["not-legal"])
    card = cards_of(bot)[0]
    recorded = json.loads(card.read_text())
    _, told = again(card)
    lines = [line.removeprefix("  | ") for line in told.splitlines() if line.startswith("  | ")]
    numbers = [line.split() for line in lines if line[0].isdigit()]
    then = [line.split() for line in recorded["stderr"].splitlines() if line[0].isdigit()]
    assert [line[0] for line in numbers] == [line[0] for line in then[-len(numbers) :]]
    assert [line[2] for line in numbers] == [line[2] for line in then[-len(numbers) :]]
    assert all(abs(int(a[1]) - int(b[1])) <= 2 for a, b in zip(numbers, then, strict=False))
    assert numbers[-1][1] == str(recorded["clock"]["left_ms"])


def without_seed(card: dict[str, Any]) -> None:
    del card["game"]["seed"]


def other_format(card: dict[str, Any]) -> None:
    card["format"] = "a letter"


def other_version(card: dict[str, Any]) -> None:
    card["game"]["version"] = 99


def other_seat(card: dict[str, Any]) -> None:
    card["game"]["seat"] = 5


def wrong_turn(card: dict[str, Any]) -> None:
    card["game"]["seat"] = 1 - card["game"]["seat"]


def unknown_decision(card: dict[str, Any]) -> None:
    card["game"]["decisions"][0] = "cheat"


def illegal_decisions(card: dict[str, Any]) -> None:
    card["game"]["decisions"] = card["game"]["decisions"][::-1]


@pytest.mark.parametrize(
    "tamper",
    [
        without_seed,
        other_format,
        other_version,
        other_seat,
        wrong_turn,
        unknown_decision,
        illegal_decisions,
    ],
)
def test_a_card_that_makes_no_sense_is_one_clear_line(
    tmp_path: Path, tamper: Callable[[dict[str, Any]], None]
) -> None:
    path = cards_of(write_bot(tmp_path / "bot", FAULTS["not-legal"]))[0]
    card = json.loads(path.read_text())
    tamper(card)
    path.write_text(json.dumps(card))
    done = command("reproduce", path, "--bot", "bot", "--no-sandbox")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("keltis-ladder: ")
    assert done.stderr.count("\n") == 1


def test_other_files_and_unnamed_bots_are_refused(tmp_path: Path) -> None:
    card = cards_of(write_bot(tmp_path / "bot", FAULTS["not-legal"]))[0]
    (tmp_path / "text").write_text("not JSON")
    (tmp_path / "list").write_text("[1]")
    refused: list[tuple[list[str | Path], str]] = [
        ([card], "the card is of bot: name its directory with --bot DIR"),
        (["text"], "this is no crash card"),
        (["list"], "this is no crash card"),
        (["/bin/true"], "/bin/true is not a text file"),
        (["missing.json"], "cannot use missing.json"),
        ([card, "--bot", "nowhere"], "there is no bot 'nowhere'"),
    ]
    for arguments, message in refused:
        done = command("reproduce", *arguments, "--no-sandbox")
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
