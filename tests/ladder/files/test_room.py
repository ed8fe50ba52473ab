"""Room on a disk is promised once: whoever comes later waits, or is told that there is none."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from keltis_ladder.files import room
from keltis_ladder.files.room import reserved, room_left, worth_waiting
from keltis_ladder.files.sizes import MIB
from keltis_ladder.match.faults import MachineFailed

DISK = 1000 * MIB
PATIENCE = 300.0

HOLDER = """
import sys
from pathlib import Path
from keltis_ladder.files.room import reserved
with reserved(Path(sys.argv[1]), int(sys.argv[2])):
    print("held", flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def _disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_free", lambda _: DISK)
    monkeypatch.setattr(room, "OF_RESULTS", 100 * MIB)
    monkeypatch.setattr(room, "LOOK", 0.01)


def test_what_is_promised_is_not_promised_again(tmp_path: Path) -> None:
    with reserved(tmp_path, 500 * MIB):
        assert room_left(tmp_path) == 500 * MIB
        with reserved(tmp_path, 400 * MIB):
            assert room_left(tmp_path) == 100 * MIB
            with (
                pytest.raises(MachineFailed, match="900 MiB of them are promised"),
                reserved(tmp_path, 100 * MIB, patience=0.0),
            ):
                pass
    assert room_left(tmp_path) == DISK
    assert list(tmp_path.iterdir()) == []


def test_the_room_for_results_is_never_promised(tmp_path: Path) -> None:
    with reserved(tmp_path, 900 * MIB):
        pass
    with (
        pytest.raises(MachineFailed, match="100 MiB are for results"),
        reserved(tmp_path, 900 * MIB + 1),
    ):
        pass


def test_who_needs_little_finds_it_on_a_disk_that_has_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_free", lambda _: 3 * MIB)
    with reserved(tmp_path, MIB):
        pass


def test_who_finds_too_little_waits_for_others(tmp_path: Path) -> None:
    waits, done = threading.Event(), threading.Event()

    def is_wanted() -> bool:
        waits.set()
        return True

    def wait() -> None:
        with reserved(tmp_path, 600 * MIB, is_wanted):
            done.set()

    with reserved(tmp_path, 500 * MIB):
        thread = threading.Thread(target=wait)
        thread.start()
        assert waits.wait(PATIENCE)
        assert not done.is_set()
    thread.join(PATIENCE)
    assert done.is_set()


def test_it_is_worth_waiting_only_for_what_others_give_back(tmp_path: Path) -> None:
    assert not worth_waiting(tmp_path, 10 * DISK)
    with reserved(tmp_path, 500 * MIB):
        assert worth_waiting(tmp_path, 500 * MIB)
        assert not worth_waiting(tmp_path, 300 * MIB)


def test_who_is_not_wanted_any_more_does_not_wait(tmp_path: Path) -> None:
    with (
        reserved(tmp_path, 900 * MIB),
        pytest.raises(MachineFailed, match="nobody waits"),
        reserved(tmp_path, 100 * MIB, is_wanted=lambda: False),
    ):
        pass


def test_other_processes_count_until_they_are_gone_however_they_end(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path), str(MIB)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert room_left(tmp_path) == DISK - MIB
        process.kill()
        process.wait()
    assert room_left(tmp_path) == DISK
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_cannot_be_used_is_the_machine_s_fault(tmp_path: Path) -> None:
    with pytest.raises(MachineFailed, match="cannot use the disk"), reserved(tmp_path / "gone", 1):
        pass
