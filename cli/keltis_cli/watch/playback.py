"""The position of the viewer in a match, and the speed of playback.

Bots may take a thousand decisions in a second; people read a few. What arrives waits in the model
until the onlooker comes to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keltis_cli.watch.model import PUBLIC, Game, MatchModel

AS_THEY_COME: Final = 0
SPEEDS: Final = (1, 2, 5, 10, 30, AS_THEY_COME)  # decisions a second
FASTEST: Final = 30
USUAL: Final = 5
PAGE: Final = 10  # decisions
BETWEEN_GAMES: Final = 2.5  # seconds to look at the end of a game


@dataclass
class Playback:
    """A place in a match: after ``ply`` decisions of game ``rotation``."""

    model: MatchModel
    speed: int = USUAL
    rotation: int = 0
    ply: int = 0
    playing: bool = True
    perspective: str = PUBLIC
    restarts: int = 0
    waited: float = 0.0  # seconds at this place

    @property
    def game(self) -> Game | None:
        """The game that is looked at, as far as it is known."""
        return self.model.longest(self.rotation)

    @property
    def end(self) -> int:
        """The last ply of the game that can be shown."""
        return self.game.plies if self.game else 0

    @property
    def at_end(self) -> bool:
        """Whether nothing of this game is left to be shown."""
        return self.ply >= self.end

    @property
    def is_live(self) -> bool:
        """Whether this is the newest position that there is."""
        return not self.model.over and self.rotation == self.model.latest and self.at_end

    @property
    def is_last(self) -> bool:
        """Whether the whole match has been shown."""
        return self.model.over and self.rotation == self.model.latest and self.at_end

    @property
    def behind(self) -> int:
        """How many decisions have come that were not shown yet."""
        later = [
            self.model.longest(number) for number in self.model.begun if number > self.rotation
        ]
        return max(0, self.end - self.ply) + sum(
            max(game.plies, game.told) for game in later if game
        )

    def tick(self, seconds: float) -> bool:
        """Let time pass; return whether the place has changed."""
        place = self.rotation, self.ply
        if self.restarts != self.model.restarts:
            self.restarts = self.model.restarts
            self.live()
        elif self.ply > self.end:
            self.ply = self.end
        elif self.playing:
            self._go_on(seconds)
        return place != (self.rotation, self.ply)

    def _go_on(self, seconds: float) -> None:
        if self.speed == AS_THEY_COME and not self.model.over:
            self.live()
        elif self.at_end:
            self.waited += seconds
            if self._goes_on and self.waited >= BETWEEN_GAMES:
                self.go(self.rotation + 1, 0)
        else:
            speed = self.speed or FASTEST  # of a match that is over, nothing comes any more
            # However long nothing came: of many that come at once, one is shown.
            self.waited = min(self.waited, 1 / speed) + seconds
            steps = int(self.waited * speed)
            self.waited -= steps / speed
            self.ply = min(self.end, self.ply + steps)
            if self.at_end:
                self.waited = 0.0

    @property
    def _goes_on(self) -> bool:
        game, following = self.game, self.model.longest(self.rotation + 1)
        return bool(game and game.ended and not game.missing and following and following.views)

    def go(self, rotation: int, ply: int) -> None:
        """Go to a place, as far as there is one."""
        if rotation in self.model.begun:
            self.rotation = rotation
        self.ply = max(0, min(ply, self.end))
        self.waited = 0.0

    def step(self, count: int) -> None:
        """Go some decisions forth or back, and stay there."""
        self.playing = False
        self.go(self.rotation, self.ply + count)

    def first(self) -> None:
        """Go to the deal, and stay there."""
        self.playing = False
        self.go(self.rotation, 0)

    def live(self) -> None:
        """Go to the newest position, and on from there."""
        self.playing = True
        self.go(self.model.latest, 0)
        self.ply = self.end

    def turn_game(self, count: int) -> None:
        """Go to the beginning of another game of the match."""
        if self.rotation + count in self.model.begun:
            self.go(self.rotation + count, 0)

    def change_speed(self, count: int) -> None:
        """Go on more quickly, or more slowly."""
        place = SPEEDS.index(self.speed) + count
        self.speed = SPEEDS[max(0, min(place, len(SPEEDS) - 1))]
        self.waited = 0.0

    def pause(self) -> None:
        """Stop, or go on; from the end of a match that is over, from its beginning."""
        self.playing = not self.playing
        if self.playing and self.is_last:
            self.go(0, 0)

    def speed_text(self) -> str:
        """Return how quickly it goes on."""
        return f"{self.speed}/s" if self.speed else "as they come"
