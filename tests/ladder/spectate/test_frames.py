"""Frames: views and what changes in them, the same for everybody whom nothing more concerns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keltis_engine import POST_GAME, SPECTATORS, VARIANTS, Rng, Ruleset, State, find_variant
from keltis_engine.play.policies import POLICIES
from keltis_engine.state.views import EVERYTHING
from keltis_ladder.match.clock import DEFAULT_CONTROL
from keltis_ladder.match.entrants import built_in, named_apart
from keltis_ladder.match.faults import Kind
from keltis_ladder.match.jobs import Job
from keltis_ladder.spectate import patches
from keltis_ladder.spectate.batches import Decided, Decision, Dropped, Ended
from keltis_ladder.spectate.frames import Follower, game_plain, so_far
from keltis_ladder.spectate.live_match import LiveGame, LiveMatch, Viewer
from keltis_ladder.spectate.vocabulary import vocabulary

TABLES = [(variant, players) for variant in VARIANTS for players in find_variant(variant).players]
ENOUGH = 400  # decisions of one game


def text(value: Any) -> str:
    """Return a value as text: True is not 1 there."""
    return json.dumps(value, sort_keys=True)


def told(state: State, action: int) -> Decision:
    """Return a decision as a referee tells it: a forced one is not asked for."""
    spent_us = 2500 + 1000 * action if len(state.legal_actions()) > 1 else 0
    return Decision(int(state.seat), action, spent_us)


def played(ruleset: Ruleset, players: int, seed: int) -> list[Decision]:
    """Return the decisions of a game between eager players."""
    state, rng = ruleset.deal(players, seed), Rng(seed)
    decisions: list[Decision] = []
    while not state.over and len(decisions) < ENOUGH:
        action = POLICIES["eager"](state, rng)
        decisions.append(told(state, action))
        state.apply(action)
    return decisions


def job_of(variant: str, players: int, seed: int) -> Job:
    entrants = tuple(named_apart([built_in("greedy")] * players))
    return Job(variant, dict(find_variant(variant).options), seed, entrants, id="the-match")


def match_of(variant: str, players: int, seed: int) -> LiveMatch:
    match = LiveMatch(job_of(variant, players, seed))
    decisions = tuple(played(find_variant(variant), players, seed))
    match.take((Decided(0, decisions), Ended(0)))
    return match


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_frames_lead_through_the_views_of_every_viewer(variant: str, players: int) -> None:
    match = match_of(variant, players, seed=7)
    viewers: list[Viewer] = [SPECTATORS, players - 1]
    for viewer in viewers:
        follower = Follower(match, 0, viewer)
        view = follower.first
        events: list[dict[str, Any]] = []
        while follower.behind:
            events += follower.step(9)
        for ply, event in enumerate(events[:-1]):
            view = patches.apply(event["patch"], view)
            assert event["ply"] == ply
            assert text(view) == text(match.view(0, ply + 1, viewer))
            assert event["scores"] == match.scores(0, ply + 1)
            if ply % 20 == 0:
                assert event["clocks"] == match.clocks(0, ply + 1, viewer)
        assert events[-1] == {"kind": "ended", "rotation": 0, "scores": view["scores"]}
        assert len(events) == match.plies(0) + 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_patches_are_a_small_part_of_the_view(variant: str) -> None:
    match = match_of(variant, 2, seed=11)
    frames = game_plain(match, 0, SPECTATORS, True)["frames"]
    patch = sum(len(text(frame["patch"])) for frame in frames) / len(frames)
    assert patch < len(text(match.view(0, match.plies(0), SPECTATORS))) / 4


def test_a_bot_that_drops_out_is_told_before_the_decision_that_follows() -> None:
    decisions = played(find_variant("keltis"), 2, 3)
    match = LiveMatch(job_of("keltis", 2, 3))
    dropped = Dropped(0, 1, Kind.CRASH, "exit")
    match.take((Decided(0, tuple(decisions[:5])), dropped, Decided(0, tuple(decisions[5:8]))))
    events = Follower(match, 0, SPECTATORS).step()
    assert [event["kind"] for event in events] == ["frame"] * 5 + ["fault"] + ["frame"] * 3
    assert events[5] == {
        "kind": "fault",
        "rotation": 0,
        "ply": 5,
        "seat": 1,
        "fault": "crash",
        "code": "exit",
    }
    assert game_plain(so_far(match), 0, SPECTATORS, True) == game_plain(match, 0, SPECTATORS, True)
    match.take((Ended(0),))
    assert so_far(match).games[0].ended


def two_worlds(state: State, viewer: Viewer, rng: Rng) -> tuple[State, list[list[Decision]]]:
    """Return another state that looks the same, and decisions that are legal in both.

    What they show the viewer is the same, too: a card that is revealed, a tile that is uncovered.
    """
    words = vocabulary(find_variant(state.game.id))
    begin = state.determinize(int(state.seat), rng)
    worlds = [state.copy(), begin.copy()]
    decisions: list[list[Decision]] = [[], []]

    def shows_the_same(action: int) -> bool:
        hidden = words.hides_card[action] and int(worlds[0].seat) != viewer
        cards = {None if hidden else words.card(world, action) for world in worlds}
        one, other = worlds
        return len(cards) == 1 and tiles_after(one, action) == tiles_after(other, action)

    while not worlds[0].over and len(decisions[0]) < 10:
        legal = [a for a in worlds[0].legal_actions() if worlds[1].is_legal(a)]
        possible = [action for action in legal if shows_the_same(action)]
        if not possible:
            break
        action = possible[int(rng.below(len(possible)))]
        for world, taken in zip(worlds, decisions, strict=True):
            taken.append(told(world, action))
            world.apply(action)
    return begin, decisions


def tiles_after(state: State, action: int) -> Any:
    after = state.copy()
    after.apply(action)
    return after.view(SPECTATORS).get("tiles")


def messages_of(variant: str, begin: State, decisions: list[Decision], viewer: Viewer) -> str:
    """Return all that a viewer is told of a game that began like this."""
    players = int(begin.players)
    match = LiveMatch(job_of(variant, players, 0))
    words = vocabulary(find_variant(variant))
    match.games[0] = LiveGame(lambda: begin.copy(), players, words, DEFAULT_CONTROL)
    match.take((Decided(0, tuple(decisions)),))
    return text(game_plain(match, 0, viewer, True))


def hidden_of(state: State) -> Any:
    """Return what not everybody may see."""
    view = state.seen_by(EVERYTHING)
    return [view.get(name) for name in ("hands", "pile", "stacks", "removed")]


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_what_is_hidden_leaves_no_trace_in_what_is_told(variant: str, players: int) -> None:
    followed = different = 0
    state, rng = find_variant(variant).deal(players, 5), Rng(5)
    for _ in range(16):
        for viewer in (SPECTATORS, int(state.seat)):
            other, decisions = two_worlds(state, viewer, rng)
            followed += len(decisions[0])
            different += text(hidden_of(state)) != text(hidden_of(other))
            one = messages_of(variant, state, decisions[0], viewer)
            assert one == messages_of(variant, other, decisions[1], viewer)
        for _ in range(11):
            if not state.over:
                state.apply(POLICIES["eager"](state, rng))
    assert different >= 10, "the worlds are the same: this proves nothing"
    assert followed >= 10


def test_nobody_sees_everything_before_the_match_is_over() -> None:
    match = match_of("keltis", 2, seed=1)
    with pytest.raises(ValueError, match="not over"):
        Follower(match, 0, POST_GAME)
    with pytest.raises(ValueError, match="not over"):
        game_plain(so_far(match), 0, POST_GAME, True)
