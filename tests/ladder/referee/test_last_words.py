"""A Python bot that hangs in the sandbox says where, when the signal of a timeout comes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from keltis_bots.framing import frame
from keltis_bots.messages import hello
from keltis_engine import find_variant
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.programs.launchers import SandboxLauncher
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox.sandbox import Sandbox
from tests.bots.test_sdk import GAME, choose
from tests.ladder.support.arena import HOSTILE
from tests.ladder.support.boxes import read_until

SOURCE = """
import threading, time
from keltis_bots import run

def endless():
    print("here I am"); {where}

def choose(request):
    return endless()

run(choose)
"""


@pytest.mark.parametrize(
    "where",
    [
        "x = [None for _ in iter(int, 1)]",  # an endless loop of Python
        "sum(range(10**12))",
        "time.sleep(600)",
        "nap = threading.Thread(target=time.sleep, args=(600,)); nap.start(); nap.join()",
    ],
)
def test_the_stack_of_a_bot_that_hangs_is_in_its_log(
    sandbox: Sandbox, tmp_path: Path, where: str
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "bot.py").write_text(SOURCE.format(where=where))
    child = sandbox.launch(["python3", "bot.py"], tmp_path, {})
    try:
        os.write(child.stdin, frame(hello("keltis-ladder", 5000)) + GAME + choose())
        assert read_until(child.stderr, "here I am\n") == "here I am\n"
        os.kill(child.program(), signal.SIGXCPU)  # from outside, by the host's number
        log = read_until(child.stderr, "in choose")
        assert not child.ended()
    finally:
        child.kill()
    assert "(most recent call first)" in log
    assert 'File "/bot/bot.py", line 6 in endless' in log


def test_a_bot_that_is_stopped_says_it_when_it_goes_on(sandbox: Sandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "bot.py").write_text(SOURCE.format(where="x = [None for _ in iter(int, 1)]"))
    child = sandbox.launch(["python3", "bot.py"], tmp_path, {})
    try:
        os.write(child.stdin, frame(hello("keltis-ladder", 5000)) + GAME + choose())
        read_until(child.stderr, "here I am\n")
        child.pause()
        os.kill(child.program(), signal.SIGXCPU)
        child.resume()
        assert "in endless" in read_until(child.stderr, "in choose")
    finally:
        child.kill()


def test_a_crash_card_has_the_stack_and_what_was_printed(sandbox: Sandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "bot.py").write_text(SOURCE.format(where="sum(range(10**12))"))
    hangs = Entrant("hangs", "hangs", ("python3", "bot.py"), tmp_path)
    honest = Entrant("honest", "honest", ("python3", "honest.py", "-"), HOSTILE)
    referee = Referee(SandboxLauncher(sandbox), TimeControl(200, 0, 60_000))
    try:
        game = referee.play_game(find_variant("weg-der-steine"), 1, [hangs, honest], 0)
    finally:
        referee.kill()
    (loss,) = game.losses
    assert loss.fault.code == "clock"
    assert "here I am" in loss.card["stderr"]
    assert 'File "/bot/bot.py", line 6 in endless' in loss.card["stderr"]
    assert loss.card["fatal"]["charged_ms"] >= 200
    assert loss.card["exit"]["text"] == "killed by SIGKILL"
