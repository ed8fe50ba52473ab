"""The lobby: every match that is being played, and the last that were."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Final

from sqlmodel import Session

from keltis_ladder.dispatch.dispatcher import (
    MatchAbandoned,
    MatchPostponed,
    MatchStarted,
    MatchStreamed,
    MatchWithdrawn,
)
from keltis_ladder.match.commitments import commitment
from keltis_ladder.match.jobs import Job
from keltis_ladder.run.pace import Pace
from keltis_ladder.run.scheduler import MatchAssigned, PaceChanged, ResultStored
from keltis_ladder.spectate.live_match import LiveMatch
from keltis_ladder.store.matches.matches import MatchFilter, MatchRow, finished_jobs, match_rows
from keltis_ladder.store.schema.moments import now
from keltis_server.events import Happening
from keltis_server.live.channel import Channel, Plain, Surroundings, patiently, require_room
from keltis_server.loaders.filling import filled
from keltis_server.loaders.matches import match_out, origin_out
from keltis_server.models.lobby import PlayedOut, PlayerOut, RunningOut

RECENT: Final = 20
MOST_NEWS: Final = 2_000  # matches that began or ended and are not looked up yet
MOVES: Final = 0.5  # seconds between two accounts of how far the matches are

News = MatchStarted | ResultStored | MatchAbandoned | MatchPostponed | MatchWithdrawn


class LobbyChannel(Channel):
    """What goes on."""

    def __init__(self, live: Surroundings, topic: str, seq: int) -> None:
        super().__init__(live, topic, seq)
        self._matches: dict[str, Plain] = {}
        self._recent: deque[Plain] = deque(maxlen=RECENT)  # the newest first
        self._inbox: deque[News] = deque()  # about matches that have to be looked up
        self._digesting = True  # until it is open
        self._moved: set[str] = set()
        self._waiting = False

    async def open(self) -> None:
        """Read what is played and what was."""
        wanted = list(self.live.games.live)
        recent, rows = await self.live.site.read(_read, wanted)
        for row in reversed(recent):
            self._recent.appendleft(match_summary(row))
        for row in rows:
            if row.number is None and row.job.id in self.live.games.live:
                self._matches[row.job.id] = self._lobby_match(row)
        self._digesting = False
        if self._inbox:
            self._start_digesting()

    def snapshot(self) -> Plain:
        """Return all matches."""
        return {
            "matches": list(self._matches.values()),
            "recent": list(self._recent),
            "committed": [committed(playing.job) for playing in self.live.games.playing.values()],
            "pace": _pace(self.live.games.pace),
        }

    def take(self, happening: Happening) -> None:
        """Take note of matches that begin, go on and end."""
        match happening:
            case MatchAssigned(playing=playing):
                # Sent at once, before a referee hears of the match: a decision of it can only come
                # later. The other players have to be looked up first, which takes its time.
                self.publish({"kind": "committed", **committed(playing.job)})
                self.flush()
            case MatchStreamed(job=job):
                self._moved.add(job.id)
                if not self._waiting:
                    self._waiting = True
                    self.later(MOVES, self._tell_moves)
            case PaceChanged():
                self.publish({"kind": "pace", **_pace(self.live.games.pace)})
            case (
                MatchStarted()
                | ResultStored()
                | MatchAbandoned()
                | MatchPostponed()
                | MatchWithdrawn()
            ):
                require_room(self._inbox, MOST_NEWS)
                self._inbox.append(happening)
                if not self._digesting:
                    self._start_digesting()

    def _drop(self, id: str, reason: str) -> None:
        if self._matches.pop(id, None) is not None:
            self.publish({"kind": "gone", "id": id, "reason": reason})

    def _tell_moves(self) -> None:
        self._waiting = False
        moved, self._moved = self._moved, set()
        for id in moved:
            live, match = self.live.games.live.get(id), self._matches.get(id)
            if live is not None and match is not None:
                where = _where(live)
                self._matches[id] = {**match, **where}
                self.publish({"kind": "moved", "id": id, **where})

    def _start_digesting(self) -> None:
        self._digesting = True
        self.spawn(self._digest())

    async def _digest(self) -> None:
        """Look up the matches that began or ended, many at once, and tell of them in order."""
        while self._inbox:
            news = list(self._inbox)
            self._inbox.clear()
            ids = list({_id(each): None for each in news})
            found = await patiently(partial(self.live.site.read, match_rows, ids))
            rows = {row.job.id: row for row in found}
            for each in news:
                row = rows.get(_id(each))
                match each:
                    case MatchStarted() if row is not None:
                        self._began(row)
                    case ResultStored() if row is not None:
                        self._finished(row)
                    case MatchAbandoned():
                        self._drop(_id(each), "failed")
                    case MatchPostponed() | MatchWithdrawn():
                        self._drop(_id(each), "withdrawn")
        self._digesting = False

    def _began(self, row: MatchRow) -> None:
        match = self._lobby_match(row)
        self._matches[row.job.id] = match
        self.publish({"kind": "began", "match": match})

    def _finished(self, row: MatchRow) -> None:
        self._matches.pop(row.job.id, None)
        result = match_summary(row)
        if all(other["id"] != row.job.id for other in self._recent):
            self._recent.appendleft(result)
        self.publish({"kind": "finished", "id": row.job.id, "number": row.number, "result": result})

    def _lobby_match(self, row: MatchRow) -> Plain:
        match = match_out(row)
        live = self.live.games.live.get(row.job.id)
        nothing = {"rotation": 0, "plies": 0, "scores": [0] * row.job.players}
        since = self.live.beginnings.last_begun(row.job.id) or now()
        where = _where(live) if live is not None else nothing
        players = [PlayerOut.model_validate(each, from_attributes=True) for each in match.entrants]
        told = filled(RunningOut, match, **where, entrants=players, since=since)
        return told.model_dump(mode="json")


def committed(job: Job) -> Plain:
    """Return what a match is bound to before its first decision."""
    origin = None if job.origin is None else origin_out(job.origin).model_dump(mode="json")
    return {"id": job.id, "commitment": commitment(job.id, job.seed), "origin": origin}


def match_summary(row: MatchRow) -> Plain:
    """Return a match that was played, in a few words."""
    told = PlayedOut.model_validate(match_out(row), from_attributes=True)
    return told.model_dump(mode="json")


def _where(live: LiveMatch) -> Plain:
    """Return how far a match is; points are public."""
    last = len(live.games) - 1
    rotation = next((n for n, game in enumerate(live.games) if not game.ended), last)
    plies = live.plies(rotation)
    return {"rotation": rotation, "plies": plies, "scores": live.scores(rotation, plies)}


def _pace(pace: Pace) -> Plain:
    return {"tempo": pace.tempo.value, "per_minute": pace.per_minute}


def _read(session: Session, ids: list[str]) -> tuple[list[MatchRow], list[MatchRow]]:
    recent = [id for _, id in finished_jobs(session, MatchFilter(), None, RECENT)]
    return match_rows(session, recent), match_rows(session, ids)


def _id(happening: News) -> str:
    return happening.playing.job.id if isinstance(happening, ResultStored) else happening.job.id
