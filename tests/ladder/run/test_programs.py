"""A program is staged and built once, and found again by the digest of its archive."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.builds import BuildFailed
from keltis_ladder.programs.preparing import find_prepared
from keltis_ladder.run.programs import keep_program, make_ready
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.store.home import Home
from tests.ladder.support.small_bots import write_bot

TABLE: dict[str, Any] = {"variants": ["weg-der-steine"], "players": [2]}


def home_at(directory: Path) -> Home:
    return Home(directory / "home", str(directory / "unused.db"))


def counting(runs: Path) -> list[str]:
    """Return a build command that notes each time it runs; without a sandbox it can."""
    return ["sh", "-c", f"echo run >> {runs}; echo made > made; echo 'name = 0' > bot.toml"]


def ready(home: Home, digest: str) -> Path:
    entrant = make_ready(home, digest, None, lambda _: None)
    assert entrant.home is not None
    assert entrant.key == digest
    assert entrant.variants == ("weg-der-steine",)  # of its upload, whatever the build has written
    return entrant.home


def test_what_was_checked_is_played_without_another_build_or_copy(tmp_path: Path) -> None:
    home, runs = home_at(tmp_path), tmp_path / "runs"
    bot = write_bot(tmp_path / "bot", build=counting(runs), **TABLE)
    _, kept = keep_program(home, bot)
    cache = home.directory / "bots"
    command = [sys.executable, "-m", "keltis_ladder.check.worker", "--parent", str(os.getpid())]
    command += ["--bot", str(bot), "--archive", kept.digest, "--cache", str(cache), "--no-sandbox"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert [path.name for path in cache.iterdir()] == [f"{kept.digest}-plain"]
    home.archives.path(kept.digest).unlink()  # nobody needs it to play
    assert (ready(home, kept.digest) / "made").read_text() == "made\n"
    assert runs.read_text() == "run\n"


def test_many_who_want_the_same_program_get_one(tmp_path: Path) -> None:
    home, runs = home_at(tmp_path), tmp_path / "runs"
    _, kept = keep_program(home, write_bot(tmp_path / "bot", build=counting(runs), **TABLE))
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(ready(home, kept.digest))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert (found[0] / "made").exists()
    assert [path.name for path in (home.directory / "bots").iterdir()] == [f"{kept.digest}-plain"]


@pytest.mark.parametrize("missing", [".ready", "bot.toml"])
def test_what_is_not_complete_is_made_again(tmp_path: Path, missing: str) -> None:
    home, runs = home_at(tmp_path), tmp_path / "runs"
    _, kept = keep_program(home, write_bot(tmp_path / "bot", build=counting(runs), **TABLE))
    made = ready(home, kept.digest)
    (made.parent / missing).unlink()
    assert find_prepared(home.directory / "bots", kept.digest, None) is None
    assert ready(home, kept.digest) == made
    assert runs.read_text() == "run\nrun\n"


def test_what_was_built_outside_the_sandbox_is_not_taken_for_what_was_built_inside(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    home = home_at(tmp_path)
    _, kept = keep_program(home, write_bot(tmp_path / "bot", build=["touch", "made"], **TABLE))
    plain = ready(home, kept.digest)
    inside = make_ready(home, kept.digest, sandbox, lambda _: None).home
    assert inside != plain
    names = sorted(path.name for path in (home.directory / "bots").iterdir())
    assert names == [kept.digest, f"{kept.digest}-plain"]


def test_a_build_that_fails_leaves_nothing_to_be_found(tmp_path: Path) -> None:
    home = home_at(tmp_path)
    _, kept = keep_program(home, write_bot(tmp_path / "bot", build=["false"], **TABLE))
    for _ in range(2):
        with pytest.raises(BuildFailed):
            ready(home, kept.digest)
    assert list((home.directory / "bots").iterdir()) == []
    with pytest.raises(MachineFailed, match="missing"):
        ready(home, "0" * 64)
