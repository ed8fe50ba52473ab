"""A command that was forked is a process like one that was started: everything about it holds."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.preloaded import process as preloaded
from tests.preloaded.process import CommandProcess, run_command, start_command

PATIENCE = 300.0
ENDLESS = ("selfplay", "-n", "100000000")


def started(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the real command."""
    return subprocess.run(
        [sys.executable, "-m", "keltis_cli", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=env,
    )


def wait_until_it_runs(running: subprocess.Popen[str]) -> None:
    """Wait until a command has used some time of the processor."""
    deadline = time.monotonic() + PATIENCE
    while int(Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()[11]) < 5:
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.01)


@pytest.mark.parametrize(
    "arguments",
    [
        ["variants", "--json"],
        ["rules", "keltis"],
        ["rules", "chess"],
        ["selfpaly"],
        ["ladder", "show", "--data", "/no/such/ladder"],
    ],
)
def test_it_says_and_returns_what_the_real_command_does(arguments: list[str]) -> None:
    environment = os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"}
    forked = run_command(*arguments, env=environment, timeout=PATIENCE)
    real = started(*arguments, env=environment)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        real.returncode,
        real.stdout,
        real.stderr,
    )


def test_it_is_forked_unless_python_would_start_differently() -> None:
    assert isinstance(start_and_end(os.environ | {"KELTIS_DATA": "x"}), CommandProcess)
    assert isinstance(start_and_end({**os.environ, "PYTHONUTF8": "1"}), CommandProcess)
    assert not isinstance(start_and_end(os.environ | {"PYTHONPATH": "/x"}), CommandProcess)
    assert not isinstance(start_and_end(os.environ | {"LC_ALL": "POSIX"}), CommandProcess)


def start_and_end(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with start_command(
        "version", env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        return process


def test_it_has_the_directory_and_the_environment_that_it_is_given(tmp_path: Path) -> None:
    made = run_command("init", "greedy-one", cwd=tmp_path, timeout=PATIENCE)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "greedy-one" / "bot.toml").exists()
    told = run_command(
        "ladder", "show", env=os.environ | {"KELTIS_DATA": str(tmp_path / "q7")}, timeout=PATIENCE
    )
    assert told.returncode == 2
    assert str(tmp_path / "q7") in told.stderr
    with pytest.raises(OSError, match="nowhere"):
        run_command("version", cwd=tmp_path / "nowhere", timeout=PATIENCE)


def test_what_is_typed_reaches_it() -> None:
    done = run_command("play", "--seed", "8", typed="1\n" * 3000, timeout=PATIENCE)
    assert "game over" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_it_alone_and_its_end_is_known(number: signal.Signals) -> None:
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with (
        start_command(*ENDLESS, **pipes) as other,
        start_command(*ENDLESS, start_new_session=True, **pipes) as running,
    ):
        wait_until_it_runs(running)
        assert os.getsid(running.pid) == running.pid
        assert os.getsid(other.pid) == os.getsid(0)
        assert running.poll() is None
        running.send_signal(number)
        code = running.wait(PATIENCE)
        assert other.poll() is None
        other.kill()
        assert other.wait(PATIENCE) == -signal.SIGKILL
    assert code == (130 if number == signal.SIGINT else -number)
    assert not Path(f"/proc/{running.pid}").exists()


def test_it_has_a_terminal_if_it_is_given_one() -> None:
    ours, its = pty.openpty()
    shown = b""
    with start_command("variants", stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        with suppress(OSError):  # nobody is left who could write
            while part := os.read(ours, 1 << 16):
                shown += part
        assert process.wait(PATIENCE) == 0
    assert b"\x1b[" in shown
    os.close(ours)


def test_it_has_nothing_open_but_its_streams() -> None:
    with start_command(*ENDLESS, stdout=subprocess.DEVNULL) as running:
        wait_until_it_runs(running)
        try:
            files = Path(f"/proc/{running.pid}/fd").iterdir()
            assert sorted(file.name for file in files) == ["0", "1", "2"]
        finally:
            running.kill()


def test_chance_is_different_for_each(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for file in files:
        run_command("play", "--out", file, typed="1\n" * 3000, timeout=PATIENCE)
    assert len({json.loads(file.read_text())["seed"] for file in files}) == 3


def test_it_ends_with_whoever_wanted_it(tmp_path: Path) -> None:
    """A test process may be killed: then the mother ends, and what it forked."""
    program = (
        "import os, signal, subprocess\n"
        "from tests.preloaded.process import _mother, start_command\n"
        f"forked = start_command(*{ENDLESS!r}, stdout=subprocess.DEVNULL)\n"
        "print(forked.pid, _mother().process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    deadline = time.monotonic() + PATIENCE
    for pid in done.stdout.split():
        while _runs(pid):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_one_process_loads_for_all() -> None:
    start_and_end(dict(os.environ))
    assert len(preloaded._mothers) == 1
