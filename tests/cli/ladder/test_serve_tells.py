"""What ``serve`` says at the start: commands that work as they are, in another terminal."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from keltis_cli.ladder.serve import naming
from tests.server.support.serving import served


def test_commands_name_the_directory_unless_it_is_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    usual = tmp_path / "keltis-ladder"
    assert naming(usual) == ""
    # The variable may be set for this process alone.
    monkeypatch.setenv("KELTIS_DATA", str(tmp_path / "my ladder"))
    assert naming(usual) == ""
    assert naming(tmp_path / "my ladder") == f"KELTIS_DATA='{tmp_path}/my ladder' "
    monkeypatch.chdir(tmp_path)
    assert naming(Path("here")) == f"KELTIS_DATA={tmp_path}/here "


def test_a_command_that_names_the_directory_finds_the_server(tmp_path: Path) -> None:
    data = tmp_path / "my ladder"

    async def scenario() -> None:
        async with served(data):
            command = f"{naming(data)}{shlex.quote(sys.executable)} -m keltis_cli leaderboard"
            elsewhere = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "nothing")}
            elsewhere.pop("KELTIS_DATA", None)
            done = await asyncio.to_thread(
                subprocess.run, command, shell=True, env=elsewhere, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr

    asyncio.run(scenario())
