"""What the states of all four games have in common: the contract of the engine."""

from __future__ import annotations

import operator
import sys
from abc import abstractmethod
from typing import Final, SupportsIndex, cast, final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i16, i64, mypyc_attr

from keltis_engine.errors import BadViewer, IllegalAction
from keltis_engine.packing import NIL, text, texts, write_array, write_field, write_int, write_map
from keltis_engine.rng import Rng
from keltis_engine.state import fields
from keltis_engine.state.verbs import ActionTable, Verb
from keltis_engine.state.views import (
    EVERYTHING,
    POST_GAME,
    PUBLIC,
    SPECTATORS,
    View,
    viewer_name,
    write_viewer_name,
)

OVER: Final = 0  # the stage that every game ends in
FIGURES_IN: Final = "figures"
END_CARDS_LAID: Final = "end cards"
LAST_CARD: Final = "last card"
LAST_TILE: Final = "last tile"
LIMIT_REACHED: Final = "turn limit"
ENDINGS: Final = [FIGURES_IN, END_CARDS_LAID, LAST_CARD, LAST_TILE, LIMIT_REACHED]

MOST_IDS: Final = 1_000  # no game numbers its actions higher
MOST_ACTIONS: Final = 128  # more than any situation of any game allows
NO_ACTIONS: Final = vec[i16]([0] * MOST_ACTIONS)
# Compiled code holds the interpreter's lock from the listing to its use, so all states can share
# one vector for it. Interpreted, or without such a lock, another thread may come in between.
SCRATCH: Final = vec[i16]([0] * MOST_ACTIONS)
ALONE: Final = not __file__.endswith(".py") and "t" not in getattr(sys, "abiflags", "")
NUMBERS: Final[list[object]] = list(range(MOST_IDS))  # typed so, they stay Python objects


@final
@mypyc_attr(acyclic=True)
class Game:
    """What all states of one game share: its name, its phases and what it declares of actions."""

    def __init__(
        self, id: str, version: int, phases: list[str], notation: list[str], verbs: list[Verb]
    ) -> None:
        self.id = id
        self.version = version
        self.phases = phases  # by stage
        self.notation = notation  # by action id
        self.declared = ActionTable(id, notation, verbs)
        self.packed_id = text(id)
        self.packed_phases = texts(phases)


@mypyc_attr(acyclic=True)
class State:
    """One game, from the deal to its end. Mutable; ``copy`` is cheap and independent."""

    game: Game
    players: i64
    seat: i64  # whose decision it is
    stage: i64  # the phase, as the game's module numbers it
    turn: i64  # number of the turn under way, from 1, all seats counted
    turn_limit: i64  # Ruling: with this turn the game ends as if the last card had been drawn

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.stage == OVER

    @property
    def phase(self) -> str:
        """The name of what has to be decided."""
        return self.game.phases[self.stage]

    @property
    def notation(self) -> list[str]:
        """The notation of every action, by id."""
        return self.game.notation

    @property
    @abstractmethod
    def ending(self) -> str | None:
        """What ended the game, one of ``ENDINGS``; none while it goes on."""

    @abstractmethod
    def list_actions(self, into: vec[i16]) -> i64:
        """Write the legal actions, ascending, to the front of ``into``; return their number."""

    @abstractmethod
    def play(self, action: i64) -> None:
        """Carry out an action known to be legal. ``apply`` is the one that checks."""

    @abstractmethod
    def copy(self) -> State:
        """Return an independent copy."""

    @abstractmethod
    def determinize(self, seat: int, rng: Rng) -> State:
        """Return a random complete state that agrees with everything the seat has seen.

        Each arrangement of the unseen cards is equally likely.
        """

    @abstractmethod
    def score(self, seat: i64) -> i64:
        """Return the seat's total as it stands."""

    @abstractmethod
    def breakdown(self) -> list[dict[str, int]]:
        """Return each seat's points by component; they add up to ``scores()``."""

    @abstractmethod
    def room(self, seat: i64) -> i64:
        """Return how many card kinds the seat's rows still accept."""

    @abstractmethod
    def outcome(self, action: int) -> str | None:
        """Return the card that a legal action would draw, take or reveal, if it does.

        This sees the draw pile. It is for those who keep the record, never for players.
        """

    @abstractmethod
    def seen_by(self, viewer: int) -> View:
        """Build the view of a seat, ``PUBLIC`` or ``EVERYTHING``. ``view`` checks who asks."""

    @abstractmethod
    def write_view(self, out: BytesWriter, viewer: i64) -> None:
        """Write what ``seen_by`` builds. ``packed_view`` checks who asks."""

    def __copy__(self) -> State:
        """Let ``copy.copy`` do what ``copy`` does."""
        return self.copy()

    def __deepcopy__(self, memo: object) -> State:
        """Let ``copy.deepcopy`` do what ``copy`` does."""
        return self.copy()

    def __repr__(self) -> str:
        """Say which game this is and where it stands."""
        return (
            f"<{type(self).__name__}: {self.players} players, turn {self.turn}, "
            f"seat {self.seat}, phase {self.phase!r}>"
        )

    def legal_actions(self) -> list[int]:
        """Return the legal actions, ascending; none when the game is over."""
        result: list[object] = []  # before the scratch: making a list may run other code
        into = SCRATCH if ALONE else NO_ACTIONS[:]
        for k in range(self.list_actions(into)):
            result.append(NUMBERS[i64(into[k])])
        return cast(list[int], result)

    def is_legal(self, action: SupportsIndex) -> bool:
        """Return whether an action is legal now; an id that does not exist is not."""
        number = int(action) if isinstance(action, int) else operator.index(action)
        return 0 <= number < MOST_IDS and self.lists(number)

    def lists(self, action: i64) -> bool:
        """Return whether the action is among those that ``list_actions`` writes."""
        into = SCRATCH if ALONE else NO_ACTIONS[:]
        for k in range(self.list_actions(into)):
            if i64(into[k]) == action:
                return True
        return False

    def apply(self, action: SupportsIndex) -> None:
        """Carry out a legal action; refuse any other and leave the state unchanged."""
        number = int(action) if isinstance(action, int) else operator.index(action)
        if not 0 <= number < MOST_IDS or not self.lists(number):
            raise IllegalAction(self._refusal(number))
        self.play(number)

    def scores(self) -> list[int]:
        """Return the seats' totals as they stand."""
        return [int(self.score(seat)) for seat in range(self.players)]

    def winners(self) -> list[int]:
        """Return the seats with the highest total; a win can be shared."""
        scores = self.scores()
        return [seat for seat, score in enumerate(scores) if score == max(scores)]

    def view(self, viewer: int | str) -> View:
        """Return what a seat, ``"spectators"`` or, after the game, ``"post-game"`` may see."""
        return self.seen_by(self.viewpoint(viewer))

    def packed_view(self, viewer: int | str) -> bytes:
        """Return ``view`` as msgpack, at a fraction of the cost."""
        out = BytesWriter()
        self.write_view(out, self.viewpoint(viewer))
        return out.getvalue()

    def viewpoint(self, viewer: int | str) -> int:
        """Return a seat, ``PUBLIC`` or ``EVERYTHING``: what the viewer may see; or raise."""
        if viewer == SPECTATORS:
            return PUBLIC
        if viewer == POST_GAME:
            if not self.over:
                raise BadViewer("the post-game view shows all cards; this game is not over yet")
            return EVERYTHING
        return self.at_table(viewer)

    def reveal(self) -> View:
        """Return everything, at any time: for keeping records, never for anybody at play."""
        return self.seen_by(EVERYTHING)

    def common_view(self, viewer: int, options: dict[str, int]) -> View:
        """Return what stands at the head of every view; ``options`` are the game's own."""
        return {
            "variant": self.game.id,
            "version": self.game.version,
            "options": {"turn_limit": int(self.turn_limit), **options},
            "players": int(self.players),
            "viewer": viewer_name(viewer),
            "seat": int(self.seat),
            "phase": self.phase,
            "turn": int(self.turn),
            "ending": self.ending,
            "scores": self.scores(),
        }

    def write_ruleset(self, out: BytesWriter, size: i64, options: i64) -> None:
        """Begin a view of that many fields, with the first of its options.

        The game's own options have to follow, and then ``write_standing``: together they write
        what ``common_view`` returns.
        """
        write_map(out, size)
        out.write(fields.VARIANT)
        out.write(self.game.packed_id)
        write_field(out, fields.VERSION, self.game.version)
        out.write(fields.OPTIONS)
        write_map(out, options)
        write_field(out, fields.TURN_LIMIT, self.turn_limit)

    def write_standing(self, out: BytesWriter, viewer: i64) -> None:
        """Write who looks at the game and how it stands."""
        write_field(out, fields.PLAYERS, self.players)
        out.write(fields.VIEWER)
        write_viewer_name(out, viewer)
        write_field(out, fields.SEAT, self.seat)
        out.write(fields.PHASE)
        out.write(self.game.packed_phases[self.stage])
        write_field(out, fields.TURN, self.turn)
        ending = self.ending
        out.write(fields.ENDING)
        out.write(NIL if ending is None else text(ending))
        out.write(fields.SCORES)
        write_array(out, self.players)
        for seat in range(self.players):
            write_int(out, self.score(seat))

    def at_table(self, seat: int | str) -> int:
        """Return the seat if it exists, or raise."""
        if isinstance(seat, int) and 0 <= seat < int(self.players):
            return int(seat)
        raise BadViewer(
            f"nobody sits at {seat!r}: views are for seats 0 to {self.players - 1}, "
            f"{SPECTATORS!r} and {POST_GAME!r}"
        )

    def _refusal(self, action: int) -> str:
        names = self.notation
        if not 0 <= action < len(names):
            return f"there is no action {action}: ids go from 0 to {len(names) - 1}"
        if self.over:
            return f"{names[action]!r} ({action}) is not legal: the game is over"
        legal = ", ".join(names[a] for a in self.legal_actions())
        return (
            f"{names[action]!r} ({action}) is not legal: seat {self.seat} has to decide "
            f"{self.phase!r} and may choose {legal}"
        )
