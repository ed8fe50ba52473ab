"""The SDK in real processes: whatever a bot does, the protocol stays clean and errors are seen."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from keltis_bots.framing import LENGTH, frame, pack, unpack
from keltis_bots.messages import (
    CPU_CLOCK,
    WALL_CLOCK,
    Hello,
    hello,
    read_action,
    read_hello,
)
from keltis_bots.request import Event, Game, Request, read_result
from keltis_engine import VARIANTS, Rng, find_variant
from keltis_ladder.referee.messages import GameMessages
from keltis_ladder.spectate.vocabulary import Vocabulary
from tests.bots.support.piped import PipedBot, Seat, play_game
from tests.places import ROOT

GREETING = frame(hello("keltis-ladder", 5000))
GAME = frame(
    {
        "type": "game",
        "variant": "keltis",
        "version": 1,
        "options": {"turn_limit": 1000},
        "players": 2,
        "seat": 0,
        "bank_ms": 1000,
        "increment_ms": 20,
    }
)
END = frame({"type": "end", "ending": "last card", "scores": [3, 1], "ranks": [1, 2], "events": []})
FIRST = "def choose(request):\n    return request.legal[0]\n"


def choose(id: int = 1, legal: tuple[int, ...] = (4, 9)) -> bytes:
    notation = ["lay R4", "lay R9", "discard R4"][: len(legal)]
    return frame(
        {
            "type": "choose",
            "id": id,
            "legal": list(legal),
            "notation": notation,
            "left_ms": 1020,
            "increment_ms": 20,
            "events": [{"seat": 1, "action": 123, "notation": "draw", "card": None}],
            "view": {"phase": "turn", "seat": 0},
        }
    )


@contextmanager
def running(tmp_path: Path, source: str, call: str = "run(choose)") -> Iterator[PipedBot]:
    """Start a bot with this source."""
    path = tmp_path / "bot.py"
    path.write_text(f"from keltis_bots import run\n{source}\n{call}\n")
    with PipedBot([sys.executable, path], tmp_path) as bot:
        yield bot


def play_one(bot: PipedBot) -> int:
    """Shake hands, begin a game, and return the answer to one request."""
    read_hello(bot.ask(GREETING))
    bot.tell(GAME)
    return read_action(bot.ask(choose()), 1)


def test_a_function_is_a_bot(tmp_path: Path) -> None:
    with running(tmp_path, FIRST) as bot:
        assert play_one(bot) == 4
        assert bot.end() == (0, "")


def test_an_object_is_a_bot_and_is_told_of_begin_and_end(tmp_path: Path) -> None:
    source = """
class Zorro:
    name = "zorro"
    version = 7
    def new_game(self, game):
        print("begin", game.variant, game.seat, game.players)
    def choose(self, request):
        print("asked", request.id, request.left_ms, request.events[0].notation)
        return request.legal[-1]
    def game_over(self, result):
        print("end", result.ending, result.ranks)
"""
    with running(tmp_path, source, "run(Zorro())") as bot:
        assert read_hello(bot.ask(GREETING)) == Hello("zorro", "7")
        bot.tell(GAME)
        assert read_action(bot.ask(choose(id=5)), 5) == 9
        bot.tell(END)
        code, log = bot.end()
    assert code == 0
    assert log.splitlines() == ["begin keltis 0 2", "asked 5 1020 draw", "end last card [1, 2]"]


def test_a_process_plays_many_games_and_ids_go_on(tmp_path: Path) -> None:
    with running(tmp_path, FIRST) as bot:
        seat = Seat(bot)
        seat.greet()
        for number, variant in enumerate(VARIANTS):
            play_game(find_variant(variant), 2 + number % 3, number, {number % 2: seat})
        assert bot.end() == (0, "")
        asked = [unpack(data[4:])["id"] for way, data in seat.frames[2:] if way == "from"]
        assert asked == list(range(1, len(asked) + 1))


@pytest.mark.parametrize(
    "noise",
    [
        "print('thinking')",
        "sys.stdout.write('x' * 100_000); sys.stdout.flush()",
        "os.write(1, b'raw')",
        "os.system('echo from a child')",
        "ctypes.CDLL(None).puts(b'from C'); ctypes.CDLL(None).fflush(None)",
        "subprocess.run(['cat'])",  # would swallow the next request if it got our stdin
        "print(sys.stdin.read())",
    ],
)
def test_nothing_that_prints_or_reads_disturbs_the_protocol(tmp_path: Path, noise: str) -> None:
    source = f"import ctypes, os, subprocess, sys\ndef choose(request):\n    {noise}\n    return 9"
    with running(tmp_path, source) as bot:
        assert play_one(bot) == 9
        assert read_action(bot.ask(choose(id=2)), 2) == 9
        code, log = bot.end()
    assert code == 0
    assert "Traceback" not in log


def test_what_was_printed_before_run_stays_out_of_the_protocol(tmp_path: Path) -> None:
    with running(tmp_path, "print('loading', end='')\n" + FIRST) as bot:
        assert play_one(bot) == 4
        assert bot.end() == (0, "loading")


def test_notation_is_an_answer_too(tmp_path: Path) -> None:
    with running(tmp_path, "def choose(request):\n    return 'lay R9'") as bot:
        assert play_one(bot) == 9


@pytest.mark.parametrize("answer", ["True", "numpy_like()", "4.0"])
def test_other_kinds_of_integers_are_sent_as_integers(tmp_path: Path, answer: str) -> None:
    source = (
        "class numpy_like:\n    def __int__(self): return 4\n    def __index__(self): return 4\n"
        f"def choose(request):\n    return {answer}"
    )
    with running(tmp_path, source) as bot:
        assert type(play_one(bot)) is int


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("'lay R7'", "the bot chose 'lay R7'; the legal actions are: lay R4, lay R9"),
        ("None", "TypeError"),
        ("1 / 0", "ZeroDivisionError"),
        ("request.view['no']", "KeyError: 'no'"),
    ],
)
def test_an_exception_goes_to_the_log_and_ends_the_bot(
    tmp_path: Path, answer: str, says: str
) -> None:
    with running(tmp_path, f"def choose(request):\n    return {answer}") as bot:
        read_hello(bot.ask(GREETING))
        bot.tell(GAME + choose())
        code, log = bot.end()
    assert code == 1
    assert says in log
    assert "bot.py" in log


def test_a_server_of_another_protocol_is_named(tmp_path: Path) -> None:
    with running(tmp_path, FIRST) as bot:
        bot.tell(frame({**hello("keltis-ladder", 5000), "protocol": 2}))
        code, log = bot.end()
    assert code == 1
    assert "the server speaks protocol 2, this SDK speaks 1" in log


def test_a_refusal_is_written_to_the_log(tmp_path: Path) -> None:
    with running(tmp_path, FIRST) as bot:
        bot.tell(frame({"type": "error", "code": "extra-reply", "text": "too soon"}))
        assert bot.end() == (0, "refused by the server (extra-reply): too soon\n")


def test_messages_and_fields_of_the_future_are_ignored(tmp_path: Path) -> None:
    with running(tmp_path, FIRST) as bot:
        read_hello(bot.ask(frame({**hello("keltis-ladder", 5000), "mood": "good"})))
        bot.tell(GAME + frame({"type": "weather", "rain": True}))
        assert read_action(bot.ask(choose()), 1) == 4
        assert bot.end() == (0, "")


def test_the_end_of_the_input_ends_the_bot_even_in_the_middle_of_a_frame(tmp_path: Path) -> None:
    for rest in (b"", GAME[:2], GAME[:20]):
        with running(tmp_path, FIRST) as bot:
            read_hello(bot.ask(GREETING))
            bot.tell(rest)
            assert bot.end() == (0, "")


def test_frames_that_come_in_pieces_or_together_are_all_read(tmp_path: Path) -> None:
    with running(tmp_path, FIRST) as bot:
        for byte in GREETING[:-1]:
            bot.tell(bytes([byte]))
        read_hello(bot.ask(GREETING[-1:]))
        payload = bot.ask(END + GAME + choose())
        assert read_action(payload, 1) == 4


def test_the_answer_has_the_shortest_form(tmp_path: Path) -> None:
    with running(tmp_path, FIRST) as bot:
        read_hello(bot.ask(GREETING))
        bot.tell(GAME)
        expected = b"\x83\xa4type\xa6action\xa2id\x01\xa6action\x04"
        assert bot.ask(choose()) == expected


@pytest.mark.parametrize(
    ("greeting", "expected"),
    [
        (hello("keltis-ladder", 5000, CPU_CLOCK), "cpu"),
        (hello("keltis-ladder", 5000, WALL_CLOCK), "wall"),
        (hello("keltis-ladder", 5000), "wall"),  # of servers that came before the field
        (hello("keltis-ladder", 5000, "sundial"), "wall"),
    ],
)
def test_the_stopwatch_of_a_request_is_that_of_the_referees_clock(
    tmp_path: Path, greeting: dict[str, Any], expected: str
) -> None:
    source = """
import os, time
real = time.process_time
def choose(request):
    asked = []
    time.process_time = lambda: asked.append(1) or real()
    request.used_ms
    print("cpu" if asked else "wall")
    return request.legal[0]
"""
    with running(tmp_path, source) as bot:
        read_hello(bot.ask(frame(greeting)))
        bot.tell(GAME)
        assert read_action(bot.ask(choose()), 1) == 4
        assert bot.end() == (0, f"{expected}\n")


@pytest.mark.parametrize("clock", [CPU_CLOCK, WALL_CLOCK])
def test_the_time_of_a_decision_includes_what_came_with_the_request(
    tmp_path: Path, clock: str
) -> None:
    source = """
import time
class Slow:
    def game_over(self, result): time.sleep(0.02)
    def new_game(self, game): time.sleep(0.03)
    def choose(self, request):
        print(request.used_ms >= 50, request.used_ms < 60_000)
        return request.legal[0]
"""
    with running(tmp_path, source, "run(Slow())") as bot:
        read_hello(bot.ask(frame(hello("keltis-ladder", 5000, clock))))
        bot.tell(GAME)
        for id in (1, 2):
            assert read_action(bot.ask(END + GAME + choose(id)), id) == 4
        assert bot.end() == (0, "True True\n" * 2)


def test_the_time_of_a_decision_does_not_include_the_time_between_requests(tmp_path: Path) -> None:
    source = """
import time
now = 0.0
time.perf_counter = lambda: now
def choose(request):
    global now
    now += 3
    print(request.used_ms)
    now += 500
    return request.legal[0]
"""
    with running(tmp_path, source) as bot:
        read_hello(bot.ask(GREETING))
        bot.tell(GAME)
        for id in (1, 2):
            read_action(bot.ask(choose(id)), id)
        assert bot.end() == (0, "3000.0\n" * 2)


@pytest.mark.parametrize(
    "printed",
    [
        "print('my red row')",
        "print('my red row', end='')",
        "sys.stderr.write('my red row')",
        "sys.stdout.write('my '); print('red row', end='', file=sys.stderr)",
    ],
)
def test_what_was_printed_is_in_the_log_when_the_answer_has_come(
    tmp_path: Path, printed: str
) -> None:
    with running(tmp_path, f"import sys\ndef choose(request):\n    {printed}\n    return 9") as bot:
        assert play_one(bot) == 9
        bot.process.kill()
        assert bot.end()[1].rstrip() == "my red row"


def test_lines_that_were_printed_before_the_bot_hangs_are_in_the_log(tmp_path: Path) -> None:
    source = """
import os, signal
def choose(request):
    print("now it gets hard")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    with running(tmp_path, source) as bot:
        read_hello(bot.ask(GREETING))
        bot.tell(GAME + choose())
        assert bot.end() == (-signal.SIGKILL, "now it gets hard\n")


@pytest.mark.parametrize(
    "odd", ["sys.stdout.close()", "sys.stdout = None", "sys.stderr = object()", "os.close(2)"]
)
def test_a_bot_that_wants_no_log_plays_on(tmp_path: Path, odd: str) -> None:
    source = f"import os, sys\ndef choose(request):\n    {odd}\n    return 9"
    with running(tmp_path, source) as bot:
        assert play_one(bot) == 9


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("helper()", ["in helper", "in endless", "in choose"]),
        ("os.write(2, b'ready'); sum(range(10**12))", ["in endless", "in choose"]),
        ("os.write(2, b'ready'); time.sleep(600)", ["in endless", "in choose"]),
        (
            "t = threading.Thread(target=helper, daemon=True); t.start(); t.join()",
            ["in helper", "in endless"],
        ),
    ],
)
@pytest.mark.parametrize("before", ["", "sys.stderr = open(os.devnull, 'w')"])
def test_on_the_signal_of_a_timeout_the_stacks_of_all_threads_are_in_the_log(
    tmp_path: Path, where: str, names: list[str], before: str
) -> None:
    source = f"""
import os, sys, threading, time
{before}
def helper():
    os.write(2, b"ready")
    while True: pass
def endless():
    {where}
def choose(request):
    endless()
"""
    with running(tmp_path, source) as bot:
        read_hello(bot.ask(GREETING))
        bot.tell(GAME + choose())
        bot.wait_for_log("ready")
        bot.process.send_signal(signal.SIGXCPU)
        for name in names:
            bot.wait_for_log(name)
        assert bot.process.poll() is None  # it is the referee who ends it


def test_a_bot_keeps_its_own_handler_of_the_signal(tmp_path: Path) -> None:
    source = """
import os, signal, sys, time
signal.signal(signal.SIGXCPU, lambda *_: sys.exit("my own way to end"))
def choose(request):
    os.write(2, b"ready")
    time.sleep(600)
"""
    with running(tmp_path, source) as bot:
        read_hello(bot.ask(GREETING))
        bot.tell(GAME + choose())
        bot.wait_for_log("ready")
        bot.process.send_signal(signal.SIGXCPU)
        assert bot.end() == (1, "readymy own way to end\n")


def test_a_bot_that_hangs_before_it_runs_can_show_its_stack_as_the_guide_says(
    tmp_path: Path,
) -> None:
    source = """
import faulthandler, os, signal; faulthandler.register(signal.SIGXCPU)
def load():
    os.write(2, b"ready")
    while not os.path.exists("go"): pass
load()
def choose(request): return request.legal[0]
"""
    with running(tmp_path, source) as bot:
        bot.wait_for_log("ready")
        bot.process.send_signal(signal.SIGXCPU)
        bot.wait_for_log("in load")
        (tmp_path / "go").touch()
        assert play_one(bot) == 4


def test_a_bot_in_a_terminal_says_what_it_is() -> None:
    import os
    import pty
    import subprocess

    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", "from keltis_bots import run; run(lambda request: 0)"],
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=300,
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "keltis-ladder match" in done.stderr


def real_requests(variant: str) -> Iterator[tuple[Request, Any]]:
    """Yield some requests of a game with the state that they are about."""
    ruleset = find_variant(variant)
    messages = GameMessages(ruleset, 3, 1000, 20, Vocabulary(ruleset))
    state = ruleset.deal(3, 11)
    game = Game(variant, 1, dict(ruleset.options), 3, 0, 1000, 20)
    rng = Rng(11)
    while not state.over:
        legal = state.legal_actions()
        if state.seat == 0 and len(legal) > 1:
            data = messages.request(state, 0, legal, 1, 500)
            assert LENGTH.unpack_from(data)[0] == len(data) - 4
            yield Request(game, data[4:]), state
        action = legal[int(rng.below(len(legal)))]
        messages.note(state, action)
        state.apply(action)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_request_tells_all_that_the_seat_may_know(variant: str) -> None:
    for request, state in real_requests(variant):
        assert request.seat == 0
        assert request.legal == state.legal_actions()
        assert request.notation == [state.notation[action] for action in request.legal]
        assert request.view == state.view(0)
        assert all(isinstance(event, Event) for event in request.events)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_restored_game_agrees_with_the_view(variant: str) -> None:
    rng = Rng(3)
    for number, (request, _) in enumerate(real_requests(variant)):
        if number % 10 == 0:
            game = request.restore(rng)
            assert game.view(0) == request.view
            assert game.legal_actions() == request.legal
            assert game.determinize(request.seat, rng).view(0) == request.view
            assert request.restore().view(0) == request.view


def test_the_order_of_the_fields_means_nothing() -> None:
    game = Game("keltis", 1, {"turn_limit": 1000}, 2, 0, 1000, 20)
    message = unpack(choose()[4:])
    for order in (list(message), sorted(message), sorted(message, reverse=True)):
        request = Request(game, pack({name: message[name] for name in order}))
        assert (request.id, request.legal, request.left_ms) == (1, [4, 9], 1020)
        assert request.notation == ["lay R4", "lay R9"]
        assert request.events == [Event(1, 123, "draw", None)]
        assert request.view == {"phase": "turn", "seat": 0}


def test_a_result_is_read_with_its_events() -> None:
    event = {"seat": 1, "action": 124, "notation": "take R", "card": "R5"}
    message = {"ending": "fault", "scores": [1, 2], "ranks": [1, 2], "events": [event]}
    assert read_result(message).events == [Event(1, 124, "take R", "R5")]


def test_the_bot_in_the_readme_plays(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    programs = [block.split("```")[0] for block in readme.split("```python\n")[1:]]
    (program,) = (dedent(program) for program in programs if "keltis_bots" in program)
    with running(tmp_path, program, call="") as bot:
        assert play_one(bot) == 4
