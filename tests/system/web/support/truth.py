"""What was really on the table, compared with what a spectator was sent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.request import urlopen

from keltis_engine import SPECTATORS, find_variant
from keltis_ladder.spectate.patches import apply
from tests.system.web.support.ladders import Ladder

View = dict[str, Any]
Views = dict[tuple[int, int], View]  # by rotation and ply


class Truth:
    """A match that is over, decision by decision."""

    def __init__(self, ladder: Ladder, match: str) -> None:
        with urlopen(f"{ladder.url}/api/v1/matches/{match}/replay") as answer:
            games = [json.loads(line) for line in answer.read().splitlines()]
        self.seed: str = games[0]["seed"]
        self.public: Views = {}
        self.hands: dict[tuple[int, int], list[list[str]]] = {}
        for rotation, game in enumerate(games):
            ruleset = find_variant(game["variant"], game["options"])
            state = ruleset.deal(game["players"], int(self.seed))
            for ply, decision in enumerate([None, *game["decisions"]]):
                if decision is not None:
                    legal = state.legal_actions()
                    state.apply(next(each for each in legal if state.notation[each] == decision))
                self.public[rotation, ply] = _plain(state.view(SPECTATORS))
                self.hands[rotation, ply] = [
                    state.view(seat)["hands"][seat]["cards"] for seat in range(game["players"])
                ]


def _plain(view: Any) -> View:
    plain: View = json.loads(json.dumps(view))
    return plain


def views_in_messages(messages: Iterable[dict[str, Any]]) -> Views:
    """Put together what a websocket was sent of one match."""
    views: Views = {}
    for message in messages:
        if message["op"] == "snapshot" and (current := message["data"]["current"]):
            _play(views, current["rotation"], current["view"], current["frames"])
        for event in message["data"] if message["op"] == "delta" else []:
            if event["kind"] == "game":
                views[event["rotation"], 0] = event["view"]
            if event["kind"] == "frame":
                _advance(views, event["rotation"], event)
    return views


def views_in_bodies(bodies: Iterable[str]) -> Views:
    """Put together what requests for games were answered with."""
    views: Views = {}
    for body in bodies:
        if body.startswith("{") and "frames" in (game := json.loads(body)):
            _play(views, game["rotation"], game["view"], game["frames"])
    return views


def _play(views: Views, rotation: int, view: View, frames: Iterable[dict[str, Any]]) -> None:
    views[rotation, 0] = view
    for frame in frames:
        _advance(views, rotation, frame)


def _advance(views: Views, rotation: int, frame: dict[str, Any]) -> None:
    ply = frame["ply"]
    views[rotation, ply + 1] = apply(frame["patch"], views[rotation, ply])
