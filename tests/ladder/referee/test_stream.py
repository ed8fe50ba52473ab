"""What a referee tells goes out in order and complete, in time, and never makes it wait."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from typing import Any

import msgpack
import pytest

from keltis_bots.framing import LENGTH, PREFIX
from keltis_ladder.match.faults import Fault, Kind
from keltis_ladder.referee.stream import QUIET_SECONDS, SIGN_OF_LIFE, Outlet, Stream
from keltis_ladder.spectate.batches import (
    Batch,
    BatchWriter,
    Decided,
    Decision,
    Dropped,
    Ended,
    batch_from_plain,
)

FAULT = Fault(Kind.ILLEGAL, "not-legal", "the bot chose 7; the legal actions were 1 (lay R1)")


class Pipe:
    """The smallest pipe that there is, and what has been read from it."""

    def __init__(self) -> None:
        self.source, self.target = os.pipe()
        fcntl.fcntl(self.target, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(self.source, False)
        self._data = b""

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages that are there now."""
        try:
            while data := os.read(self.source, 1 << 16):
                self._data += data
        except BlockingIOError:
            pass
        found = []
        while len(self._data) >= PREFIX:
            end = PREFIX + LENGTH.unpack_from(self._data)[0]
            if len(self._data) < end:
                break
            found.append(msgpack.unpackb(self._data[PREFIX:end]))
            self._data = self._data[end:]
        return found

    def batches(self) -> list[Batch]:
        return [batch_from_plain(message["entries"]) for message in self.messages()]


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    os.close(made.source)
    os.close(made.target)


def test_a_batch_is_read_as_it_was_written() -> None:
    writer = BatchWriter()
    assert not writer
    writer.decided(0, 1, 290, 0)
    writer.decided(0, 2, 3, 123_456_789)
    writer.dropped(0, 2, FAULT)
    writer.decided(0, 0, 5, 17)
    writer.ended(0)
    writer.decided(1, 0, 5, 17)
    assert writer
    assert batch_from_plain(msgpack.unpackb(msgpack.packb(writer.take()))) == (
        Decided(0, (Decision(1, 290, 0), Decision(2, 3, 123_456_789))),
        Dropped(0, 2, Kind.ILLEGAL, "not-legal"),
        Decided(0, (Decision(0, 5, 17),)),
        Ended(0),
        Decided(1, (Decision(0, 5, 17),)),
    )
    assert not writer
    writer.decided(1, 1, 6, 1)
    assert batch_from_plain(writer.take()) == (Decided(1, (Decision(1, 6, 1),)),)


def test_a_batch_with_something_unknown_is_refused() -> None:
    with pytest.raises(ValueError, match="a batch holds 'undone'"):
        batch_from_plain([["undone", 0]])


def test_a_fault_is_told_without_words_that_show_a_hand(pipe: Pipe) -> None:
    stream = Stream(Outlet(pipe.target))
    stream.begin("a")
    stream.dropped(0, 1, FAULT)
    (message,) = pipe.messages()
    assert message["entries"] == [["dropped", 0, 1, "illegal", "not-legal"]]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still unless it is moved."""
    clock = Clock()
    monkeypatch.setattr("keltis_ladder.referee.stream._now", clock)
    return clock


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def test_the_first_decision_goes_out_at_once_and_quick_ones_after_it_together(
    pipe: Pipe, clock: Clock
) -> None:
    stream = Stream(Outlet(pipe.target))
    stream.begin("a")
    stream.decided(0, 0, 1, 10)
    assert pipe.batches() == [(Decided(0, (Decision(0, 1, 10),)),)]
    for action in range(2, 50):
        clock.at += QUIET_SECONDS / 50
        stream.decided(0, 0, action, 10)
    assert pipe.messages() == []
    stream.waiting()
    rest = [decision.action for batch in pipe.batches() for decision in decisions(batch)]
    assert rest == list(range(2, 50))


def test_a_decision_after_a_silence_goes_out_at_once(pipe: Pipe, clock: Clock) -> None:
    stream = Stream(Outlet(pipe.target))
    stream.begin("a")
    stream.decided(0, 0, 1, 10)
    clock.at += 1.5 * QUIET_SECONDS
    stream.decided(0, 0, 2, 10)
    assert len(pipe.messages()) == 2


def test_waiting_gives_a_sign_of_life_only_after_a_silence(pipe: Pipe, clock: Clock) -> None:
    stream = Stream(Outlet(pipe.target))
    stream.begin("a")
    stream.decided(0, 0, 1, 10)
    assert len(pipe.messages()) == 1
    stream.waiting()
    assert pipe.messages() == []
    clock.at += 1.1 * SIGN_OF_LIFE
    stream.waiting()
    assert pipe.messages() == [{"kind": "batch", "id": "a", "entries": []}]


def test_what_was_not_sent_goes_out_with_the_result_and_not_into_the_next_match(pipe: Pipe) -> None:
    outlet = Outlet(pipe.target)
    stream = Stream(outlet)
    stream.begin("a")
    stream.decided(0, 0, 1, 10)
    stream.ended(0)
    outlet.deliver(stream.rest())
    assert stream.rest() == b""
    assert [message["entries"][-1] for message in pipe.messages()] == [
        ["decided", 0, [0, 1, 10]],
        ["ended", 0],
    ]
    stream.ended(1)
    stream.begin("b")
    assert stream.rest() == b""


def test_a_reader_that_does_not_read_is_not_waited_for_and_misses_nothing(pipe: Pipe) -> None:
    outlet = Outlet(pipe.target)
    stream = Stream(outlet)
    stream.begin("a")
    for number in range(3000):  # many times as much as the pipe holds
        stream.decided(number // 1000, 0, number % 200, 1000)
        stream.waiting()
    told = pipe.batches()
    while not outlet.clear():
        told += pipe.batches()
    outlet.offer(stream.rest())
    while not outlet.clear():
        told += pipe.batches()
    told += pipe.batches()
    found = [
        (entry.rotation, decision.action)
        for batch in told
        for entry in batch
        if isinstance(entry, Decided)
        for decision in entry.decisions
    ]
    assert found == [(number // 1000, number % 200) for number in range(3000)]
    assert len(told) < 1000, "what could not be sent was collected"


def decisions(batch: Batch) -> list[Decision]:
    return [d for entry in batch if isinstance(entry, Decided) for d in entry.decisions]
