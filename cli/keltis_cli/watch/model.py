"""A match as the server tells it: messages come in, and the position after any decision is there.

Nothing here knows where messages come from, how quickly they are shown, or on what.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from keltis_cli.draw.printable import printable
from keltis_engine import View
from keltis_ladder.match.reasons import MatchReason, table_label
from keltis_ladder.match.rotation import entrants_by_seat
from keltis_ladder.match.table_labels import label_text
from keltis_ladder.spectate.patches import apply

PUBLIC: Final = "public"
ALL: Final = "all"  # all cards: when the match is over
FINISHED: Final = "finished"
OVER: Final = (FINISHED, "failed", "cancelled")

Message = Mapping[str, Any]


@dataclass(frozen=True)
class Entrant:
    """A bot in a match, and what came of it; what is not known yet is ``None``."""

    bot: str
    version: int
    author: str = ""
    mu: float | None = None
    rank: int | None = None
    wins: float | None = None
    points: int | None = None
    faults: int | None = None

    @classmethod
    def of(cls, plain: Message) -> Entrant:
        """Read one of a match."""
        return cls(
            bot=printable(plain["bot"]),
            version=plain["version"],
            author=printable(plain.get("author") or ""),
            mu=plain.get("mu"),
            rank=plain.get("rank"),
            wins=plain.get("wins"),
            points=plain.get("points"),
            faults=plain.get("faults"),
        )


@dataclass(frozen=True)
class Facts:
    """What a match is."""

    id: str
    variant: str
    players: int
    state: str
    number: int | None = None
    purpose: str = "ladder"
    rated: bool = True
    reason: str = ""
    table: str = ""  # of a tournament: what it is called
    tournament: str | None = None
    entrants: tuple[Entrant, ...] = ()
    seed: str | None = None

    @classmethod
    def of(cls, plain: Message) -> Facts:
        """Read the ``MatchOut`` of the server."""
        return cls(
            id=plain["id"],
            variant=plain["variant"],
            players=plain["players"],
            state=plain["state"],
            number=plain.get("number"),
            purpose=plain["purpose"],
            rated=plain["rated"],
            reason=printable(plain.get("reason") or ""),
            table=_table(plain),
            tournament=plain.get("tournament"),
            entrants=tuple(map(Entrant.of, plain["entrants"])),
            seed=plain.get("seed"),
        )

    @property
    def over(self) -> bool:
        """Whether nothing more is played."""
        return self.state in OVER

    def within_tournament(self) -> Facts:
        """Return the same where the tournament is known: the reason is its place there."""
        return replace(self, reason=self.table or self.reason)

    @property
    def names(self) -> list[str]:
        """Who plays."""
        return [entrant.bot for entrant in self.entrants]


def _table(match: Message) -> str:
    """Return at which table of a tournament a match is; empty if that is not known here."""
    if match.get("reason_code") != MatchReason.TOURNAMENT:
        return ""
    try:
        return label_text(table_label(match["reason_details"]))
    except (KeyError, ValueError):  # of a later release
        return ""


@dataclass(frozen=True)
class Frame:
    """One decision, and what it changes in the view."""

    ply: int  # decisions before it
    seat: int
    notation: str
    card: str | None
    ms: int | None
    patch: list[list[Any]]
    scores: list[int]
    clocks: list[int]

    @classmethod
    def of(cls, plain: Message) -> Frame:
        """Read one that the server sent."""
        return cls(
            ply=plain["ply"],
            seat=plain["seat"],
            notation=plain["notation"],
            card=plain.get("card"),
            ms=plain.get("ms"),
            patch=plain["patch"],
            scores=plain["scores"],
            clocks=plain["clocks"],
        )


@dataclass(frozen=True)
class Dropout:
    """A bot that dropped out of a game by a fault."""

    ply: int
    seat: int
    kind: str
    code: str

    @classmethod
    def of(cls, plain: Message) -> Dropout:
        """Read an event, or an entry of a list of faults."""
        ply = plain["ply"] if "ply" in plain else plain["decision"]
        kind = plain["fault"] if "fault" in plain else plain["kind"]
        return cls(ply, plain["seat"], printable(kind), printable(plain.get("code") or ""))


class Game:
    """One rotation of a match as one onlooker sees it.

    The views of all plies are kept: each shares with the one before all that did not change.
    """

    def __init__(self, rotation: int, seats: list[int]) -> None:
        self.rotation = rotation
        self.seats = seats  # the entrant on each
        self.frames: list[Frame] = []
        self.views: list[View] = []  # none until the deal is known
        self.first_clocks: list[int] = []  # milliseconds at the deal; none: nobody may know
        self.timed = True  # else it was not kept how long anything took
        self.dropouts: list[Dropout] = []
        self.ended = False
        self.scores: list[int] | None = None  # in the end
        self.told = 0  # decisions that there are, as far as we heard
        self.unsure = False  # perhaps of an attempt that was given up while we were away
        self.moved_at: float | None = None  # when the last decision came
        self._early: dict[int, Frame] = {}  # frames that came before one that is missing

    @property
    def plies(self) -> int:
        """How many decisions can be shown."""
        return len(self.frames)

    @property
    def missing(self) -> bool:
        """Whether more has been played than we know."""
        return not self.views or self.unsure or self.told > self.plies

    def deal(self, view: View) -> None:
        """Begin with the view before the first decision."""
        self.views, self.frames = [view], []

    def add(self, frame: Frame, at: float | None = None) -> None:
        """Take a decision; one that is known already changes nothing."""
        self.told = max(self.told, frame.ply + 1)
        if not self.views or frame.ply > self.plies:
            self._early[frame.ply] = frame
            return
        following: Frame | None = frame if frame.ply == self.plies else None
        while following is not None:
            self.views.append(apply(following.patch, self.views[-1]))
            self.frames.append(following)
            self.moved_at = at
            following = self._early.pop(self.plies, None)

    def contradicts(self, frames: Iterable[Message]) -> bool:
        """Return whether these frames are of another attempt to play the game."""
        known = zip(self.frames, frames, strict=False)
        return any(one.notation != other["notation"] for one, other in known)

    def fill(self, view: View, frames: Iterable[Message]) -> None:
        """Take a game from its beginning, unless more of it is known."""
        if not self.views:
            self.deal(view)
        for plain in frames:
            self.add(Frame.of(plain))
        following = self._early.pop(self.plies, None)
        if following is not None:
            self.add(following)

    def drop(self, dropout: Dropout) -> None:
        """Take note of a fault, once."""
        if dropout not in self.dropouts:
            self.dropouts.append(dropout)

    def scores_at(self, ply: int) -> list[int]:
        """Return the seats' points after a number of decisions."""
        return list(self.views[ply]["scores"])

    def clocks_at(self, ply: int) -> list[int]:
        """Return the milliseconds that each seat has for its next decision; none if hidden."""
        if not self.timed:
            return []
        return self.frames[ply - 1].clocks if ply else self.first_clocks


class MatchModel:
    """One match, from every perspective that we have been given."""

    def __init__(self, facts: Facts | None = None) -> None:
        self.facts = facts
        self.seen: dict[str, dict[int, Game]] = {PUBLIC: {}}
        self.restarts = 0
        self._broken: set[str] = set()  # perspectives of a match that waits to be begun again
        self._attempts: dict[str, str] = {}  # whose games are known, from each perspective
        self.problem = ""  # why the server does not tell it
        self.ended = facts is not None and facts.over

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.ended

    @property
    def broken_off(self) -> bool:
        """Whether the server stopped to play it; it may be played again."""
        return self.ended and self.facts is not None and not self.facts.over

    @property
    def begun(self) -> list[int]:
        """The games that have begun, by their rotations."""
        return sorted({rotation for games in self.seen.values() for rotation in games})

    @property
    def latest(self) -> int:
        """The rotation that was begun last."""
        return max(self.begun, default=0)

    def longest(self, rotation: int) -> Game | None:
        """Return a game from the perspective that has most of it; all show the same moves."""
        found = [games[rotation] for games in self.seen.values() if rotation in games]
        return max(found, key=lambda game: len(game.views), default=None)

    def seen_from(self, rotation: int, ply: int, perspective: str) -> Game | None:
        """Return a game from a perspective, or as long as that lags behind, from the best one."""
        game = self.seen.get(perspective, {}).get(rotation)
        return game if game is not None and len(game.views) > ply else self.longest(rotation)

    def lacks(self, rotation: int, perspective: str) -> bool:
        """Return whether moves of a game have to be asked for."""
        game = self.seen.get(perspective, {}).get(rotation)
        return rotation in self.begun and (game is None or game.missing)

    def take(self, message: Message, at: float | None = None, perspective: str = PUBLIC) -> None:
        """Take a message of the match's topic."""
        match message["op"]:
            case "snapshot":
                self._begin(message["data"], perspective)
            case "delta":
                for event in message["data"]:
                    self._happen(event, at, perspective)
            case "end":
                self.expect(message["data"]["match"])
                self.ended = True
            case "error":
                self.problem = printable(str(message.get("detail") or message.get("code")))

    def load(self, frames: Message, perspective: str) -> None:
        """Take a whole game, as ``GET .../frames`` returns it."""
        known = self.seen.get(perspective, {}).get(frames["rotation"])
        if known is not None and known.contradicts(frames["frames"]):
            self._forget_moves(perspective)  # it was begun again, and ended, while we were away
        game = self._game(frames["rotation"], frames["seats"], perspective)
        game.unsure = False
        game.first_clocks = frames["clocks"]
        game.fill(frames["view"], frames["frames"])
        game.ended = game.ended or frames["ended"]
        game.timed = any(frame.ms is not None for frame in game.frames)
        for fault in frames["faults"]:
            game.drop(Dropout.of(fault))

    def expect(self, plain: Message) -> None:
        """Take note of what a match that is over consists of, without its moves."""
        self._learn(Facts.of(plain))
        self._close(plain)

    def _begin(self, data: Message, perspective: str) -> None:
        """Take a snapshot. What was known before and still holds is kept: somebody looks at it."""
        self.ended = False  # one that was broken off may be played after all
        self._learn(Facts.of(data["match"]))
        known = self.seen.setdefault(perspective, {})
        if not data["games"]:
            if known:  # what was seen of it stays until it is begun again
                self._broken.add(perspective)
            return
        told = defaultdict(int, {plain["rotation"]: plain["plies"] for plain in data["games"]})
        behind = any(told[game.rotation] < game.plies for game in known.values())
        attempt = data.get("attempt")
        another = attempt is not None and attempt != self._attempts.get(perspective, attempt)
        if behind or another or perspective in self._broken:
            self._forget(perspective)  # it was begun again while we were away
        if attempt is not None:
            self._attempts[perspective] = attempt
        elif data["current"] is None:  # it is over: who knows which attempt counted
            for game in known.values():
                game.unsure = bool(game.views)
        for plain in data["games"]:
            if not plain["plies"] and not plain["ended"]:
                continue  # not begun, or it is the current one, which follows
            game = self._game(plain["rotation"], plain["seats"], perspective)
            game.told = max(game.told, plain["plies"])
            game.ended = plain["ended"]
            game.scores = plain["scores"] if game.ended else None
            for fault in plain["faults"]:
                game.drop(Dropout.of(fault))
        current = data["current"]
        if current is not None:
            game = self._game(current["rotation"], None, perspective)
            game.first_clocks = current["clocks"]
            game.fill(current["view"], current["frames"])

    def _forget(self, perspective: str) -> None:
        """Forget all games: they are played again."""
        self.seen[perspective] = {}
        self._broken.discard(perspective)
        self._attempts.pop(perspective, None)
        self.restarts += perspective == PUBLIC

    def _forget_moves(self, perspective: str) -> None:
        """Forget what was seen of the games of a match that is over; they can be asked for."""
        known = self.seen[perspective]
        self._forget(perspective)
        for rotation, game in known.items():
            fresh = self._game(rotation, game.seats, perspective)
            fresh.ended, fresh.scores, fresh.dropouts = game.ended, game.scores, game.dropouts

    def _happen(self, event: Message, at: float | None, perspective: str) -> None:
        if event["kind"] == "restarted" or perspective in self._broken:
            self._forget(perspective)
        match event["kind"]:
            case "game":
                self._attempts[perspective] = event.get("attempt", "")
                game = self._game(event["rotation"], event["seats"], perspective)
                if not game.views:
                    game.first_clocks = event["clocks"]
                    game.deal(event["view"])
                    game.moved_at = at
            case "frame":
                self._game(event["rotation"], None, perspective).add(Frame.of(event), at)
            case "fault":
                self._game(event["rotation"], None, perspective).drop(Dropout.of(event))
            case "ended":
                game = self._game(event["rotation"], None, perspective)
                game.ended, game.scores = True, event["scores"]

    def _game(self, rotation: int, seats: list[int] | None, perspective: str) -> Game:
        games = self.seen.setdefault(perspective, {})
        if rotation not in games:
            players = self.facts.players if self.facts else len(seats or [])
            usual = entrants_by_seat(rotation, players)
            games[rotation] = Game(rotation, list(seats) if seats else usual)
        return games[rotation]

    def _learn(self, facts: Facts) -> None:
        self.facts = facts
        self.ended = self.ended or facts.over

    def _close(self, plain: Message) -> None:
        """Take the games of a result: those whose moves we do not have can be asked for."""
        for entry in plain.get("games") or []:
            game = self._game(entry["rotation"], entry["seats"], PUBLIC)
            game.ended, game.scores = True, entry["scores"]
            for fault in entry["faults"]:
                game.drop(Dropout.of(fault))
