"""Which Python is taken, and that it is said; and what somebody has who is not root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import ROOT

CHOOSE = ROOT / ".ci" / "choose-python"
PLAIN_TOOLS = ("bash", "env", "id")
UNUSED_USER = 54_321


def pretend(place: Path, name: str, version: str, venv: str = "yes") -> Path:
    """Write a command that answers as a Python of this version would."""
    place.mkdir(parents=True, exist_ok=True)
    for tool in PLAIN_TOOLS:
        if not (place / tool).exists():
            (place / tool).symlink_to(shutil.which(tool) or tool)
    path = place / name
    path.write_text(f"#!/bin/sh\necho {version} {path} {venv}\n")
    path.chmod(0o755)
    return path


def choose(place: Path, wish: str = "") -> tuple[int, str, str]:
    """Return the exit code, what was chosen, and what was said."""
    done = subprocess.run(
        [str(CHOOSE), wish],
        env={"PATH": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.strip(), done.stderr


def test_python3_is_taken_and_named(tmp_path: Path) -> None:
    mine = pretend(tmp_path, "python3", "3.11.2")
    pretend(tmp_path, "python3.13", "3.13.0")
    code, chosen, said = choose(tmp_path)
    assert (code, chosen) == (0, str(mine))
    assert said == f"The virtual environment is made with Python 3.11.2, {mine}\n"


def test_a_newer_one_is_taken_where_python3_is_too_old(tmp_path: Path) -> None:
    pretend(tmp_path, "python3", "3.9.2")
    pretend(tmp_path, "python3.11", "3.11.9")
    newer = pretend(tmp_path, "python3.12", "3.12.1")
    code, chosen, said = choose(tmp_path)
    assert (code, chosen) == (0, str(newer))
    assert "Python 3.12.1" in said
    assert "(python3 is only Python 3.9.2)" in said


@pytest.mark.parametrize("version", ["3.10.13", "2.7.18"])
def test_it_is_said_at_once_what_to_do_where_all_are_too_old(tmp_path: Path, version: str) -> None:
    pretend(tmp_path, "python3", version)
    code, chosen, said = choose(tmp_path)
    assert (code, chosen) == (1, "")
    assert f"needs Python 3.11 or newer, and python3 is only Python {version} here" in said
    assert "make PYTHON=/path/to/python3.12" in said


def test_a_python_that_was_named_is_taken_or_nothing_is(tmp_path: Path) -> None:
    pretend(tmp_path, "python3", "3.11.2")
    old = pretend(tmp_path, "old", "3.10.0")
    other = pretend(tmp_path, "other", "3.14.0")
    bare = pretend(tmp_path, "bare", "3.12.3", "no")
    assert choose(tmp_path, str(other))[:2] == (0, str(other))
    code, chosen, said = choose(tmp_path, str(old))
    assert (code, chosen) == (1, "")
    assert f"'{old}' is Python 3.10.0" in said
    assert choose(tmp_path, "nonsense")[0] == 1
    code, _, said = choose(tmp_path, str(bare))
    assert code == 1
    assert "apt-get install -y python3.12-venv" in said


def test_a_real_one_is_found() -> None:
    done = subprocess.run([str(CHOOSE), sys.executable], capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).samefile(sys.executable)
    version = "{}.{}.{}".format(*sys.version_info[:3])
    assert f"Python {version}, " in done.stderr


@pytest.fixture
def someone() -> Iterator[tuple[list[str], Path, str]]:
    """A user that nobody has: how to become it, its home, and a Python that it may run."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the other tests ran as one already")
    become = ["setpriv", f"--reuid={UNUSED_USER}", f"--regid={UNUSED_USER}", "--clear-groups"]
    # Not among pytest's own directories: every pytest that starts closes those to others again.
    with tempfile.TemporaryDirectory(prefix="keltis-someone-") as name:
        home = Path(name)
        os.chown(home, UNUSED_USER, UNUSED_USER)
        yield become, home, _python_for_everybody(become)


def _python_for_everybody(become: list[str]) -> str:
    """Return a Python that has our packages' binary interface, and that everybody may run."""
    wanted = f"import sys; sys.exit(sys.version_info[:2] != {tuple(sys.version_info[:2])})"
    real = Path(sys.executable).resolve()
    for python in (str(real), "/usr/bin/python3", f"/usr/bin/{real.name}"):
        done = subprocess.run([*become, "env", "-i", python, "-c", wanted], check=False)
        if done.returncode == 0:
            return python
    pytest.skip(f"there is no Python {wanted} that other users may run")


def test_an_ordinary_user_serves_submits_matches_and_checks(
    someone: tuple[list[str], Path, str],
) -> None:
    become, home, python = someone
    packages = home / "packages"
    source = Path(sys.prefix, "lib", f"python3.{sys.version_info[1]}", "site-packages")
    shutil.copytree(source, packages, ignore=_not_needed)
    script = home / "a_first_day.sh"
    script.write_text(FIRST_DAY)
    for path in (script, packages, *packages.rglob("*")):
        os.chown(path, UNUSED_USER, UNUSED_USER, follow_symlinks=False)
    done = subprocess.run(
        [*become, "env", "-i", "bash", str(script), python],
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    for words in (
        "nothing failed",
        "mine v1 is on the ladder.",
        "the first day is over",
    ):
        assert words in done.stdout, done.stdout


def _not_needed(directory: str, names: list[str]) -> set[str]:
    heavy = {"playwright", "mypy", "mypyc", "ruff", "schemathesis", "pip", "__pycache__"}
    return heavy.intersection(names)


FIRST_DAY = r"""
set -euo pipefail
export HOME=$PWD LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin
"$1" -m venv --without-pip venv
site=$(venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
rmdir "$site" 2>/dev/null || rm -r "$site"
mv packages "$site"
keltis="venv/bin/python -m keltis_cli"
quick="--cores 1 --bank 200 --increment 4 --matches-per-minute 1"
$keltis serve --port 0 $quick --data home/ladder > serve.log 2>&1 &
server=$!
trap 'kill $server; wait $server || true; tail -n 30 serve.log' EXIT
for _ in $(seq 600); do
  [[ -e home/ladder/server.json ]] && break
  kill -0 $server
  sleep 0.2
done
export KELTIS_DATA=$PWD/home/ladder
$keltis init mine
printf 'variants = ["weg-der-steine"]\nplayers = [2]\n' >> mine/bot.toml
$keltis check mine --quick
$keltis match mine random --variant weg-der-steine --matches 1
$keltis submit mine
echo 'the first day is over'
"""
