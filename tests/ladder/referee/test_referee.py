"""The referee with bots of all kinds, without a sandbox: what it asks, tells and counts."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest

from keltis_engine import VARIANTS, Ruleset, State, find_variant
from keltis_engine.records.replay import make_replay, verify
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import InDoubt, PlatformFault
from keltis_ladder.match.results import GameResult, match_from_plain, match_to_plain
from keltis_ladder.programs.launchers import PlainLauncher
from keltis_ladder.referee.caretaker import Caretaker
from keltis_ladder.referee.referee import Referee
from keltis_ladder.sandbox.child import CannotStart, Child
from keltis_ladder.sandbox.limits import Limits
from tests.ladder.support.arena import HOSTILE

CONTROL = TimeControl(bank_ms=5000, increment_ms=50, start_ms=10_000)


def bot(name: str, key: str = "") -> Entrant:
    return Entrant(key or name, key or name, (sys.executable, f"{name}.py"), HOSTILE)


@pytest.fixture
def referee() -> Iterator[Referee]:
    made = Referee(PlainLauncher(), CONTROL)
    yield made
    made.kill()


def copies(count: int) -> list[Entrant]:
    return [bot("honest", f"honest-{number}") for number in range(count)]


def first_legal_game(ruleset: Ruleset, players: int, seed: int) -> tuple[list[int], State]:
    state = ruleset.deal(players, seed)
    actions = []
    while not state.over:
        actions.append(state.legal_actions()[0])
        state.apply(actions[-1])
    return actions, state


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_game_is_the_bots_decisions_applied_to_the_deal(
    referee: Referee, variant: str, players: int
) -> None:
    ruleset = find_variant(variant, {})
    game = referee.play_game(ruleset, 11, copies(players), 0)
    actions, end = first_legal_game(ruleset, players, 11)
    assert game.actions == actions
    assert game.scores == end.scores()
    assert game.ending == end.ending
    assert [rank == 1 for rank in game.ranks] == [seat in end.winners() for seat in range(players)]
    assert verify(make_replay(ruleset, players, 11, game.actions)).scores() == game.scores


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_entrant_has_every_seat_of_the_same_deal_once(referee: Referee, players: int) -> None:
    entrants = copies(players)
    result = referee.play_match(find_variant("weg-der-steine", {}), 3, entrants)
    assert [game.rotation for game in result.games] == list(range(players))
    for seat in range(players):
        assert sorted(game.entrants[seat] for game in result.games) == list(range(players))
    # These bots all play alike, so every game is the same, and so is what everybody gets.
    assert len({tuple(game.actions) for game in result.games}) == 1
    assert len(set(result.points)) == 1
    assert result.ranks == [1] * players


def test_each_rotation_has_processes_of_its_own_which_stay_for_the_next_match(
    referee: Referee,
) -> None:
    ruleset, entrants = find_variant("weg-der-steine", {}), copies(3)
    referee.play_match(ruleset, 1, entrants)
    first = dict(referee.slots())
    assert len(first) == 9
    assert len({process.child.root for process in first.values()}) == 9
    referee.play_match(ruleset, 2, entrants)
    assert dict(referee.slots()) == first
    assert all(process.games == 2 for process in first.values())


def recorded_game(
    referee: Referee, ruleset: Ruleset, seed: int, players: int, directory: Path
) -> tuple[GameResult, dict[int, list[dict[str, Any]]]]:
    """Play a game and return it with all messages that each seat got, in order."""
    entrants = [
        Entrant(f"bot{k}", f"bot{k}", (sys.executable, "records.py", str(directory)), HOSTILE)
        for k in range(players)
    ]
    game = referee.play_game(ruleset, seed, entrants, 0)
    referee.close()  # which delivers the last messages
    by_seat: dict[int, list[dict[str, Any]]] = {}
    for file in directory.iterdir():
        messages = list(msgpack.Unpacker(io.BytesIO(file.read_bytes())))
        assert messages[0]["type"] == "game"
        by_seat[messages[0]["seat"]] = messages[1:]
    return game, by_seat


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("players", [2, 3])
def test_requests_show_the_seats_view_and_nothing_else(
    referee: Referee, tmp_path: Path, variant: str, players: int
) -> None:
    ruleset = find_variant(variant, {})
    game, told = recorded_game(referee, ruleset, 5, players, tmp_path)
    state = ruleset.deal(players, 5)
    expected: dict[int, list[Any]] = {seat: [] for seat in range(players)}
    for action in game.actions:
        legal = state.legal_actions()
        if len(legal) > 1:
            expected[int(state.seat)].append((state.view(int(state.seat)), legal))
        state.apply(action)
    for seat, messages in told.items():
        requests = [message for message in messages if message["type"] == "choose"]
        assert [(request["view"], request["legal"]) for request in requests] == expected[seat]
        for request in requests:
            assert request["notation"] == [ruleset.format(action) for action in request["legal"]]


@pytest.mark.parametrize("variant", VARIANTS)
def test_events_tell_each_seat_everything_but_the_cards_that_others_drew(
    referee: Referee, tmp_path: Path, variant: str
) -> None:
    ruleset = find_variant(variant, {})
    game, messages = recorded_game(referee, ruleset, 6, 3, tmp_path)
    told = {
        seat: [e for message in got for e in message["events"]] for seat, got in messages.items()
    }
    state = ruleset.deal(3, 6)
    happened = []
    for action in game.actions:
        happened.append((int(state.seat), action, state.outcome(action)))
        state.apply(action)
    for seat, events in told.items():
        assert [(event["seat"], event["action"]) for event in events] == [
            (actor, action) for actor, action, _ in happened
        ]
        for event, (actor, action, card) in zip(events, happened, strict=True):
            hidden = ruleset.format(action) == "draw" and actor != seat
            assert event["card"] == (None if hidden else card)


def test_forced_decisions_are_not_asked(referee: Referee) -> None:
    ruleset = find_variant("weg-der-steine", {})
    game = referee.play_game(ruleset, 4, copies(2), 0)
    state, open_decisions = ruleset.deal(2, 4), 0
    for action in game.actions:
        open_decisions += len(state.legal_actions()) > 1
        state.apply(action)
    assert game.asked == open_decisions < len(game.actions)


def test_after_a_fault_of_one_the_others_finish_with_a_caretaker(referee: Referee) -> None:
    ruleset = find_variant("kartenspiel", {})
    entrants = [bot("honest"), bot("exits"), bot("honest", "other")]
    game = referee.play_game(ruleset, 9, entrants, 0)
    assert game.ending != "fault"
    assert [loss.seat for loss in game.losses] == [1]
    assert game.ranks[1] == 3
    assert [rank for seat, rank in enumerate(game.ranks) if seat != 1] in ([1, 2], [2, 1], [1, 1])
    verify(make_replay(ruleset, 3, 9, game.actions))
    assert game.times[1].asked == 0
    # From the fault on the seat only discards and draws from the pile.
    state = ruleset.deal(3, 9)
    names = set()
    for number, action in enumerate(game.actions):
        if state.seat == 1 and number >= game.losses[0].decision:
            names.add(ruleset.format(action).split()[0])
        state.apply(action)
    assert names <= {"discard", "draw", "done"}


def test_the_game_is_over_when_one_bot_is_left(referee: Referee) -> None:
    entrants = [bot("exits"), bot("honest"), bot("exits", "another")]
    game = referee.play_game(find_variant("keltis", {}), 9, entrants, 0)
    assert game.ending == "fault"
    assert game.ranks[1] == 1
    assert [loss.seat for loss in game.losses] == [0, 2]
    assert game.ranks == [3, 1, 2], "who dropped out later ranks better"
    assert game.shares() == [0, 1, 0]


def test_nobody_wins_a_game_that_nobody_played(referee: Referee) -> None:
    result = referee.play_match(
        find_variant("keltis", {}), 1, [bot("no_such_bot", "a"), bot("no_such_bot", "b")]
    )
    assert result.shares == [0, 0]
    assert result.ranks == [1, 1]
    assert [loss.fault.code for loss in result.games[0].losses] == ["exit", "exit"]


def test_points_of_a_bot_that_dropped_out_do_not_count_in_its_favour() -> None:
    from keltis_ladder.match.faults import Fault, Kind
    from keltis_ladder.match.results import Loss, MatchResult, SeatTime

    time = SeatTime(1, 0.0, 0.0, 0.0)
    loss = Loss(0, 10, Fault(Kind.CRASH, "exit", ""), {})
    broken = GameResult(0, [0, 1], [], "fault", [40, 5], [2, 1], [time, time], [loss])
    finished = GameResult(1, [1, 0], [], "last card", [9, 10], [2, 1], [time, time], [])
    result = MatchResult([broken, finished])
    assert result.shares == [1, 1]
    assert result.points == [14, 14]
    assert match_from_plain(match_to_plain(result)) == result


def test_a_crash_card_says_what_happened(referee: Referee) -> None:
    game = referee.play_game(find_variant("keltis", {}), 8, [bot("exits"), bot("honest")], 0)
    card = game.losses[0].card
    assert card["exit"]["code"] == 3
    assert "I have had enough" in card["stderr"]
    assert card["request"]["legal"] == find_variant("keltis", {}).deal(2, 8).legal_actions()
    assert card["game"]["seed"] == "8"
    assert card["peak_memory"] > 1_000_000
    assert card["clock"]["left_ms"] == 5050
    assert "reproduce" in card["reproduce"]


def test_a_bot_is_started_anew_after_a_fault(referee: Referee) -> None:
    entrants = [bot("exits"), bot("honest")]
    result = referee.play_match(find_variant("keltis", {}), 1, entrants)
    again = referee.play_match(find_variant("keltis", {}), 2, entrants)
    assert [len(game.losses) for game in result.games + again.games] == [1, 1, 1, 1]
    assert {slot[0] for slot, _ in referee.slots()} == {"honest"}


class BrokenLauncher:
    """A platform that fails when it is to start the third bot."""

    def __init__(self) -> None:
        self.started: list[Child] = []

    def start(self, entrant: Entrant, limits: Limits) -> Child:
        if len(self.started) == 2:
            raise CannotStart("no more processes", of_platform=True)
        self.started.append(PlainLauncher().start(entrant, limits))
        return self.started[-1]


def test_a_platform_fault_is_nobodys_and_ends_the_processes_that_saw_the_deal() -> None:
    launcher = BrokenLauncher()
    referee = Referee(launcher, CONTROL)
    with pytest.raises(PlatformFault, match="no more processes"):
        referee.play_match(find_variant("weg-der-steine", {}), 1, copies(2))
    assert referee.slots() == []
    assert all(child.exit is not None for child in launcher.started)


def test_a_missing_program_is_the_bots_fault(referee: Referee) -> None:
    missing = Entrant("missing", "missing", ("no-such-program",), HOSTILE)
    game = referee.play_game(find_variant("keltis", {}), 1, [missing, bot("honest")], 0)
    assert game.losses[0].fault.code == "cannot-start"
    assert game.ranks == [2, 1]


def test_the_clock_gives_an_increment_and_takes_what_was_used(
    referee: Referee, tmp_path: Path
) -> None:
    referee.control = TimeControl(bank_ms=2000, increment_ms=25, start_ms=10_000)
    ruleset = find_variant("weg-der-steine", {})
    game, told = recorded_game(referee, ruleset, 2, 2, tmp_path)
    for seat in range(2):
        left = [message["left_ms"] for message in told[seat] if message["type"] == "choose"]
        assert left[0] == 2025
        gained = 25 * (len(left) - 1)
        used = 1000 * game.times[seat].wall
        assert 2025 + gained - used - 30 <= left[-1] <= 2025 + gained
        assert game.times[seat].asked == len(left)


def test_thinking_is_charged(referee: Referee) -> None:
    entrants = [bot("thoughtful"), bot("honest")]
    game = referee.play_game(find_variant("weg-der-steine", {}), 2, entrants, 0)
    assert game.times[0].wall >= 0.02 * game.times[0].asked
    assert 0.0 < game.times[0].longest <= game.times[0].charged <= game.times[0].wall + 0.01


def test_a_busy_machine_does_not_cost_a_bot_its_game(referee: Referee) -> None:
    """The bot needs 60 ms of its core for a decision, and seven others want the same core.

    Without a control group nobody can tell exactly what they had it for. In doubt nobody is blamed:
    the match is played again.
    """
    before = os.sched_getaffinity(0)
    core = {min(before)}
    burn = "while True: pass"
    os.sched_setaffinity(0, core)
    # Each in a session of its own, as the bots: else the kernel lets all of them share one part.
    others = [
        subprocess.Popen([sys.executable, "-c", burn], start_new_session=True) for _ in range(7)
    ]
    try:
        referee.control = TimeControl(bank_ms=40, increment_ms=70, start_ms=30_000)
        ruleset = find_variant("weg-der-steine", {"turn_limit": 6})
        game = referee.play_game(ruleset, 2, [bot("works"), bot("works", "other")], 0)
    except InDoubt as doubt:
        assert "while the machine was busy" in str(doubt)  # noqa: PT017 - either way will do
        return
    finally:
        for other in others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, before)
    assert game.losses == []
    assert game.times[0].wall > 1.5 * game.times[0].charged, "others had the core meanwhile"
    assert game.times[0].longest <= 0.11, "what they had it for is not the bot's time"


def test_the_caretaker_knows_every_action() -> None:
    for variant in VARIANTS:
        ruleset = find_variant(variant, {})
        caretaker = Caretaker(ruleset)
        everything = list(range(ruleset.actions))
        assert caretaker.choose(everything) in everything


def test_no_process_or_descriptor_is_left(referee: Referee) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    referee.play_match(find_variant("weg-der-steine", {}), 1, [bot("exits"), bot("honest")])
    roots = [process.child.root for _, process in referee.slots()]
    referee.close()
    assert len(os.listdir("/proc/self/fd")) == descriptors  # noqa: PTH208
    assert not any(Path(f"/proc/{root}").exists() for root in roots)
