"""A sandbox that lost its referee while it was being set up is found and ended, and no other."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keltis_ladder.sandbox.child import descendants
from keltis_ladder.sandbox.sandbox import Sandbox
from keltis_ladder.sandbox.strays import end_strays
from tests.ladder.support.boxes import read_until

PATIENCE = 300.0  # seconds

# Starts sandboxes without end, and says when it begins.
STARTER = """
from pathlib import Path
import sys
from keltis_ladder.sandbox.sandbox import find_sandbox
sandbox = find_sandbox()
print("begins", flush=True)
while True:
    sandbox.launch(["sleep", "60"], Path(sys.argv[1]), {}).kill()
"""


def left_of(family: list[int], seconds: float = 0.2) -> list[int]:
    """Return which of these processes are still there, once all that end by themselves have."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in family if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def alive(pid: int) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return fields[0] not in (b"Z", b"X")
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_what_a_kill_leaves_of_a_sandbox_is_ended(sandbox: Sandbox, tmp_path: Path) -> None:
    found = 0
    for attempt in range(200):
        starter = subprocess.Popen(
            [sys.executable, "-c", STARTER, str(tmp_path)], stdout=subprocess.PIPE
        )
        assert starter.stdout is not None
        starter.stdout.readline()
        deadline = time.monotonic() + 5
        while len(descendants(starter.pid)) < 3 and time.monotonic() < deadline:
            pass  # the outer and the inner process have just begun
        time.sleep(attempt * 1e-5)
        os.kill(starter.pid, signal.SIGSTOP)
        family = descendants(starter.pid)[1:]
        starter.kill()
        starter.wait()
        starter.stdout.close()
        if left_of(family):
            found += 1
            end_strays()
            assert left_of(family, PATIENCE) == []
        if found == 2:
            break
    assert found, "no kill met the short moment in which a stray is left"


def test_living_sandboxes_are_left_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    child = sandbox.launch(["sleep", "60"], tmp_path, {})
    try:
        family = descendants(child.process.pid)
        assert len(family) >= 2
        ended = end_strays()
        assert not set(ended) & set(family)
        assert all(alive(pid) for pid in family)
    finally:
        child.kill()


NAMELESS = """
import ctypes, sys
PR_SET_NAME = 15
ctypes.CDLL(None).prctl(PR_SET_NAME, b"\\xff\\x85:\\x0b(", 0, 0, 0)
print("named", flush=True)
sys.stdin.read()
"""


def test_a_bot_that_looks_like_a_sandbox_and_has_no_name_in_letters_is_left_alone(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """It would have kept every referee from starting, which looks for strays first."""
    tmp_path.chmod(0o755)
    (tmp_path / "bot.py").write_text(NAMELESS)
    child = sandbox.launch(["python3", "bot.py", "--hostname", "keltis"], tmp_path, {})
    try:
        read_until(child.stdout, "named")
        assert child.program() not in end_strays()
        assert alive(child.program())
    finally:
        child.kill()
