"""Run small programs in the sandbox and look at how they end; used as a script by other users too.

It needs nothing but the standard library and the ladder's own modules, so that a user who has no
test runner can run it: see ``test_sandbox_user.py``.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from keltis_ladder.files.trees import discard
from keltis_ladder.programs.builds import BuildFailed, build
from keltis_ladder.programs.staging import stage
from keltis_ladder.sandbox.child import Child, Exit
from keltis_ladder.sandbox.limits import PLAY, Limits
from keltis_ladder.sandbox.sandbox import Sandbox, find_sandbox
from tests.places import ROOT

PROBES = ROOT / "tests/ladder/probes"
PATIENCE = 300.0


@dataclass(frozen=True)
class Outcome:
    out: str
    err: str
    exit: Exit


def probe(sandbox: Sandbox, name: str, *arguments: str, limits: Limits = PLAY) -> Outcome:
    """Run a program of ``probes/`` to its end."""
    return run(sandbox, ["python3", f"{name}.py", *arguments], limits=limits)


def run(
    sandbox: Sandbox,
    command: Sequence[str],
    home: Path = PROBES,
    environment: dict[str, str] | None = None,
    limits: Limits = PLAY,
    cpu: int | None = None,
) -> Outcome:
    """Run a program to its end, or kill it when it takes too long."""
    child = sandbox.launch(command, home, environment or {}, limits, cpu=cpu)
    try:
        child.hang_up()
        out = read_until(child.stdout, None)
        err = read_until(child.stderr, None)
        child.wait(PATIENCE)
    finally:
        ended = child.kill()
    return Outcome(out, err, ended)


def read_until(fd: int, end: str | None) -> str:
    """Read until a text comes, or until the end of the pipe."""
    deadline = time.monotonic() + PATIENCE
    got = b""
    while end is None or end.encode() not in got:
        if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError(f"no end after {got!r}")
        chunk = os.read(fd, 65536)
        if not chunk:
            break
        got += chunk
    return got.decode()


def silent_for(fd: int, seconds: float) -> bool:
    """Return whether nothing comes from a pipe for some time."""
    return not select.select([fd], [], [], seconds)[0]


def drain(fd: int) -> None:
    """Read what is in a pipe now."""
    while select.select([fd], [], [], 0)[0] and os.read(fd, 65536):
        pass


def alive(pids: Sequence[int]) -> list[int]:
    """Return those of some processes that still live; one that nobody waited for does not."""
    return [pid for pid in pids if state_of(pid) not in ("", "Z")]


def state_of(pid: int) -> str:
    """Return the letter for what a process does, or nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def mounts_of(pid: int | str) -> str:
    return Path(f"/proc/{pid}/mountinfo").read_text()


def start_probe(sandbox: Sandbox, name: str, *arguments: str, limits: Limits = PLAY) -> Child:
    return sandbox.launch(["python3", f"{name}.py", *arguments], PROBES, {}, limits)


def main() -> None:
    """Run the probes named as arguments and print their outcomes as JSON."""
    sandbox = find_sandbox()
    outcomes: dict[str, object] = {"groups": len(sandbox.groups.bases), "user": os.geteuid()}
    for name in sys.argv[1:]:
        outcome = probe(sandbox, name)
        outcomes[name] = {"out": outcome.out, "err": outcome.err, "code": outcome.exit.code}
    with tempfile.TemporaryDirectory() as closed:  # to all others
        bot = Path(closed, "bot")
        bot.mkdir()
        (bot / "words").write_text("ahoy")
        outcomes["closed"] = run(sandbox, ["cat", "words"], home=bot).out
    child = start_probe(sandbox, "family")
    read_until(child.stdout, "ready")
    family = child.members()
    child.pause()
    drain(child.stdout)
    outcomes["paused"] = silent_for(child.stdout, 0.1)
    child.kill()
    outcomes["family"] = len(family)
    outcomes["left"] = len(alive(family))
    few = replace(PLAY, processes=20, scratch_files=50)
    bombs = [start_probe(sandbox, "fork_bomb", limits=few) for _ in range(2)]
    outcomes["forks"] = [read_until(bomb.stdout, "\n").split()[0] for bomb in bombs]
    for bomb in bombs:
        bomb.kill()
    outcomes["files"] = probe(sandbox, "fill", "files", limits=few).out.split()[0]
    with tempfile.TemporaryDirectory() as place:
        outcomes["built"] = builds(sandbox, Path(place))
    print(json.dumps(outcomes))


def builds(sandbox: Sandbox, place: Path) -> dict[str, str]:
    """Build a bot, and have builds forge what comes out; return what became of each."""
    forging = "import os; stream = open(f'/proc/{os.getppid()}/fd/1', 'wb');"
    code = {
        "good": "open('made', 'w').close()",
        "noise": f"{forging} stream.write(b'x' * 9999)",
        "left running": "import os\nif not os.fork():\n while 1: open('a', 'a').write('x')",
    }
    (place / "source").mkdir()
    (place / "source" / "bot.py").write_text("print()")
    found = {}
    for name, text in code.items():
        staged = stage(place / "source", place / name)
        try:
            built = build(staged, ["python3", "-c", text], sandbox, lambda _: None)
            found[name] = " ".join(sorted(path.name for path in built.directory.iterdir()))
            discard(built.directory)
        except BuildFailed as error:
            found[name] = error.reason
    found["left"] = " ".join(path.name for path in place.iterdir())
    return found


def as_another_user(command: Sequence[str], environment: dict[str, str]) -> str:
    """Run a command as the user nobody."""
    drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
    ran = subprocess.run(
        [*drop, *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


if __name__ == "__main__":
    main()
