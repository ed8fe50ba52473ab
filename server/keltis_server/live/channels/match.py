"""The channel of a match: its games, decision by decision, as one kind of onlooker sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, Final

from keltis_engine import SPECTATORS
from keltis_ladder.dispatch.dispatcher import (
    AttemptFailed,
    MatchAbandoned,
    MatchFinished,
    MatchPostponed,
    MatchStarted,
    MatchStreamed,
    MatchWithdrawn,
)
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.spectate.frames import Follower, fault_plain
from keltis_ladder.spectate.live_match import LiveMatch, Viewer
from keltis_ladder.spectate.sight import early_sight
from keltis_ladder.store.bots.accounts import Bearer
from keltis_ladder.store.matches.matches import MatchRow, match_row
from keltis_ladder.store.matches.watching import stored_match
from keltis_ladder.store.schema.tables import JobState
from keltis_server.events import Happening, TournamentChanged
from keltis_server.live.channel import Channel, Plain, Refusal, Surroundings, patiently
from keltis_server.live.channels.lobby import committed
from keltis_server.live.subjects import Subject, about_match, about_tournament
from keltis_server.loaders.matches import match_out
from keltis_server.play.watching import owns

STEP: Final = 40  # decisions that are turned into frames at once: about two milliseconds
RESTARTED: Final = {  # the one reason that there is
    "reason": "the platform failed, which is no bot's fault: the match is played again",
    "reason_code": "platform",
}
SETTLED: Final = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class MatchChannel(Channel):
    """A match, as everybody sees it or, with ``bot``, as the author of that bot does."""

    def __init__(
        self, live: Surroundings, topic: str, seq: int, job_id: str, bot: str | None = None
    ) -> None:
        super().__init__(live, topic, seq)
        self.job_id = job_id
        self.bot = bot
        self._row: MatchRow | None = None
        self._match: Plain = {}
        self._live: LiveMatch | None = None  # none: it waits
        self._first_play = False  # nobody has seen this deal before
        self._games: list[Plain] = []  # those before the current one
        self._current: Follower | None = None
        self._frames: list[Plain] = []  # of the current game
        self._begin_clocks: list[int] = []
        self._last: Happening | None = None  # after which nothing more is played
        self._stale = False  # something happened while we were reading
        self._looking = False  # whether its tournament was cancelled
        self._again = False  # and once more, since its tournament has changed

    @property
    def row(self) -> MatchRow:
        """What is stored of the match."""
        assert self._row is not None
        return self._row

    def subjects(self) -> Collection[Subject] | None:
        """Return the match, and its tournament, which may be cancelled before it begins."""
        if self._row is None:
            return None
        found = [about_match(self.job_id)]
        if self._row.job.tournament_id is not None:
            found.append(about_tournament(self._row.job.tournament_id))
        return found

    async def open(self) -> None:
        """Read who plays; then catch up with the game that is being played."""
        await self._read()
        if self._row is None:
            raise Refusal("not-found", f"there is no match {self.job_id}")
        if self.bot is not None and all(each.bot != self.bot for each in self.row.entrants):
            raise Refusal("not-found", f"{self.bot} does not play in this match")
        if JobState(self.row.job.state) in SETTLED or self.row.number is not None:
            await self._open_stored()
            return
        self._attach()
        while self._current is not None and self.work():
            await asyncio.sleep(0)  # let others go on
        self.flush()  # nobody has joined yet

    async def _read(self) -> None:
        """Read until nothing happens meanwhile."""
        while True:
            self._stale = False
            self._row = await self.live.site.read(match_row, self.job_id)
            if self._row is None or not self._stale:
                break
        if self._row is not None:
            found = match_out(self._row, self.live.games.unbegun)
            self._match = found.model_dump(mode="json")

    async def _open_stored(self) -> None:
        if self.row.number is not None:
            self._games = await self.live.site.work(self._stored_games)
        self.end({"state": self._match["state"], "match": self._match})

    def _stored_games(self) -> list[Plain]:
        with self.live.site.database.reading() as session:
            match = stored_match(session, self.row)
        return [_game_plain(match, game.rotation, game.scores) for game in self.row.games]

    def admit(self, caller: Bearer | None) -> None:
        """Let only its author see a bot's hand."""
        if self.bot is not None and not owns(caller, self.bot, self.row.entrants):
            raise Refusal("forbidden", f"only the author of {self.bot} may follow this")

    def snapshot(self) -> Plain:
        """Return the match, its games, and all of the current one."""
        current, games = self._current, list(self._games)
        plain: Plain | None = None
        attempt: str | None = None
        if current is not None and self._live is not None:
            games.append(self._so_far(current))
            attempt = self._live.attempt
            plain = {
                "rotation": current.rotation,
                "seats": entrants_by_seat(current.rotation, self.row.job.players),
                "view": current.first,
                "frames": self._frames,
                "clocks": self._begin_clocks,
            }
        return {"match": self._match, "games": games, "current": plain, "attempt": attempt}

    def take(self, happening: Happening) -> None:
        """Take note of what happens to the match."""
        match happening:
            case MatchStreamed(job=job) if job.id == self.job_id:
                self.live.mark(self)
            case MatchStarted(job=job) if job.id == self.job_id:
                self._stale = True
                self._last = None
                self._attach()
            case AttemptFailed(job=job) if job.id == self.job_id:
                self._stale = True
                self._restart()
            case MatchAbandoned() | MatchPostponed() | MatchWithdrawn() if (
                happening.job.id == self.job_id
            ):
                self._stale = True
                self._settle(happening)
            case MatchFinished(job=job) if job.id == self.job_id:
                self._stale = True
            case ResultStored(playing=playing) if playing.job.id == self.job_id:
                self._stale = True
                self._settle(happening)
            case TournamentChanged(tournament_id=id) if self._waits_for(id):
                self._again = True
                if not self._looking:
                    self._looking = True
                    self.spawn(self._look_again())

    def _waits_for(self, tournament_id: int) -> bool:
        row = self._row
        return row is not None and self._live is None and row.job.tournament_id == tournament_id

    async def _look_again(self) -> None:
        """End with a match whose tournament was cancelled before it began."""
        while self._again:
            self._again = False
            row = await patiently(lambda: self.live.site.read(match_row, self.job_id))
            if row is not None and row.job.state == JobState.CANCELLED and not self.over:
                self._match = match_out(row).model_dump(mode="json")
                self.end({"state": self._match["state"], "match": self._match})
        self._looking = False

    def _attach(self) -> None:
        """Follow the match from now on, if it has begun."""
        if self._row is None or self.over:
            return
        self._live = self.live.games.live.get(self.job_id)
        if self._live is None:
            return
        # It may have been read before the match had its seed.
        self._match = {**self._match, "state": "playing", **_bound_to(self._live.job)}
        # Once for all its games: when the result is stored, what was played before is forgotten.
        self._first_play = self.live.beginnings.first_play(self.job_id, self.row.job.created)
        self.changed()
        rotation = next(
            (number for number, game in enumerate(self._live.games) if not game.ended),
            len(self._live.games) - 1,
        )
        self._games = [_past_game(self._live, earlier) for earlier in range(rotation)]
        self._begin_game(rotation)

    def _begin_game(self, rotation: int) -> None:
        assert self._live is not None
        viewer = self._viewer(rotation)
        self._current = Follower(self._live, rotation, viewer)
        self._frames = []
        self._begin_clocks = self._current.clocks
        self.publish(
            {
                "kind": "game",
                "rotation": rotation,
                "attempt": self._live.attempt,
                "commitment": self._match["commitment"],
                "seats": entrants_by_seat(rotation, self.row.job.players),
                "view": self._current.first,
                "clocks": self._begin_clocks,
            }
        )

    def _viewer(self, rotation: int) -> Viewer:
        if self.bot is None:
            return SPECTATORS
        bots = [each.bot for each in self.row.entrants]
        return early_sight(self.bot, bots, rotation, self._first_play)

    def work(self) -> bool:
        """Turn some decisions into frames."""
        current, live = self._current, self._live
        if current is None or live is None:
            return False
        if current.behind:
            events = current.step(STEP)
            self._frames += [event for event in events if event["kind"] == "frame"]
            self.publish(*events)
        elif current.ended and current.rotation + 1 < len(live.games):
            self._games.append(self._so_far(current))
            self._begin_game(current.rotation + 1)
        if self._behind():
            return True
        if self._last is not None:
            last, self._last = self._last, None
            self.spawn(self._finish(last))
        return False

    def _behind(self) -> bool:
        current, live = self._current, self._live
        return (
            current is not None
            and live is not None
            and (current.behind or (current.ended and current.rotation + 1 < len(live.games)))
        )

    def _restart(self) -> None:
        """Forget all games. What exactly failed is for those who run the ladder."""
        if self._row is None or self.over:
            return
        self._games, self._frames = [], []
        self._current = None
        self.publish({"kind": "restarted", **RESTARTED})

    def _settle(self, last: Happening) -> None:
        """End when everything was told."""
        if self._row is None or self.over:
            return
        if self._behind():
            self._last = last
            self.live.mark(self)
        else:
            self.spawn(self._finish(last))

    async def _finish(self, last: Happening) -> None:
        """Say how the match ended."""
        row = await patiently(lambda: self.live.site.read(match_row, self.job_id))
        if self.over or row is None:
            return
        match = match_out(row).model_dump(mode="json")
        if isinstance(last, ResultStored):
            state = "finished"
        else:  # its lease goes back just now: it is not played any more, whatever comes of it
            state = "failed" if isinstance(last, MatchAbandoned) else "withdrawn"
            match["state"] = "failed" if isinstance(last, MatchAbandoned) else "waiting"
        self._match = match
        if self._current is not None:
            self._games.append(self._so_far(self._current))
        self._current = None
        self.changed()
        self.end({"state": state, "match": match})

    def _so_far(self, game: Follower) -> Plain:
        """Return the short account of a game, as far as it was told."""
        faults = game.match.faults(game.rotation)[: game.faults]
        return {
            "rotation": game.rotation,
            "seats": entrants_by_seat(game.rotation, self.row.job.players),
            "plies": game.ply,
            "ended": game.ended,
            "scores": game.scores,
            "faults": [fault_plain(fault) for fault in faults],
        }


def _bound_to(job: Job) -> Plain:
    plain = committed(job)
    return {"commitment": plain["commitment"], "origin": plain["origin"]}


def _past_game(match: LiveMatch, rotation: int) -> Plain:
    return _game_plain(match, rotation, match.scores(rotation, match.plies(rotation)))


def _game_plain(match: LiveMatch, rotation: int, scores: list[int]) -> dict[str, Any]:
    return {
        "rotation": rotation,
        "seats": entrants_by_seat(rotation, len(match.games)),
        "plies": match.plies(rotation),
        "ended": True,
        "scores": scores,
        "faults": [fault_plain(fault) for fault in match.faults(rotation)],
    }
