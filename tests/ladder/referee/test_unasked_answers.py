"""What nobody asked for is the same fault however quick or slow the bot, the machine and we are."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keltis_bots.framing import frame
from keltis_ladder.match.faults import BotFault, Fault, Kind
from keltis_ladder.referee.bot_process import BotProcess
from keltis_ladder.sandbox.child import launch_plain
from keltis_ladder.sandbox.limits import PLAY
from tests.ladder.support.arena import HOSTILE

PATIENCE = 300.0  # seconds for an answer
ASKED = 4  # requests, within which everything must have shown
PAUSE = 0.05  # seconds between two things that shall be seen one after the other

# What a bot writes for each request, piece by piece.
HABITS = {
    "twice": ("[answer, answer]", "extra-reply"),
    "a-map-behind": ("[answer, packed({})]", "missing-field"),
    "a-map-before": ("[packed({}), answer]", "missing-field"),
    "text-behind": ("[answer, b'done thinking\\n']", "text-on-stdout"),
    "text-before": ("[b'thinking\\n', answer]", "text-on-stdout"),
    "half-a-frame-behind": ("[answer, answer[:6], answer[6:]]", "extra-reply"),
    "half-a-map-behind": ("[answer, bytes(3), b'\\1', b'\\x80']", "missing-field"),
    "one-too-far": ("[packed({**reply(request), 'id': request['id'] + 1})]", "wrong-id"),
}
WRITING = {
    "at-once": "raw(b''.join(pieces))",
    "slowly": f"for piece in pieces: raw(piece); time.sleep({PAUSE})",
}


def ask_at_once(process: BotProcess) -> None:
    """Ask again before the bot can have written anything else."""


def ask_later(process: BotProcess) -> None:
    """Leave the bot time to write what it likes."""
    time.sleep(3 * PAUSE)


def stop_meanwhile(process: BotProcess) -> None:
    """Stop the bot until it is asked again, as in a match."""
    process.pause()


@contextmanager
def started(directory: Path, program: str) -> Iterator[BotProcess]:
    (directory / "bot.py").write_text(
        f"import sys, time\nsys.path.insert(0, {str(HOSTILE)!r})\n"
        "from common import hello, packed, raw, read, reply, requests\n" + textwrap.dedent(program)
    )
    child = launch_plain((sys.executable, "bot.py"), directory, dict(os.environ))
    process = BotProcess(child, PLAY)
    try:
        yield process
    finally:
        process.kill()


def converse(process: BotProcess, meanwhile: Callable[[BotProcess], None]) -> None:
    process.greet(PATIENCE)
    for id in range(1, ASKED + 1):
        request = frame({"type": "choose", "id": id, "legal": [3, 5]})
        process.ask(request, id, PATIENCE, lambda: None)
        meanwhile(process)


def fault_of(process: BotProcess, meanwhile: Callable[[BotProcess], None]) -> Fault:
    with pytest.raises(BotFault) as caught:
        converse(process, meanwhile)
    return caught.value.fault


@pytest.mark.parametrize("meanwhile", [ask_at_once, ask_later, stop_meanwhile])
@pytest.mark.parametrize("writing", WRITING)
@pytest.mark.parametrize("habit", HABITS)
def test_the_code_tells_what_was_written_and_not_when(
    tmp_path: Path, habit: str, writing: str, meanwhile: Callable[[BotProcess], None]
) -> None:
    pieces, code = HABITS[habit]
    program = f"""
    for request in requests():
        answer = packed(reply(request))
        pieces = {pieces}
        {WRITING[writing]}
    """
    with started(tmp_path, program) as process:
        fault = fault_of(process, meanwhile)
    assert (fault.kind, fault.code) == (Kind.PROTOCOL, code), fault.text


@pytest.mark.parametrize("meanwhile", [ask_at_once, ask_later, stop_meanwhile])
@pytest.mark.parametrize("writing", WRITING)
@pytest.mark.parametrize(
    ("second", "code"), [("packed({})", "missing-field"), ("b'ready!\\n'", "text-on-stdout")]
)
def test_the_same_holds_behind_the_greeting(
    tmp_path: Path, writing: str, second: str, code: str, meanwhile: Callable[[BotProcess], None]
) -> None:
    program = f"""
    read()
    pieces = [packed({{"type": "hello", "protocol": 1}}), {second}]
    {WRITING[writing]}
    while True:
        read()
    """
    with started(tmp_path, program) as process:
        fault = fault_of(process, meanwhile)
    assert (fault.kind, fault.code) == (Kind.PROTOCOL, code), fault.text


def test_an_answer_that_is_doubled_is_named_by_its_request(tmp_path: Path) -> None:
    for writing in WRITING.values():
        program = f"""
        for request in requests():
            pieces = 2 * [packed(reply(request))]
            {writing}
        """
        with started(tmp_path, program) as process:
            fault = fault_of(process, stop_meanwhile)
        assert fault.text.startswith("request 1 had been answered: "), fault.text
