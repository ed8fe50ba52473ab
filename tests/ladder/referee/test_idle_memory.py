"""Bots between games: what they hold is bounded, and nobody pays for what another holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keltis_engine import find_variant
from keltis_ladder.files.sizes import MIB
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.programs.launchers import SandboxLauncher, make_launcher
from keltis_ladder.referee.bot_process import BotProcess
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox.cgroups import ALL_BOTS, Base, Groups, available_memory, find_groups
from keltis_ladder.sandbox.limits import memory_of_bots
from keltis_ladder.sandbox.sandbox import Sandbox, SandboxMissing, find_sandbox
from keltis_ladder.sandbox.shares import share_of_table
from tests.ladder.support.small_bots import entrant, write_bot

CONTROL = TimeControl(bank_ms=60_000, increment_ms=100, start_ms=60_000)
RULESET = find_variant("weg-der-steine", {})
HOARDS = "global kept\nif asked == 1: kept = b'x' * ({mib} << 20)\nreturn request.legal[0]"
EATS = "if os.path.exists('eat'): b'x' * (400 << 20)\nreturn request.legal[0]"


@pytest.fixture(params=[True, False], ids=["sandbox", "plain"])
def referee(request: pytest.FixtureRequest) -> Iterator[Referee]:
    try:
        made = Referee(make_launcher(request.param), CONTROL, idle_bytes=250 * MIB)
    except SandboxMissing as missing:
        pytest.skip(str(missing))
    yield made
    made.kill()


def kept(referee: Referee) -> dict[tuple[str, int], BotProcess]:
    """Return the processes that wait for their next game, by bot and rotation."""
    return {(Path(slot[0]).name, slot[2]): process for slot, process in referee.slots()}


def test_the_largest_processes_that_wait_are_ended_first(referee: Referee, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    large = entrant(write_bot(tmp_path / "large", HOARDS.format(mib=150)))
    small = entrant(write_bot(tmp_path / "small"))
    result = referee.play_match(RULESET, 1, [small, large])
    assert [game.losses for game in result.games] == [[], []]
    before = kept(referee)
    # Two of the large ones are more than the budget; the other process is small, if older.
    assert {bot for bot, _ in before} == {"small", "large"}
    assert {("small", 0), ("small", 1)} <= set(before)
    assert len(before) == 3
    assert referee.largest_idle.keys() == {large.key}
    assert sum(process.held().memory for process in before.values()) <= 250 * MIB
    result = referee.play_match(RULESET, 2, [small, large])
    assert [game.losses for game in result.games] == [[], []], "it is no fault to be ended"
    after = kept(referee)
    assert after["small", 0] is before["small", 0]
    assert after["small", 0].games == 2
    assert len(after) == 3


def test_without_need_nobody_is_ended(referee: Referee, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    bots = [entrant(write_bot(tmp_path / name)) for name in ("one", "two")]
    referee.play_match(RULESET, 1, bots)
    first = kept(referee)
    referee.play_match(RULESET, 2, bots)
    assert kept(referee) == first
    assert referee.largest_idle == {}


def test_those_that_are_ended_for_what_they_hold_do_not_run_once_more(
    referee: Referee, tmp_path: Path
) -> None:
    """Many together could take more than there is, while others play."""
    tmp_path.chmod(0o755)
    last_words = "import atexit, pathlib\natexit.register(pathlib.Path('left').touch)"
    bot = write_bot(tmp_path / "large", HOARDS.format(mib=300), last_words)
    bots = [entrant(bot), entrant(write_bot(tmp_path / "small"))]
    assert referee.play_game(RULESET, 1, bots, 0).losses == []
    referee._end_largest()
    assert {name for name, _ in kept(referee)} == {"small"}
    assert not (bot / "left").exists()


def test_those_with_most_threads_are_ended_first(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    rests = "threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()"
    threads = f"import threading\nfor _ in range(30): {rests}"
    bots = [
        entrant(write_bot(tmp_path / "many", before=threads)),
        entrant(write_bot(tmp_path / "few")),
    ]
    with crowd(mib=1000) as (sandbox, _):
        referee = Referee(SandboxLauncher(sandbox), CONTROL, idle_tasks=60)
        try:
            result = referee.play_match(RULESET, 1, bots)
            assert [game.losses for game in result.games] == [[], []]
            left = kept(referee)
            assert sorted(name for name, _ in left) == ["few", "few", "many"]
            assert sum(process.held().tasks for process in left.values()) <= 60
        finally:
            referee.kill()


@contextmanager
def crowd(mib: int) -> Iterator[tuple[Sandbox, Path]]:
    """Give a sandbox whose groups have this much memory all together, and where that is said."""
    try:
        sandbox = find_sandbox()
    except SandboxMissing as missing:
        pytest.skip(str(missing))
    bases = find_groups().bases
    memory = next((base for base in bases if "memory" in base.controllers), None)
    if memory is None:
        pytest.skip("no control groups that limit memory")
    parent = memory.directory / f"keltis-{os.getpid()}-crowd-{mib}"
    parent.mkdir()
    try:
        if memory.version == 2:
            (parent / "cgroup.subtree_control").write_text("+memory +pids")
        limit = parent / ("memory.max" if memory.version == 2 else "memory.limit_in_bytes")
        limit.write_text(str(mib * MIB))
        inner = [Base(parent, memory.version, memory.controllers)]
        groups = Groups(inner + [base for base in bases if base is not memory])
        yield Sandbox(groups, sandbox.bubblewrap, sandbox.mount, sandbox.setpriv), limit
    finally:
        parent.rmdir()


def test_a_bot_that_was_killed_for_what_others_hold_is_not_blamed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    bot = write_bot(tmp_path / "bot", EATS)
    bots = [entrant(bot), entrant(write_bot(tmp_path / "honest"))]
    with crowd(mib=200) as (sandbox, _):
        referee = Referee(SandboxLauncher(sandbox), CONTROL)
        try:
            assert referee.play_game(RULESET, 1, bots, 0).losses == []
            (bot / "eat").touch()
            with pytest.raises(PlatformFault, match="the machine had too little memory"):
                referee.play_match(RULESET, 2, bots)
            (bot / "eat").unlink()
            assert [game.losses for game in referee.play_match(RULESET, 2, bots).games] == [[], []]
        finally:
            referee.kill()


def test_bots_that_use_all_they_may_cannot_bring_about_a_fault_of_the_platform(
    tmp_path: Path,
) -> None:
    """Four of one author could otherwise abort each match that one of them loses."""
    tmp_path.chmod(0o755)
    greedy = [entrant(write_bot(tmp_path / f"bot{n}", HOARDS.format(mib=70))) for n in range(3)]
    eats = write_bot(tmp_path / "eats", EATS)
    (eats / "eat").touch()
    budget = 600 * MIB
    share = share_of_table(budget * 8 // 3, 1, 0)  # of which bots have so much
    assert memory_of_bots(budget * 8 // 3) == budget
    with crowd(mib=budget // MIB) as (sandbox, _):
        referee = Referee(SandboxLauncher(sandbox), CONTROL, share.limits, share.idle)
        try:
            result = referee.play_match(RULESET, 1, [*greedy, entrant(eats)])
            for game in result.games:
                (loss,) = game.losses
                assert game.entrants[loss.seat] == len(greedy)
                assert (loss.fault.kind, loss.fault.code) == ("resources", "memory")
        finally:
            referee.kill()


def test_a_waiting_process_that_was_killed_for_others_is_replaced(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    large = entrant(write_bot(tmp_path / "large", HOARDS.format(mib=150)))
    hungry = write_bot(tmp_path / "hungry", EATS.replace("400", "100"))
    honest = entrant(write_bot(tmp_path / "honest"))
    with crowd(mib=260) as (sandbox, _):
        referee = Referee(SandboxLauncher(sandbox), CONTROL)
        try:
            assert referee.play_game(RULESET, 1, [large, honest], 0).losses == []
            before = kept(referee)["large", 0]
            (hungry / "eat").touch()
            # It takes what the large one holds, which is frozen, and the kernel ends that one.
            assert referee.play_game(RULESET, 1, [entrant(hungry), honest], 0).losses == []
            assert before.was_lost
            assert referee.play_game(RULESET, 2, [large, honest], 0).losses == []
            assert kept(referee)["large", 0] is not before
        finally:
            referee.kill()


def test_all_sandboxes_are_in_one_group_with_a_limit_of_its_own() -> None:
    memory = [base for base in find_groups().bases if "memory" in base.controllers]
    if not memory:
        pytest.skip("no control groups that limit memory")
    (base,) = memory
    assert base.directory.name == ALL_BOTS
    name = "memory.max" if base.version == 2 else "memory.limit_in_bytes"
    assert 0 < int((base.directory / name).read_text()) < available_memory()
