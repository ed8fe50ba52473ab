"""The reference bots as programs: they start by name, play, and import only what they need."""

import subprocess
import sys
from pathlib import Path

import pytest

from keltis_bots.reference import REFERENCE
from keltis_engine import VARIANTS, find_variant
from tests.bots.support.piped import PipedBot, Seat, play_game

LOADED = """
import sys
from keltis_bots.reference import REFERENCE
REFERENCE[{name!r}]()
print(*sys.modules)
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_reference_bot_plays_a_whole_game(name: str, variant: str, tmp_path: Path) -> None:
    with PipedBot([sys.executable, "-m", "keltis_bots", name], tmp_path) as bot:
        seat = Seat(bot)
        seat.greet()
        state, _ = play_game(find_variant(variant, {"turn_limit": 20}), 3, 4, {1: seat})
        assert bot.end() == (0, "")
    assert state.over


@pytest.mark.parametrize("arguments", [[], ["best"], ["greedy", "search"]])
def test_an_unknown_name_is_refused_and_all_names_are_told(arguments: list[str]) -> None:
    done = run("-m", "keltis_bots", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.endswith("choose one of random, greedy, search\n")


def test_the_random_bot_starts_without_the_engine() -> None:
    loaded = run("-c", LOADED.format(name="random")).stdout.split()
    assert "keltis_bots.reference" in loaded
    assert not [name for name in loaded if name.startswith("keltis_engine")]


def test_the_greedy_bot_starts_without_the_search() -> None:
    loaded = run("-c", LOADED.format(name="greedy")).stdout.split()
    assert "keltis_bots.greedy" in loaded
    assert "keltis_bots.search" not in loaded
