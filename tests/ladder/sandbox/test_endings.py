"""How a bot ended is told truly: an exit code is a code, a signal is a signal, with and without it.

"It" is the sandbox: what happens in it is called by the same name as what happens outside.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_engine import find_variant
from keltis_ladder.files.sizes import MIB
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.excuses import MOST_EXCUSED, Excuses
from keltis_ladder.match.faults import Fault, InDoubt, PlatformFault
from keltis_ladder.programs.launchers import SandboxLauncher, make_launcher
from keltis_ladder.referee.bot_process import BotProcess
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox import sandbox as sandbox_module
from keltis_ladder.sandbox.cgroups import Groups, find_groups
from keltis_ladder.sandbox.child import CannotStart
from keltis_ladder.sandbox.init import init_program, read_ending
from keltis_ladder.sandbox.limits import PLAY
from keltis_ladder.sandbox.sandbox import Sandbox
from tests.ladder.support.boxes import PROBES, read_until, run, start_probe
from tests.ladder.support.build_init import COMPILERS, compile_init
from tests.ladder.support.small_bots import entrant, write_bot

CONTROL = TimeControl(bank_ms=60_000, increment_ms=100, start_ms=60_000)

ENDINGS = {
    "exit 0": ("os._exit(0)", "exit", "exit code 0"),
    "exit 1": ("os._exit(1)", "exit", "exit code 1"),
    "exit 128": ("os._exit(128)", "exit", "exit code 128"),
    "exit 130": ("os._exit(130)", "exit", "exit code 130"),
    "exit 137": ("os._exit(137)", "exit", "exit code 137"),
    "exit 139": ("os._exit(139)", "exit", "exit code 139"),
    "exit 255": ("os._exit(255)", "exit", "exit code 255"),
    "a true SIGSEGV": ("import ctypes; ctypes.string_at(0)", "signal", "killed by SIGSEGV"),
    "SIGKILL by itself": ("os.kill(os.getpid(), 9)", "signal", "killed by SIGKILL"),
    "SIGABRT": ("os.abort()", "signal", "killed by SIGABRT"),
    "SIGTERM to its group": ("os.kill(0, 15); time.sleep(60)", "signal", "killed by SIGTERM"),
}
CLOSES = "os.closerange(0, 2); time.sleep(600)"
EATS = "if os.path.exists('eat'): b'x' * (200 << 20)\nreturn request.legal[0]"
FORKS = "os.fork() or time.sleep(600); os._exit(255)"


@pytest.fixture(params=[True, False], ids=["sandbox", "plain"])
def referee(request: pytest.FixtureRequest) -> Iterator[Referee]:
    referee = Referee(make_launcher(request.param), CONTROL)
    yield referee
    referee.kill()


def fault_of(referee: Referee, entrant: Entrant, honest: Entrant) -> Fault:
    # Other tests have the kernel kill processes for their memory. Outside of a sandbox nobody can
    # tell whose death that was: the bot has used up the excuses that it gets for this.
    referee.excuses = Excuses({entrant.key: MOST_EXCUSED})
    game = referee.play_game(find_variant("weg-der-steine", {}), 1, [entrant, honest], 0)
    (loss,) = game.losses
    assert game.entrants[loss.seat] == 0
    return loss.fault


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("when", ["before hello", "in a game"])
def test_the_same_ending_has_the_same_name(
    referee: Referee, tmp_path: Path, name: str, when: str
) -> None:
    code, expected, words = ENDINGS[name]
    if when == "in a game":
        bot = write_bot(tmp_path / "bot", code)
    else:
        bot = write_bot(tmp_path / "bot", before=code)
    tmp_path.chmod(0o755)
    honest = write_bot(tmp_path / "honest")
    fault = fault_of(referee, entrant(bot), entrant(honest))
    assert (fault.kind, fault.code) == ("crash", expected)
    assert words in fault.text


def test_a_bot_that_closes_its_stdout_and_stays_is_seen_at_once(
    referee: Referee, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    bot, honest = write_bot(tmp_path / "bot", before=CLOSES), write_bot(tmp_path / "honest")
    fault = fault_of(referee, entrant(bot), entrant(honest))
    assert (fault.kind, fault.code) == ("crash", "closed-stdout")
    assert fault.text == "the bot closed its stdout and went on"


def test_the_sandbox_ends_with_the_program_whatever_its_children_hold(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    bot, honest = write_bot(tmp_path / "bot", FORKS), write_bot(tmp_path / "honest")
    referee = Referee(make_launcher(True), CONTROL)
    try:
        fault = fault_of(referee, entrant(bot), entrant(honest))
    finally:
        referee.kill()
    assert fault.text == "the bot ended in the middle of a game: exit code 255"


@pytest.mark.parametrize("program", ["no-such-program", "./missing", "/no/such/program"])
def test_a_missing_program_cannot_start(referee: Referee, tmp_path: Path, program: str) -> None:
    tmp_path.chmod(0o755)
    honest = write_bot(tmp_path / "honest")
    missing = Entrant("missing", "missing", (program,), honest)
    fault = fault_of(referee, missing, entrant(honest))
    assert (fault.kind, fault.code) == ("crash", "cannot-start")
    assert fault.text == f"cannot start {program!r}: there is no such program"


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        (b"#!/no/such/interpreter\n", 0o755, "there is no such program"),
        (b"\x7fELF and nothing else", 0o755, "Exec format error"),
        (b"#!/bin/sh\n", 0o644, "Permission denied"),
    ],
)
def test_a_program_that_cannot_be_executed_is_the_bots_fault(
    sandbox: Sandbox, tmp_path: Path, content: bytes, mode: int, reason: str
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "bot").write_bytes(content)
    (tmp_path / "bot").chmod(mode)
    failure = run(sandbox, ["./bot"], home=tmp_path).exit.failure
    assert failure is not None
    assert not failure.of_platform
    assert str(failure) == f"cannot start './bot': {reason}"


def test_a_program_is_found_along_the_path(sandbox: Sandbox) -> None:
    outcome = run(sandbox, ["echo", "found"], environment={"PATH": "/no/such:/dev/null:/usr/bin"})
    assert (outcome.out, outcome.exit.code) == ("found\n", 0)
    outcome = run(sandbox, ["echo"], environment={"PATH": "/no/such"})
    assert outcome.exit.failure is not None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP])
def test_nobody_inside_can_end_the_init_or_speak_for_it(sandbox: Sandbox, number: int) -> None:
    code = (
        "import os, sys\n"
        f"try: os.kill(1, {number})\n"
        "except PermissionError: pass\n"
        "for fd in range(3, 256):\n"
        "    try: os.write(fd, b'e' + bytes(4))\n"
        "    except OSError: continue\n"
        "    sys.exit('wrote')\n"
        "os._exit(200)\n"
    )
    outcome = run(sandbox, ["python3", "-c", code])
    assert (outcome.exit.code, outcome.err) == (200, "")


def test_orphans_are_buried(sandbox: Sandbox) -> None:
    code = (
        "import os, sys, time\n"
        "for _ in range(300):\n"
        "    if os.fork() == 0:\n"
        "        os.fork()\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "print('done', flush=True); sys.stdin.read()\n"
    )
    outcome = run(sandbox, ["python3", "-c", code])  # the limit is 64 processes
    assert (outcome.out, outcome.exit.code) == ("done\n", 0), outcome.err


def test_the_init_has_no_capabilities_left(sandbox: Sandbox) -> None:
    child = start_probe(sandbox, "family")
    try:
        while not child.wait(0.01) and len(child.members()) < 4:
            pass
        status = Path(f"/proc/{child.root}/status").read_text()
        held = [line for line in status.splitlines() if line.startswith(("CapEff", "CapPrm"))]
        assert [line.split()[1].strip("0") for line in held] == ["", ""]
    finally:
        child.kill()


def test_an_init_that_was_killed_says_nothing() -> None:
    assert read_ending(b"", "bot") is None
    assert read_ending(b"r\0\0\0\0", "bot") is None


def test_nobody_is_blamed_for_being_killed_from_outside(sandbox: Sandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    bot, honest = write_bot(tmp_path / "bot"), write_bot(tmp_path / "honest")
    ruleset, entrants = find_variant("weg-der-steine", {}), [entrant(bot), entrant(honest)]
    referee = Referee(make_launcher(True), CONTROL)
    try:
        assert referee.play_game(ruleset, 1, entrants, 0).losses == []
        for _, process in referee.slots():
            os.kill(process.child.root, signal.SIGKILL)
        with pytest.raises(PlatformFault, match="outside of its sandbox"):
            referee.play_match(ruleset, 2, entrants)
        assert all(not game.losses for game in referee.play_match(ruleset, 3, entrants).games)
    finally:
        referee.kill()


@contextmanager
def crowded(process: BotProcess) -> Iterator[None]:
    """Have a bot share its memory with others that left it 64 MiB, far less than it may use."""
    group = find_groups().create(replace(PLAY, memory=32 * MIB, scratch=32 * MIB))
    if group is None or group.memory is None:
        pytest.skip("no control groups that limit memory")
    try:
        for pid in process.child.members():
            (group.memory / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        group.kill()
        group.remove()


@pytest.mark.parametrize("excused", [0, 1, 2])
def test_without_a_group_a_bot_that_died_when_memory_ran_out_is_believed_twice_in_a_row(
    sandbox: Sandbox, tmp_path: Path, excused: int
) -> None:
    bases = [base for base in sandbox.groups.bases if "memory" not in base.controllers]
    plain = Sandbox(Groups(bases), sandbox.bubblewrap, sandbox.mount, sandbox.setpriv)
    tmp_path.chmod(0o755)
    bot = write_bot(tmp_path / "bot", EATS)
    hungry, honest = entrant(bot), entrant(write_bot(tmp_path / "honest"))
    ruleset = find_variant("weg-der-steine", {})
    referee = Referee(SandboxLauncher(plain), CONTROL)
    try:
        assert referee.play_game(ruleset, 1, [hungry, honest], 0).losses == []
        (process,) = [process for slot, process in referee.slots() if slot[0] == hungry.key]
        referee.excuses = Excuses({hungry.key: excused})
        (bot / "eat").touch()
        with crowded(process):
            if excused < MOST_EXCUSED:
                with pytest.raises(InDoubt, match="failed while the machine had too little memory"):
                    referee.play_match(ruleset, 2, [hungry, honest])
            else:
                (loss,) = referee.play_game(ruleset, 2, [hungry, honest], 0).losses
                assert loss.fault.code == "signal"
                assert "killed by SIGKILL" in loss.fault.text
    finally:
        referee.kill()


@pytest.mark.parametrize("said", [b"f\x0b\0\0\0", b"e\0\x01\0\0"])
def test_what_fails_before_the_program_is_tried_is_the_platforms(said: bytes) -> None:
    ending = read_ending(said, "bot")
    assert ending is not None
    failure = ending[2]
    assert failure is not None
    assert failure.of_platform


def test_a_sandbox_that_cannot_give_up_its_privileges_is_the_platforms(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    class Broken:
        def start(self, *_: object) -> object:
            broken = Sandbox(sandbox.groups, sandbox.bubblewrap, sandbox.mount, "/bin/false")
            return broken.launch(["true"], PROBES, {})

    referee = Referee(Broken(), CONTROL)  # type: ignore[arg-type]
    bots = [entrant(write_bot(tmp_path / name)) for name in ("one", "two")]
    with pytest.raises(PlatformFault, match="gives up the privileges"):
        referee.play_game(find_variant("weg-der-steine", {}), 1, bots, 0)


def test_the_programs_are_what_the_source_says(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Freshly compiled, it behaves as the one that is kept."""
    compiler = COMPILERS[platform.machine()]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    fresh = compile_init(compiler)
    assert fresh[:4] == init_program()[:4] == b"\x7fELF"
    assert len(fresh) < 4096
    monkeypatch.setattr(sandbox_module, "init_program", lambda: fresh)
    assert run(sandbox, ["sh", "-c", "exit 255"]).exit.code == 255
    assert run(sandbox, ["sh", "-c", "kill -SEGV $$"]).exit.signal == signal.SIGSEGV
    assert run(sandbox, ["./missing"]).exit.failure is not None


def test_a_lack_of_descriptors_is_the_platforms_and_leaks_none(sandbox: Sandbox) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    free = os.dup(0)
    os.close(free)
    blamed: list[bool] = []
    for more in range(1, 34):  # pipes, bubblewrap's own, and those of the program
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + more, hard))
        try:
            child = sandbox.launch(["true"], PROBES, {})
        except CannotStart as error:
            blamed.append(error.of_platform)
        else:
            child.kill()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert len(blamed) > 10
    assert all(blamed)


def test_a_program_whose_first_thread_ended_is_neither_ending_nor_without_memory(
    sandbox: Sandbox,
) -> None:
    child = start_probe(sandbox, "headless")
    try:
        assert read_until(child.stdout, "alone") == "alone"
        assert not child.wait_if_ending()
        assert child.usage().memory > 100 * MIB
    finally:
        child.kill()
