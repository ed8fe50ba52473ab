"""A match under way, as far as it is known, and what each onlooker may see of it.

It is kept as decisions. States and views are made when somebody wants to see them, so a match that
nobody watches costs next to nothing. All cards are shown only when the whole match is over: while
one game of it goes on, the others, which are played with the same deal, keep their secrets.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from keltis_engine import POST_GAME, BadViewer, State, View
from keltis_engine.state.views import EVERYTHING
from keltis_ladder.errors import LadderError
from keltis_ladder.match.clock import Clock, TimeControl
from keltis_ladder.match.faults import Kind
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.results import MatchResult
from keltis_ladder.spectate.batches import Batch, Decided, Decision, Dropped, Ended
from keltis_ladder.spectate.vocabulary import Vocabulary, vocabulary

CHECKPOINTS: Final = 64  # decisions from one to the next: that many are replayed at most

Viewer = int | str  # a seat, SPECTATORS or, when the match is over, POST_GAME


class NotPlayed(LadderError):
    """A game or a decision that does not exist, or not yet."""


class StreamBroken(Exception):
    """What was told of a match does not agree with its result."""


@dataclass(frozen=True)
class SeenDecision:
    """A decision as one viewer may see it; ``None`` stands for what is hidden, or is nothing."""

    ply: int  # how many decisions of the game were taken before it
    seat: int
    action: int
    notation: str
    card: str | None  # that it brought
    spent_ms: int | None  # 0 also if the bot was not asked


@dataclass(frozen=True)
class SeenFault:
    """A bot that dropped out. Nobody reads more than this before the match is over."""

    ply: int  # how many decisions of the game had been taken
    seat: int
    kind: Kind
    code: str


class LiveGame:
    """One rotation of a match. A *ply* counts the decisions taken: 0 is the deal.

    A viewer is a seat, ``PUBLIC`` or ``EVERYTHING``; it is the match that knows who may be which.
    """

    def __init__(
        self, deal: Callable[[], State], players: int, words: Vocabulary, control: TimeControl
    ) -> None:
        self.players = players
        self.ended = False
        self.decisions: list[Decision] = []
        self.faults: list[SeenFault] = []
        self._deal = deal
        self._words = words
        self._control = control
        self._latest: State | None = None  # the furthest that anybody wanted to see
        self._cards: list[str | None] = []  # what the decisions brought, as far as that
        self._checkpoints: list[State] = []

    @property
    def plies(self) -> int:
        """How many decisions have been taken."""
        return len(self.decisions)

    def viewpoint(self, viewer: Viewer) -> int:
        """Return as what a seat or the spectators look at the game; refuse all others."""
        return self._reach(0).viewpoint(viewer)

    def view(self, ply: int, viewer: int) -> View:
        """Return what a viewer may see of the game after a number of decisions."""
        return self._reach(ply).seen_by(viewer)

    def scores(self, ply: int) -> list[int]:
        """Return the seats' points after a number of decisions."""
        return self._reach(ply).scores()

    def seen(self, first: int, end: int, viewer: int) -> list[SeenDecision]:
        """Return the decisions from one ply to another as a viewer may see them."""
        self._reach(end)
        return [self._seen(ply, viewer) for ply in range(first, end)]

    def clocks(self, ply: int, viewer: int) -> list[int]:
        """Return the milliseconds that each seat has for its next decision."""
        clocks = [Clock(self._control) for _ in range(self.players)]
        for seat, action, spent_us in self.decisions[:ply]:
            if spent_us and self._words.names_time(action, seat, viewer):
                clocks[seat].spend(spent_us / 1e6)
        return [clock.left_ms for clock in clocks]

    def _seen(self, ply: int, viewer: int) -> SeenDecision:
        seat, action, spent_us = self.decisions[ply]
        words = self._words
        return SeenDecision(
            ply=ply,
            seat=seat,
            action=action,
            notation=words.texts[action],
            card=self._cards[ply] if words.names_card(action, seat, viewer) else None,
            spent_ms=spent_us // 1000 if words.names_time(action, seat, viewer) else None,
        )

    def _reach(self, ply: int) -> State:
        """Return the state after a number of decisions; the caller must not change it."""
        if self._latest is None:
            self._latest = self._deal()
            self._checkpoints = [self._latest.copy()]
        while len(self._cards) < ply:
            self._step(self._latest)
        if ply == len(self._cards):
            return self._latest
        number = ply // CHECKPOINTS
        state = self._checkpoints[number].copy()
        for decision in self.decisions[number * CHECKPOINTS : ply]:
            state.apply(decision.action)
        return state

    def _step(self, state: State) -> None:
        action = self.decisions[len(self._cards)].action
        card = self._words.card(state, action)
        state.apply(action)
        self._cards.append(card)
        if len(self._cards) % CHECKPOINTS == 0:
            self._checkpoints.append(state.copy())


class LiveMatch:
    """A match that is told in batches, with the same deal in all its games."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.result: MatchResult | None = None
        self.games: list[LiveGame] = []
        self.attempt = ""  # which one this is, so that nobody takes it for another
        self.restart()

    @property
    def over(self) -> bool:
        """Whether the whole match is over, and its cards may be shown."""
        return self.result is not None

    def restart(self) -> None:
        """Forget what was played: the platform failed, and the match is played again."""
        self.attempt = uuid.uuid4().hex
        ruleset, players = self.job.ruleset(), len(self.job.entrants)
        words, seed = vocabulary(ruleset), self.job.seed
        self.games = [
            LiveGame(lambda: ruleset.deal(players, seed), players, words, self.job.control)
            for _ in range(players)
        ]

    def take(self, batch: Batch) -> None:
        """Take note of what happened."""
        for entry in batch:
            game = self.games[entry.rotation]
            match entry:
                case Decided():
                    game.decisions.extend(entry.decisions)
                case Dropped():
                    fault = SeenFault(game.plies, entry.seat, entry.kind, entry.code)
                    game.faults.append(fault)
                case Ended():
                    game.ended = True

    def finish(self, result: MatchResult) -> None:
        """Take the result, after which there are no secrets; refuse one of another match."""
        told = [[decision.action for decision in game.decisions] for game in self.games]
        if told != [game.actions for game in result.games]:
            raise StreamBroken("the decisions of the result are not those that were told before")
        self.result = result

    def view(self, rotation: int, ply: int, viewer: Viewer) -> View:
        """Return what a viewer may see of a game after a number of decisions."""
        return self._game(rotation, ply).view(ply, self._viewpoint(viewer))

    def decisions(
        self, rotation: int, viewer: Viewer, first: int = 0, end: int | None = None
    ) -> list[SeenDecision]:
        """Return the decisions from one ply to another, or to the last, as a viewer may see them.

        The card that a decision brought is named only to those who may see it.
        """
        game = self._game(rotation, first)
        if end is None:
            end = game.plies
        return self._game(rotation, end).seen(first, end, self._viewpoint(viewer))

    def clocks(self, rotation: int, ply: int, viewer: Viewer) -> list[int]:
        """Return the milliseconds that each seat has for its next decision, its increment included.

        Whose turn it is has been thinking since the batch came that brought the last decision.
        """
        return self._game(rotation, ply).clocks(ply, self._viewpoint(viewer))

    def scores(self, rotation: int, ply: int) -> list[int]:
        """Return the seats' points as they stood; they are public in all variants."""
        return self._game(rotation, ply).scores(ply)

    def faults(self, rotation: int, ply: int | None = None) -> list[SeenFault]:
        """Return the bots that had dropped out after a number of decisions, or have by now."""
        faults = self._game(rotation, ply or 0).faults
        return [fault for fault in faults if ply is None or fault.ply <= ply]

    def plies(self, rotation: int) -> int:
        """Return how many decisions have been taken in a game."""
        return self._game(rotation, 0).plies

    def _game(self, rotation: int, ply: int) -> LiveGame:
        """Return a game that has got so far."""
        if not 0 <= rotation < len(self.games):
            raise NotPlayed(f"there is no rotation {rotation}: they go to {len(self.games) - 1}")
        game = self.games[rotation]
        if not 0 <= ply <= game.plies:
            raise NotPlayed(f"there is no ply {ply}: {game.plies} decisions have been taken so far")
        return game

    def _viewpoint(self, viewer: Viewer) -> int:
        """Return what a viewer may see: nobody sees everything before the match is over."""
        if viewer != POST_GAME:
            return self.games[0].viewpoint(viewer)
        if not self.over:
            raise BadViewer("the post-game view shows all cards; this match is not over yet")
        return EVERYTHING
