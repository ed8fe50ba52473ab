"""The last words of a program that timed out are heard by its clock, not by the one on the wall."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

import pytest

from keltis_ladder.referee.last_words import LONGEST_SECONDS, SILENCE_SECONDS, hear_out

WORDS = [b"It ", b"hangs ", b"here"]
FOREVER = float("inf")


class Program:
    """A program as the referee sees it: a log, and something that is readable when it has ended."""

    def __init__(self) -> None:
        self.log, self._stderr = os.pipe()
        self.ended, self._life = os.pipe()
        self.heard = b""
        self._descriptors = [self.log, self._stderr, self.ended, self._life]

    def read(self) -> bool:
        """Take what it has written."""
        data = os.read(self.log, 100)
        self.heard += data
        return bool(data)

    def say(self, words: list[bytes], pause: float) -> None:
        """Write words with pauses, then end."""
        for word in words:
            time.sleep(pause)
            os.write(self._stderr, word)
        os.write(self._life, b".")

    def close(self) -> None:
        """Let go of all."""
        for fd in self._descriptors:
            with suppress(OSError):
                os.close(fd)


@pytest.fixture
def program() -> Iterator[Program]:
    made = Program()
    yield made
    made.close()


def test_whom_the_machine_keeps_waiting_is_heard_out(program: Program) -> None:
    slow = Thread(target=program.say, args=(WORDS, 0.4))
    slow.start()
    hear_out(program.ended, program.log, lambda: 0.0, program.read, FOREVER)
    slow.join()
    assert program.heard == b"It hangs here"


def test_who_has_a_core_and_says_nothing_is_not_waited_for(program: Program) -> None:
    hear_out(program.ended, program.log, time.monotonic, program.read, FOREVER)
    assert program.heard == b""


def test_a_pause_on_its_clock_ends_its_message(program: Program) -> None:
    program.say(WORDS[:1], 0.0)
    os.read(program.ended, 1)  # it goes on
    clock = iter([5.0, 5.0, 5.0, 5.0 + SILENCE_SECONDS])
    hear_out(program.ended, program.log, lambda: next(clock), program.read, FOREVER)
    assert program.heard == b"It "
    assert next(clock, None) is None


def test_nobody_is_waited_for_for_ever(program: Program) -> None:
    hear_out(program.ended, program.log, lambda: 0.0, program.read, 0.1)
    assert LONGEST_SECONDS < 60.0, "a referee that says nothing for longer counts as hung"


def test_who_closes_the_log_has_said_all(program: Program) -> None:
    os.close(program._stderr)
    hear_out(program.ended, program.log, lambda: 0.0, program.read, FOREVER)
