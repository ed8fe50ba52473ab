"""Frames: a game as one onlooker sees it, decision by decision.

A frame is a decision, and how the view after it differs from the view before it.
"""

from __future__ import annotations

from typing import Any, Final

from keltis_ladder.match.clock import Clock
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.spectate.batches import Decided, Dropped, Ended
from keltis_ladder.spectate.live_match import LiveGame, LiveMatch, SeenDecision, SeenFault, Viewer
from keltis_ladder.spectate.patches import diff
from keltis_ladder.spectate.sight import sight_name

ENTIRE: Final = 1 << 30  # more decisions than any game has

Plain = dict[str, Any]


class Follower:
    """Follows one game for one viewer, and tells each thing that happens in it once, in order."""

    def __init__(self, match: LiveMatch, rotation: int, viewer: Viewer, timed: bool = True) -> None:
        self.match = match
        self.rotation = rotation
        self.viewer = viewer
        self.first: Plain = match.view(rotation, 0, viewer)  # the view at ply 0
        self.view = self.first  # the view as far as was told
        self.ply = 0
        self.faults = 0  # that were told
        self.ended = False  # and it was told
        self._timed = timed  # else nobody knows how long anything took, and clocks stand still
        self._game = match.games[rotation]
        self._clocks = [Clock(match.job.control) for _ in range(self._game.players)]

    @property
    def behind(self) -> bool:
        """Whether more has happened than was told."""
        game = self._game
        return (
            self.ply < game.plies
            or self.faults < len(game.faults)
            or (game.ended and not self.ended)
        )

    @property
    def scores(self) -> list[int]:
        """The seats' points as far as was told."""
        scores: list[int] = self.view["scores"]
        return scores

    @property
    def clocks(self) -> list[int]:
        """The milliseconds that each seat has for its next decision."""
        return [clock.left_ms for clock in self._clocks]

    def step(self, most: int = ENTIRE) -> list[Plain]:
        """Return what comes next: at most this many decisions, and what lies between them."""
        events: list[Plain] = []
        for _ in range(min(most, self._game.plies - self.ply)):
            events += self._new_faults()
            events.append(self._frame())
        if self.ply == self._game.plies:
            events += self._new_faults()
            if self._game.ended and not self.ended:
                self.ended = True
                events.append({"kind": "ended", "rotation": self.rotation, "scores": self.scores})
        return events

    def _frame(self) -> Plain:
        ply = self.ply
        (decision,) = self.match.decisions(self.rotation, self.viewer, ply, ply + 1)
        view = self.match.view(self.rotation, ply + 1, self.viewer)
        self._spend(decision)
        patch = diff(self.view, view)
        self.view = view
        self.ply = ply + 1
        return {
            "kind": "frame",
            "rotation": self.rotation,
            "ply": ply,
            "seat": decision.seat,
            "action": decision.action,
            "notation": decision.notation,
            "card": decision.card,
            "ms": decision.spent_ms if self._timed else None,
            "patch": patch,
            "scores": self.scores,
            "clocks": self.clocks,
        }

    def _spend(self, decision: SeenDecision) -> None:
        spent_us = self._game.decisions[decision.ply].spent_us
        if spent_us and decision.spent_ms is not None:  # else the viewer may not know
            self._clocks[decision.seat].spend(spent_us / 1e6)

    def _new_faults(self) -> list[Plain]:
        told = self.faults
        due = [fault for fault in self._game.faults[told:] if fault.ply <= self.ply]
        self.faults += len(due)
        return [{"kind": "fault", "rotation": self.rotation, **fault_plain(fault)} for fault in due]


def fault_plain(fault: SeenFault) -> Plain:
    """Return a fault as everybody may see it."""
    return {"ply": fault.ply, "seat": fault.seat, "fault": str(fault.kind), "code": fault.code}


def so_far(match: LiveMatch) -> LiveMatch:
    """Return a match as it stands now, which another thread can look at while this one goes on."""
    copy = LiveMatch(match.job)
    for rotation, game in enumerate(match.games):
        copy.take(tuple(_told(rotation, game)))
    return copy


def _told(rotation: int, game: LiveGame) -> list[Decided | Dropped | Ended]:
    entries: list[Decided | Dropped | Ended] = []
    ply = 0
    for fault in game.faults:
        entries.append(Decided(rotation, tuple(game.decisions[ply : fault.ply])))
        entries.append(Dropped(rotation, fault.seat, fault.kind, fault.code))
        ply = fault.ply
    entries.append(Decided(rotation, tuple(game.decisions[ply:])))
    if game.ended:
        entries.append(Ended(rotation))
    return entries


def game_plain(match: LiveMatch, rotation: int, viewer: Viewer, timed: bool) -> Plain:
    """Return a whole game, as far as it has come, as one viewer may see it."""
    follower = Follower(match, rotation, viewer, timed)
    begin = follower.clocks
    events = follower.step()
    return {
        "match": match.job.id,
        "rotation": rotation,
        "viewer": sight_name(viewer),
        "seats": entrants_by_seat(rotation, len(match.games)),
        "view": follower.first,
        "clocks": begin,
        "frames": [event for event in events if event["kind"] == "frame"],
        "faults": [fault_plain(fault) for fault in match.faults(rotation)],
        "ended": follower.ended,
        "scores": follower.scores,
    }
