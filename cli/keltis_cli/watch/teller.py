"""A match narrated in sentences: for a pipe, or for reading."""

from __future__ import annotations

from collections.abc import Iterator

from keltis_cli.draw.look import Look
from keltis_cli.draw.narrator import Step, turns
from keltis_cli.watch.model import PUBLIC, Facts, Game, MatchModel
from keltis_cli.watch.moves import dropped, ending
from keltis_cli.watch.screens.match_picture import names_text, result_text


class Teller:
    """Tells what of a match has not been told yet, turn by turn."""

    def __init__(self, model: MatchModel, look: Look, perspective: str = PUBLIC) -> None:
        self.model = model
        self.look = look
        self.perspective = perspective
        self.done = False
        self._rotation = -1
        self._ply = 0  # as far as decisions were taken into sentences
        self._steps: list[Step] = []  # of the turn that is not over
        self._dropouts = 0
        self._closed = False  # whether the end of the game was told
        self._restarts = 0
        self._headed = False

    def lines(self) -> Iterator[str]:
        """Yield what is new."""
        model, facts = self.model, self.model.facts
        if facts is None or self.done:
            return
        if not self._headed:
            self._headed = True
            yield head(facts)
        if self._restarts != model.restarts:
            self._restarts = model.restarts
            self._turn_to(-1)
            yield "The platform failed: the match is played again from its beginning."
        for rotation in model.begun:
            game = model.seen.get(self.perspective, {}).get(rotation)
            if rotation < self._rotation or game is None:
                continue
            if rotation > self._rotation:
                self._turn_to(rotation)
                if not game.views:
                    yield f"Game {rotation + 1} of {facts.players} was played before."
                    continue
                seats = ", ".join(f"seat {s} {n}" for s, n in enumerate(_names(facts, game)))
                yield f"Game {rotation + 1} of {facts.players}: {seats}."
            if game.views:
                yield from self._game(game, _names(facts, game))
        if model.over:
            self.done = True
            yield tail(facts, self.look)

    def _turn_to(self, rotation: int) -> None:
        self._rotation, self._ply, self._dropouts = rotation, 0, 0
        self._steps, self._closed = [], False

    def _game(self, game: Game, names: list[str]) -> Iterator[str]:
        """Yield the turns of a game that are complete, who dropped out, and the end."""
        while self._ply < game.plies:
            yield from self._faults(game, names)
            before, after = game.views[self._ply], game.views[self._ply + 1]
            self._steps.append(Step(before, game.frames[self._ply].notation, after))
            self._ply += 1
            if (after["turn"], after["seat"], after["phase"] == "final") != (
                before["turn"], before["seat"], before["phase"] == "final",
            ) or after["phase"] == "over":  # fmt: skip
                yield from self._sentences(names)
        yield from self._faults(game, names)
        if game.ended and not game.missing and not self._closed:
            self._closed = True
            yield from self._sentences(names)
            yield f"{ending(game, names)}."

    def _faults(self, game: Game, names: list[str]) -> Iterator[str]:
        for dropout in game.dropouts[self._dropouts :]:
            if dropout.ply <= self._ply:
                yield from self._sentences(names)
                self._dropouts += 1
                yield f"{dropped(dropout, names)}."

    def _sentences(self, names: list[str]) -> Iterator[str]:
        for turn in turns(self._steps):
            yield turn.sentence(names[turn.seat])
        self._steps = []


def head(facts: Facts) -> str:
    """Return which match it is."""
    name = f"Match {facts.number:,}" if facts.number else f"Match {facts.id}"
    why = f", {facts.reason}" if facts.reason else ""
    return f"{name}, {facts.variant}: {names_text(facts.entrants)} ({facts.purpose}{why})."


def tail(facts: Facts, look: Look) -> str:
    """Return how it ended."""
    if not facts.over:
        return "The match was aborted; it may be played again."
    result = result_text(facts, look)
    return f"Match {facts.number:,}: {result}" if facts.number else f"The match ended: {result}"


def _names(facts: Facts, game: Game) -> list[str]:
    return [facts.entrants[place].bot for place in game.seats]
