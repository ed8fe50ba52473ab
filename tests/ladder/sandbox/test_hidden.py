"""What the ladder keeps is never where bots can read it, and bots can read what they must."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import keltis_bots
from keltis_ladder.sandbox.runtimes import ShownToBots, require_hidden, shown_place
from keltis_ladder.sandbox.sandbox import Sandbox
from tests.ladder.support.boxes import run


@pytest.mark.parametrize(
    "place", [sys.prefix, sys.base_prefix, Path(keltis_bots.__file__).parent, "/usr/local", "/lib"]
)
def test_a_place_that_bots_can_read_is_refused(place: str) -> None:
    data = Path(place, "share", "keltis-ladder")
    with pytest.raises(ShownToBots, match="which every bot can read") as refused:
        require_hidden(data)
    assert str(data) in str(refused.value)
    assert "--data" in str(refused.value)


def test_a_link_into_such_a_place_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(sys.prefix)
    with pytest.raises(ShownToBots):
        require_hidden(None, link / "data")


def test_other_places_are_not(tmp_path: Path) -> None:
    require_hidden(None, tmp_path, tmp_path / "ladder.db")
    assert shown_place(Path(f"{sys.prefix}-data")) is None, "a name that only begins alike"


def test_what_is_said_to_be_hidden_is(sandbox: Sandbox, tmp_path: Path) -> None:
    """The list is the sandbox's own: it shows what is refused, and nothing of what is not."""
    home = tmp_path / "bot"
    home.mkdir()
    tmp_path.chmod(0o755)
    (tmp_path / "secret").write_text("seed")
    look = f"test -e {tmp_path}/secret || test ! -e {sys.prefix}"
    assert run(sandbox, ["sh", "-c", look], home=home).exit.code == 1


def test_a_bot_reads_its_files_in_a_directory_that_is_closed_to_others(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    bot = data / "bots" / "zorro"
    bot.mkdir(parents=True)
    (bot / "words").write_text("ahoy")
    bot.chmod(0o555)
    data.chmod(0o700)
    outcome = run(sandbox, ["cat", "words"], home=bot)
    bot.chmod(0o755)
    assert outcome.out == "ahoy", outcome.err
