"""What ``watch`` draws and tells: it fits, names the bots, and says no more than may be known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keltis_cli.draw.look import Look
from keltis_cli.watch.lobby import LobbyModel
from keltis_cli.watch.model import ALL, PUBLIC, MatchModel
from keltis_cli.watch.playback import Playback
from keltis_cli.watch.screens.lobby_picture import lobby_lines
from keltis_cli.watch.screens.match_picture import Showing, clock_text, match_lines
from keltis_cli.watch.screens.tournament_view import tournament_lines
from keltis_cli.watch.teller import Teller
from keltis_cli.watch.tournament import TournamentModel
from keltis_cli.watch.tv import SETTLED, choose
from keltis_engine import VARIANTS
from keltis_ladder.tournaments.plan import DOUBLE, GAUNTLET, ROUND_ROBIN, SWISS, Plan
from keltis_server.models.matches import ControlOut
from keltis_server.models.tournaments import EnteredOut, PlanOut, TournamentOut
from tests.cli.support.made_up import played, tables
from tests.cli.support.watch_records import BOTS, Record

NOON = datetime(2026, 11, 16, 12, 0, 30, tzinfo=UTC)
SIZES = [(80, 24), (120, 40), (100, 30), (60, 15)]


def watched(record: Record) -> MatchModel:
    """Return a model of a match that is over, with the public view and all cards of game 0."""
    model = MatchModel()
    model.take(record.snapshot(0, 0), 0.0)
    model.take(record.delta(2, *record.events()), 1.0)
    model.take(record.end())
    model.load(record.frames(0, ALL), ALL)
    return model


def drawn(playback: Playback, width: int, height: int, ascii_only: bool = False) -> list[str]:
    """Return the screen as text."""
    lines = match_lines(Showing(playback), width, height, Look(ascii=ascii_only), 1.0)
    assert len(lines) == height
    assert all(line.cell_len <= width for line in lines)
    return [line.plain for line in lines]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_match_fits_every_screen_and_all_of_it_is_on_80_by_24(variant: str, players: int) -> None:
    record = Record(variant, players)
    playback = Playback(watched(record))
    for perspective in (PUBLIC, ALL):
        playback.perspective = perspective
        for ply in (0, 1, 7, record.plies(0) // 2, record.plies(0) - 20, record.plies(0)):
            playback.go(0, ply)
            for width, height in SIZES:
                lines = drawn(playback, width, height)
                assert f"{ply}/{record.plies(0)}" in lines[-1]
            lines = drawn(playback, 80, 24)
            text = "\n".join(lines)
            assert all(name[:6] in text for name in BOTS[:players])
            assert text.count(" pts") == players
            if variant != "weg-der-steine":
                assert [f"hand {mark} " in text for mark in "ABCD"[:players]] == [True] * players
            if ply:
                (seen,) = record.live.decisions(0, record.viewer(0, PUBLIC), ply - 1, ply)
                newest = f"{ply:>4} {'ABCD'[seen.seat]} {seen.notation}"
                assert newest in text or "Game over" in text


def test_letters_are_enough() -> None:
    playback = Playback(watched(Record("neue-wege", 3)))
    playback.go(0, 50)
    for width, height in SIZES:
        assert "".join(drawn(playback, width, height, ascii_only=True)).isascii()


def test_spectators_are_not_told_what_was_drawn_and_everybody_is_in_the_end() -> None:
    record = Record("kartenspiel")
    model = watched(record)
    secret = [line for line in Teller(model, Look()).lines() if "draws" in line]
    assert secret
    assert all("draws a card" in line for line in secret)
    told = [line for line in Teller(model, Look(), ALL).lines() if "draws" in line]
    assert not any("draws a card" in line for line in told)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_match_is_told_turn_by_turn_however_it_comes(variant: str) -> None:
    record = Record(variant)
    whole = MatchModel()
    whole.take(record.snapshot(0, 0))
    whole.take(record.delta(2, *record.events()))
    whole.take(record.end())
    at_once = list(Teller(whole, Look()).lines())
    model = MatchModel()
    teller = Teller(model, Look())
    model.take(record.snapshot(0, 0))
    lines = list(teller.lines())
    for seq, event in enumerate(record.events(), 2):
        model.take(record.delta(seq, event))
        lines += teller.lines()
    model.take(record.end())
    lines += teller.lines()
    assert teller.done
    # Who hears of it while it runs is told its id; the number comes with the result.
    assert lines[1:] == at_once[1:]
    assert lines[0].startswith(f"Match {record.job.id}, {variant}: greedy 30.2 v a-bot")
    assert lines[1] == f"Game 1 of 2: seat 0 {BOTS[0]}, seat 1 {BOTS[1]}."
    assert f"Game 2 of 2: seat 0 {BOTS[1]}, seat 1 {BOTS[0]}." in lines
    assert sum(line.startswith("Game over, ") for line in lines) == 2
    assert lines[-1].startswith("Match 1,234: ")
    assert not any("seat" in line for line in lines if line.startswith("Turn"))


def test_a_fault_is_told_where_it_happened_and_stays_in_sight() -> None:
    record = Record("keltis", fault=True)
    model = watched(record)
    lines = list(Teller(model, Look()).lines())
    place = lines.index(f"{BOTS[1]} drops out: crash (exit).")
    assert lines[place + 1].startswith("Game over, a fault decided it: ")
    playback = Playback(model)
    playback.go(0, 8)
    assert "crash" not in "\n".join(drawn(playback, 80, 24))
    playback.go(0, 9)
    for size in SIZES[:3]:
        assert "crash" in "\n".join(drawn(playback, *size))


def test_words_of_others_cannot_play_with_the_terminal() -> None:
    record = Record("keltis")
    message = record.snapshot(0, 3)
    message["data"]["match"]["reason"] = "\x1b[2Jgone"
    message["data"]["match"]["entrants"][0]["bot"] = "evil\x07\u202e"
    model = MatchModel()
    model.take(message)
    playback = Playback(model)
    text = "\n".join(drawn(playback, 80, 24)) + "\n".join(Teller(model, Look()).lines())
    assert "\\x1b[2Jgone" in text
    assert all(char.isprintable() for char in text.replace("\n", ""))


def test_clocks_are_read_at_a_glance_and_run_only_where_it_is_live() -> None:
    assert [clock_text(ms) for ms in (980, 12_340, 75_000)] == ["0.98 s", "12.3 s", "1:15"]
    record = Record("keltis")
    model = MatchModel()
    model.take(record.snapshot(0, 0), 10.0)
    model.take(record.delta(2, *[record.frame(0, ply) for ply in range(6)]), 10.0)
    playback = Playback(model)
    playback.live()
    left = record.live.clocks(0, 6, "spectators")[record.live.view(0, 6, "spectators")["seat"]]
    for now, spent in ((10.0, 0), (10.25, 250), (99.0, left)):
        lines = match_lines(Showing(playback), 80, 24, Look(), now)
        assert clock_text(left - spent) in "\n".join(line.plain for line in lines)
    playback.step(-1)
    shown = [
        [line.plain for line in match_lines(Showing(playback), 80, 24, Look(), now)]
        for now in (10.0, 99.0)
    ]
    assert shown[0] == shown[1]


def summary(record: Record, number: int, mu: float | None = None) -> dict[str, Any]:
    """Return a result as the lobby lists it."""
    plain = {**record.match_out(over=True), "number": number}
    plain["entrants"] = [{**entrant, "mu": mu} for entrant in plain["entrants"]]
    return plain


def delta(*events: dict[str, Any]) -> dict[str, Any]:
    """Return a message of the lobby."""
    return {"op": "delta", "topic": "lobby", "seq": 2, "data": list(events)}


def test_the_lobby_follows_what_begins_moves_and_ends() -> None:
    one, other = Record("keltis", seed=1), Record("kartenspiel", 3, seed=2)
    lobby = LobbyModel()
    data = {"matches": [one.lobby_entry()], "recent": []}
    lobby.take({"op": "snapshot", "topic": "lobby", "seq": 1, "data": data})
    lobby.take(delta({"kind": "began", "match": other.lobby_entry()}))
    moved = {"kind": "moved", "id": other.job.id, "rotation": 1, "plies": 70, "scores": [5, 9, -2]}
    lobby.take(delta(moved))
    for width, height in SIZES:
        lines = lobby_lines(lobby, other.job.id, True, width, height, Look(), NOON)
        assert len(lines) == height
        assert all(line.cell_len <= width for line in lines)
    text = "\n".join(line.plain for line in lobby_lines(lobby, "", True, 120, 40, Look(), NOON))
    assert "2 matches running" in text
    assert "game 2/3  -2:5:9" in text  # by entrant, not by seat
    finished = {"kind": "finished", "id": one.job.id, "number": 9, "result": summary(one, 9)}
    lobby.take(delta(finished))
    lobby.take(delta({"kind": "gone", "id": other.job.id, "reason": "withdrawn"}))
    texts = [line.plain for line in lobby_lines(lobby, "", False, 80, 24, Look(), NOON)]
    assert "connection lost" in texts[0]
    assert "Nothing is being played." in texts
    assert any(text.lstrip().startswith("9  keltis") and "21 s ago" in text for text in texts)


def test_tv_wants_strong_and_equal_bots_tournaments_first_and_nothing_over_in_no_time() -> None:
    entries = []
    for seed, ratings in enumerate([(30.0, 12.0), (24.0, 23.0), (26.0, 25.0), (40.0, 39.0)], 1):
        entry = Record("weg-der-steine", seed=seed).lobby_entry()
        for entrant, mu in zip(entry["entrants"], ratings, strict=True):
            entrant["mu"] = mu
        entries.append(entry)
    entries[3]["since"] = (NOON - timedelta(seconds=SETTLED / 2)).isoformat()
    past = [
        summary(Record("weg-der-steine", seed=seed), seed, mu) for seed, mu in ((8, 9), (9, 30))
    ]
    lobby = LobbyModel()
    data = {"matches": entries, "recent": past}
    lobby.take({"op": "snapshot", "topic": "lobby", "seq": 1, "data": data})
    shown: list[str] = []
    order = [entries[2]["id"], entries[1]["id"], entries[0]["id"], past[1]["id"], past[0]["id"]]
    for expected in order:
        choice = choose(lobby, NOON, shown)
        assert choice is not None
        assert choice.facts.id == expected
        assert choice.replay == (expected in {plain["id"] for plain in past})
        shown.append(expected)
    assert choose(lobby, NOON, shown) is None
    later = choose(lobby, NOON + timedelta(seconds=SETTLED), shown)
    assert later is not None
    assert later.facts.id == entries[3]["id"]
    entries[0]["tournament"] = "cup"
    lobby.take(delta({"kind": "began", "match": entries[0]}))
    choice = choose(lobby, NOON, [])
    assert choice is not None
    assert choice.facts.id == entries[0]["id"]


@pytest.mark.parametrize("style", [ROUND_ROBIN, SWISS, DOUBLE, GAUNTLET])
def test_a_tournament_is_drawn_as_here_from_what_the_server_says(style: str) -> None:
    plan = Plan(style, 6, variants=("keltis",), matches=1)
    tournament = played(plan, matches=5)
    ours = tables(tournament)
    plain = tournament_plain(plan, tournament)
    model = TournamentModel()
    model.take({"op": "snapshot", "topic": "tournament/cup", "seq": 1, "data": plain})
    course = model.course
    assert course is not None
    assert course.tables.names == ours.names
    assert list(course.tables.standings) == list(ours.standings)
    assert list(course.tables.rounds) == list(ours.rounds)
    assert list(course.tables.bracket) == list(ours.bracket)
    assert course.tables.crosstable == ours.crosstable
    for width, height in SIZES:
        lines = tournament_lines(course, [], [], "", True, width, height, Look(), NOON)
        assert len(lines) == height
        assert all(line.cell_len <= width for line in lines)
        assert "5 of " in lines[1].plain


def tournament_plain(plan: Plan, tournament: Any) -> dict[str, Any]:
    """Return a tournament as the server sends it."""
    from keltis_server.loaders import tournaments as loaders

    done, total = tournament.progress
    bracket = loaders.rounds_out(tournament.bracket()) if plan.elimination else None
    crosstable = None if plan.elimination else loaders.crosstable_out(tournament.crosstable())
    return TournamentOut(
        name="cup",
        state="running",
        format=plan.format,
        author=None,
        entrants=plan.entrants,
        played=done,
        total=total,
        created=NOON,
        starts=None,
        started=NOON,
        finished=None,
        rated=False,
        round=tournament.round,
        plan=PlanOut.model_validate(plan, from_attributes=True),
        clock=ControlOut(bank_ms=1, increment_ms=1, start_ms=1),
        seed=None,
        lots=None,
        bots=[
            EnteredOut(name=f"bot-{number}", bot="bot", version=1)
            for number in range(1, plan.entrants + 1)
        ],
        standings=[loaders.standing_out(standing) for standing in tournament.standings()],
        rounds=loaders.rounds_out(tournament.rounds),
        crosstable=crosstable,
        bracket=bracket,
    ).model_dump(mode="json")
