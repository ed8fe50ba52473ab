"""Matches as a server tells them, recorded from real games of the engine, and a feed of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from keltis_cli.watch.feed import Take
from keltis_cli.watch.model import ALL, PUBLIC
from keltis_engine import POST_GAME, SPECTATORS, Rng
from keltis_engine.play.policies import POLICIES
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import Kind
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import GameResult, MatchResult, SeatTime
from keltis_ladder.spectate.batches import Decided, Decision, Dropped, Ended
from keltis_ladder.spectate.live_match import LiveMatch, Viewer
from keltis_ladder.spectate.patches import diff

BOTS = ["greedy", "a-bot-with-a-rather-long-name", "random", "mine.v2"]
ADA = "ada"  # the author of the first

Plain = dict[str, Any]


class Record:
    """A match that was played to its end, and can be told from any point of it."""

    def __init__(
        self, variant: str, players: int = 2, seed: int = 7, fault: bool = False, policy: str = ""
    ) -> None:
        entrants = tuple(Entrant(name, name, ("true",), None) for name in BOTS[:players])
        self.job = Job(variant, {}, seed, entrants, id=f"{seed:08x}-0000-4000-8000-000000000000")
        self.live = LiveMatch(self.job)
        self.players = players
        games = [self._play(rotation, policy or "eager", fault) for rotation in range(players)]
        self.live.finish(MatchResult(games))
        self.wins = [
            sum(game.ranks[game.entrants.index(place)] == 1 for game in games)
            for place in range(players)
        ]
        self.points = [
            sum(game.scores[game.entrants.index(place)] for game in games)
            for place in range(players)
        ]

    def _play(self, rotation: int, policy: str, fault: bool) -> GameResult:
        state = self.job.ruleset().deal(self.players, self.job.seed)
        rng = Rng(self.job.seed + rotation)
        decisions: list[Decision] = []
        while not state.over and not (fault and len(decisions) == 9):
            seat, action = int(state.seat), POLICIES[policy](state, rng)
            decisions.append(Decision(seat, action, 1000 * (len(decisions) % 7)))
            state.apply(action)
        self.live.take((Decided(rotation, tuple(decisions)),))
        if fault:
            self.live.take((Dropped(rotation, 1, Kind.CRASH, "exit"),))
        self.live.take((Ended(rotation),))
        scores = state.scores()
        return GameResult(
            rotation=rotation,
            entrants=self.seats(rotation),
            actions=[decision.action for decision in decisions],
            ending="fault" if fault else "last tile",
            scores=scores,
            ranks=[1 + sum(other > score for other in scores) for score in scores],
            times=[SeatTime(1, 0.1, 0.1, 0.1)] * self.players,
            losses=[],
        )

    @property
    def topic(self) -> str:
        """Where it is told."""
        return f"match/{self.job.id}"

    def seats(self, rotation: int) -> list[int]:
        """Return the entrant on each seat."""
        return [(seat + rotation) % self.players for seat in range(self.players)]

    def plies(self, rotation: int) -> int:
        """Return how many decisions a game has."""
        return self.live.plies(rotation)

    def match_out(self, over: bool = False) -> Plain:
        """Return the match as the server describes it."""
        ranks = [1 + sum(other > own for other in self.wins) for own in self.wins]
        return {
            "id": self.job.id,
            "number": 1234 if over else None,
            "state": "finished" if over else "playing",
            "purpose": "ladder",
            "rated": True,
            "variant": self.job.variant,
            "players": self.players,
            "options": {},
            "clock": {"bank_ms": 1000, "increment_ms": 20, "start_ms": 5000},
            "reason": "close and uncertain",
            "reason_code": "close",
            "reason_details": {},
            "tournament": None,
            "commitment": "00" * 32,
            "seed": str(self.job.seed) if over else None,
            "entrants": [
                {
                    "position": place,
                    "bot": name,
                    "version": place + 1,
                    "author": ADA if place == 0 else "bob",
                    "rank": ranks[place] if over else None,
                    "wins": self.wins[place] if over else None,
                    "points": self.points[place] if over else None,
                    "faults": 0 if over else None,
                    "mu": 30.25 - 3 * place,
                    "sigma": 1.0,
                }
                for place, name in enumerate(BOTS[: self.players])
            ],
            "decisions": None,
            "created": "2026-11-16T12:00:00Z",
            "finished": "2026-11-16T12:00:09Z" if over else None,
            "games": [self._game_out(rotation) for rotation in range(self.players)] if over else [],
        }

    def _game_out(self, rotation: int) -> Plain:
        plies = self.plies(rotation)
        return {
            "rotation": rotation,
            "seats": self.seats(rotation),
            "ending": "last tile",
            "scores": self.live.scores(rotation, plies),
            "ranks": [],
            "digest": "",
            "faults": [
                {"seat": fault.seat, "decision": fault.ply, "kind": fault.kind, "code": fault.code}
                for fault in self.live.faults(rotation)
            ],
        }

    def viewer(self, rotation: int, perspective: str) -> Viewer:
        """Return as what somebody looks at a game."""
        if perspective in (PUBLIC, ALL):
            return SPECTATORS if perspective == PUBLIC else POST_GAME
        return self.seats(rotation).index(BOTS.index(perspective))

    def frame(self, rotation: int, ply: int, perspective: str = PUBLIC) -> Plain:
        """Return one decision as the server sends it."""
        viewer = self.viewer(rotation, perspective)
        (seen,) = self.live.decisions(rotation, viewer, ply, ply + 1)
        before = self.live.view(rotation, ply, viewer)
        after = self.live.view(rotation, ply + 1, viewer)
        return {
            "kind": "frame",
            "rotation": rotation,
            "ply": ply,
            "seat": seen.seat,
            "action": seen.action,
            "notation": seen.notation,
            "card": seen.card,
            "ms": seen.spent_ms,
            "patch": diff(before, after),
            "scores": self.live.scores(rotation, ply + 1),
            "clocks": self.live.clocks(rotation, ply + 1, viewer),
        }

    def frames(self, rotation: int, perspective: str = PUBLIC, end: int | None = None) -> Plain:
        """Return a game as ``GET .../frames`` does."""
        end = self.plies(rotation) if end is None else end
        viewer = self.viewer(rotation, perspective)
        return {
            "match": self.job.id,
            "rotation": rotation,
            "viewer": perspective,
            "seats": self.seats(rotation),
            "view": self.live.view(rotation, 0, viewer),
            "clocks": self.live.clocks(rotation, 0, viewer),
            "frames": [self.frame(rotation, ply, perspective) for ply in range(end)],
            "faults": [
                {"ply": fault.ply, "seat": fault.seat, "fault": fault.kind, "code": fault.code}
                for fault in self.live.faults(rotation, end)
            ],
            "ended": end == self.plies(rotation),
            "scores": self.live.scores(rotation, end),
        }

    def snapshot(self, rotation: int, ply: int, seq: int = 1, perspective: str = PUBLIC) -> Plain:
        """Return what somebody is told who comes when so much of a game has been played."""
        current = self.frames(rotation, perspective, ply)
        games = [
            {
                "rotation": number,
                "seats": self.seats(number),
                "plies": self.plies(number) if number < rotation else ply,
                "ended": number < rotation,
                "scores": self.live.scores(number, self.plies(number) if number < rotation else 0),
                "faults": [],
            }
            for number in range(rotation + 1)
        ]
        data = {
            "match": self.match_out(),
            "games": games,
            "attempt": self.live.attempt,
            "current": {
                "rotation": rotation,
                "view": current["view"],
                "frames": current["frames"],
                "clocks": current["clocks"],
            },
        }
        return {"op": "snapshot", "topic": self.topic, "seq": seq, "data": data}

    def events(self, rotation: int = 0, ply: int = 0, perspective: str = PUBLIC) -> Iterator[Plain]:
        """Yield all that happens from a point on."""
        for number in range(rotation, self.players):
            if number > rotation:
                viewer = self.viewer(number, perspective)
                view = self.live.view(number, 0, viewer)
                seats = self.seats(number)
                clocks = self.live.clocks(number, 0, viewer)
                yield {
                    "kind": "game",
                    "rotation": number,
                    "attempt": self.live.attempt,
                    "seats": seats,
                    "view": view,
                    "clocks": clocks,
                }
            for place in range(ply if number == rotation else 0, self.plies(number)):
                yield self.frame(number, place, perspective)
            for fault in self.live.faults(number):
                yield {
                    "kind": "fault",
                    "rotation": number,
                    "ply": fault.ply,
                    "seat": fault.seat,
                    "fault": fault.kind,
                    "code": fault.code,
                }
            scores = self.live.scores(number, self.plies(number))
            yield {"kind": "ended", "rotation": number, "scores": scores}

    def delta(self, seq: int, *events: Plain) -> Plain:
        """Return events as one message."""
        return {"op": "delta", "topic": self.topic, "seq": seq, "data": list(events)}

    def end(self, seq: int = 99) -> Plain:
        """Return the last message."""
        data = {"state": "finished", "match": self.match_out(over=True)}
        return {"op": "end", "topic": self.topic, "seq": seq, "data": data}

    def lobby_entry(self) -> Plain:
        """Return the match as the lobby lists it while it runs."""
        plain = self.match_out()
        keys = ["id", "variant", "players", "purpose", "rated", "reason", "entrants", "commitment"]
        return {
            **{key: plain[key] for key in keys},
            "rotation": 0,
            "plies": 12,
            "scores": [3] * self.players,
            "since": "2026-11-16T12:00:00Z",
        }


class RecordedFeed:
    """A feed whose messages come from a test."""

    def __init__(self, *records: Record, over: bool = False, author: str | None = None) -> None:
        self.records = {record.job.id: record for record in records}
        self.connected = True
        self.author = author
        self.over = over
        self.asked: list[tuple[str, int, str]] = []
        self.takers: dict[str, Take] = {}
        self.first: dict[str, Plain] = {}  # what is told of a topic at once

    async def follow(self, topic: str, take: Take) -> None:
        """Follow a topic."""
        self.takers[topic] = take
        if topic in self.first:
            take(self.first[topic])

    async def leave(self, topic: str) -> None:
        """Follow it no more."""
        self.takers.pop(topic, None)

    async def match(self, match: str) -> Any:
        """Return a match."""
        record = self.records.get(match)
        return record.match_out(self.over) if record else None

    async def frames(self, match: str, rotation: int, viewer: str) -> Any:
        """Return a game of a match."""
        self.asked.append((match, rotation, viewer))
        return self.records[match].frames(rotation, viewer)

    async def run(self) -> None:
        """Wait for ever: the test sends messages itself."""
        await asyncio.Event().wait()

    def tell(self, message: Plain) -> None:
        """Send a message to whoever follows its topic."""
        self.takers[message["topic"]](message)
