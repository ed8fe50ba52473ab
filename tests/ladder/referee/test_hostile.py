"""Real hostile bots in the real sandbox: the right fault for the right bot, nobody else hurt."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from keltis_engine import find_variant
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.programs.launchers import SandboxLauncher
from keltis_ladder.referee.bot_process import LOG_KEPT
from keltis_ladder.sandbox.sandbox import SandboxMissing, find_sandbox
from keltis_ladder.sandbox.seccomp import filter_program
from tests.ladder.support.arena import DEAL, HOSTILE, SHORT, arena, losses_of

try:
    find_sandbox()
    MISSING = ""
except SandboxMissing as error:
    MISSING = str(error)

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

PATIENT = TimeControl(bank_ms=8000, increment_ms=50, start_ms=5000)
IMPATIENT = TimeControl(bank_ms=400, increment_ms=30, start_ms=800)

FAULTS = {
    "memory_bomb": {"resources/memory"},
    "shared_memory_bomb": {"resources/memory"},
    "stdout_flood": {"protocol/trailing-bytes"},
    "half_a_frame": {"timeout/clock"},
    "byte_by_byte": {"timeout/clock"},
    "oversize": {"protocol/oversize"},
    "nested": {"protocol/not-msgpack"},
    "deep": {"protocol/wrong-type"},
    # A guess that comes just after the request is an answer, and a wrong one.
    "early": {"protocol/extra-reply", "illegal/not-legal"},
    "duplicate": {"protocol/extra-reply"},
    "late": {"timeout/clock"},
    "wrong_id": {"protocol/wrong-id"},
    "not_a_number": {"protocol/bad-field"},
    "wrong_types": {"protocol/bad-field"},
    "illegal": {"illegal/not-legal"},
    "no_prefix": {"protocol/no-length-prefix"},
    "prints": {"protocol/text-on-stdout"},
    "closes_stdout": {"crash/closed-stdout"},
    "closes_stdin": {"crash/closed-stdin"},
    "exits": {"crash/exit"},
    "dies": {"crash/signal"},
    "never_starts": {"timeout/start"},
    "ignores_signals": {"timeout/clock"},
}
DENIED = ["fork_bomb", "disk_fill", "inode_fill", "network", "attacker", "spy"]


def files_of_bots() -> set[Path]:
    """Return what is in their directory; bytecode of those outside does not count."""
    return {*HOSTILE.iterdir()} - {HOSTILE / "__pycache__"}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_recorded_for_the_bot_that_committed_it(name: str) -> None:
    control = PATIENT if "memory" in name else IMPATIENT if name == "never_starts" else SHORT
    with arena(control) as ring:
        hostile, honest = ring.bot(name), ring.bot("honest")
        files = files_of_bots()
        result = ring.play(hostile, honest)
        losses = losses_of(result, 0)
        assert len(losses) == 2, "it loses every game of the match"
        for loss in losses:
            assert f"{loss.fault.kind}/{loss.fault.code}" in FAULTS[name], loss.fault
            assert loss.card["bot"] == name
            assert loss.card["fault"]["text"] == loss.fault.text
        assert losses_of(result, 1) == []
        assert result.ranks == [2, 1]
        assert result.shares == [0, 2]
        # The referee goes on, with the same opponent.
        assert losses_of(ring.play(honest, ring.bot("thoughtful"), seed=7), 0) == []
        ring.referee.close()
        assert ring.running() == []
        assert files_of_bots() == files
        assert " /bot " not in Path("/proc/self/mounts").read_text()


@pytest.mark.parametrize("name", DENIED)
def test_an_attack_is_denied_and_the_game_goes_on(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the other bot's plans")
    secret.chmod(0o644)
    os.environ["KELTIS_TEST_SECRET"] = "do not tell"
    with arena(PATIENT) as ring:
        result = ring.play(ring.bot(name, str(secret), __file__), ring.bot("honest"))
        log = ring.logs[name]
        assert "DENIED" in log
        assert "BREACH" not in log
        assert losses_of(result, 0) == losses_of(result, 1) == []
        ring.referee.close()
        assert ring.running() == []


def test_a_flooded_log_is_cut_and_blocks_nobody() -> None:
    with arena(PATIENT) as ring:
        result = ring.play(ring.bot("stderr_flood"), ring.bot("honest"))
        assert losses_of(result, 0) == losses_of(result, 1) == []
        floods = [process for slot, process in ring.referee.slots() if slot[0] == "stderr_flood"]
        assert all(process.log_bytes > 10_000_000 for process in floods)
        assert all(len(process.log) <= LOG_KEPT for process in floods)


def test_a_process_in_the_background_ends_with_its_bot() -> None:
    with arena() as ring:
        result = ring.play(ring.bot("daemon"), ring.bot("honest"))
        assert losses_of(result, 0) == []
        assert len(ring.running()) > 4, "the daemons are there while their bots are"
        ring.referee.close()
        assert ring.running() == []


@pytest.mark.parametrize("name", ["restless", "restless_child"])
def test_computing_out_of_turn_gains_nothing(name: str) -> None:
    with arena(PATIENT) as ring:
        result = ring.play(ring.bot(name), ring.bot("thoughtful"), variant="weg-der-steine")
        assert losses_of(result, 0) == losses_of(result, 1) == []
        for (key, _, rotation), process in ring.referee.slots():
            if key != name:
                continue
            game = result.games[rotation]
            own, other = game.times[game.entrants.index(0)], game.times[game.entrants.index(1)]
            assert other.wall > 0.3, "its opponent takes its time"
            # Left alone it would get half of the core while the other one thinks.
            start_up = 0.1
            assert process.child.usage().cpu < own.wall + start_up + 0.25 * other.wall
            assert process.child.paused


def test_a_deal_is_not_remembered() -> None:
    with arena(PATIENT) as ring:
        for seed in (1, 2):
            ring.play(ring.bot("remembers"), ring.bot("honest"), seed=seed)
        assert "MARK" in ring.logs["remembers"]
        assert "BREACH" not in ring.logs["remembers"]


def test_a_process_leaves_no_message_in_the_kernel_for_the_next_rotation() -> None:
    with arena(PATIENT) as ring:
        for seed in (1, 2):
            result = ring.play(ring.bot("whispers"), ring.bot("honest"), seed=seed)
            assert losses_of(result, 0) == losses_of(result, 1) == []
        lines = ring.logs["whispers"].splitlines()
        assert [line for line in lines if line.startswith("BREACH")] == []
        assert len({line.partition(":")[0] for line in lines if line.startswith("DENIED")}) > 55


def test_the_bot_that_whispers_would_be_heard_if_nobody_filtered() -> None:
    with arena(PATIENT) as ring:
        assert isinstance(ring.referee.launcher, SandboxLauncher)
        sandbox = ring.referee.launcher.sandbox
        filtered = sandbox._profile(building=False)
        sandbox._profiles[False] = replace(filtered, filter=filter_program(()))
        ring.play(ring.bot("whispers"), ring.bot("honest"))
        lines = ring.logs["whispers"].splitlines()
        heard = {line.split(maxsplit=1)[1] for line in lines if line.startswith("BREACH")}
        assert {"io_setup", "mincore", "SO_COOKIE", "flock", "statx", "sysinfo"} <= heard
        assert {"madvise WILLNEED", "pidfd_open", "preadv2", "SO_ATTACH_FILTER"} <= heard


def test_the_bot_that_remembers_would_be_caught_if_it_could() -> None:
    """The same process plays a deal twice, as a careless referee would have it."""
    with arena(PATIENT) as ring:
        entrants = [ring.bot("remembers"), ring.bot("honest")]
        for _ in range(2):
            ring.referee.play_game(find_variant("keltis", {}), DEAL, entrants, 0)
        logs = [process.log_text() for slot, process in ring.referee.slots()]
        assert any("BREACH remembered by memory" in log for log in logs)
