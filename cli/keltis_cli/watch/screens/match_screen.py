"""The screen of a match: playback, and keys to step and jump."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType

from keltis_cli.draw.look import Look
from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.troubles import Refused, Unreachable
from keltis_cli.watch.feed import Feed
from keltis_cli.watch.model import ALL, PUBLIC, MatchModel, Message
from keltis_cli.watch.playback import PAGE, USUAL, Playback
from keltis_cli.watch.screens.match_picture import Showing, match_lines
from keltis_cli.watch.screens.pictures import GENERAL, PictureScreen

AGAIN: Final = 3.0  # seconds before what could not be had is asked for again


class MatchScreen(PictureScreen):
    """One match."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"step({count})", show=False)
            for key, count in (
                ("left", -1),
                ("right", 1),
                ("shift+left,pageup", -PAGE),
                ("shift+right,pagedown", PAGE),
            )
        ),
        Binding("home", "first", "First"),
        Binding("end,l", "live", "Live"),
        Binding("space", "pause", "Pause"),
        Binding("plus,equals_sign", "speed(1)", "Faster"),
        Binding("minus", "speed(-1)", "Slower"),
        Binding("n", "game(1)", "Next game"),
        Binding("p", "game(-1)", "Game before"),
        Binding("v", "perspective", "Perspective"),
        Binding("b,escape", "back", "Lobby"),
    ]
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Left, Right", "one decision back, forth"),
        ("Shift+Left, PageUp", "ten decisions back"),
        ("Shift+Right, PageDown", "ten decisions forth"),
        ("Home", "to the deal"),
        ("End, l", "live: to the newest position"),
        ("Space", "pause, and go on"),
        ("+, -", "faster, slower: 1, 2, 5, 10, 30 a second, as they come"),
        ("n, p", "next game of the match, the one before"),
        ("v", "whose cards: public, my bot's, all when it is over"),
        ("b, Esc", "back to the lobby"),
        *GENERAL,
    )

    def __init__(self, look: Look, feed: Feed, match: str, speed: int = USUAL) -> None:
        super().__init__(look)
        self.feed = feed
        self.match = match  # the id of its job
        self.playback = Playback(MatchModel(), speed)
        self.begin(MatchModel())

    def begin(self, model: MatchModel) -> None:
        """Forget what was shown, but not how quickly."""
        self.model = model
        self.playback = Playback(model, self.playback.speed)
        self.showing = Showing(self.playback)
        self._asking: dict[tuple[int, str], float] = {}  # until when not to ask again
        self._begun = False
        self._broken_for = 0.0  # seconds

    @property
    def topic(self) -> str:
        """Where the match is told."""
        return f"match/{self.match}"

    def on_mount(self) -> None:
        """Begin, if it is known which match."""
        if self.match:
            self.open_match()

    @work(exclusive=True, group="open")
    async def open_match(self) -> None:
        """Ask what match it is; follow it, or if it is over replay it from its beginning."""
        model = self.model
        try:
            plain = await self.feed.match(self.match)
        except (Refused, Unreachable) as trouble:
            model.problem = str(trouble)
            return
        if plain is None:
            model.problem = f"There is no match {printable(self.match)}."
            return
        model.expect(plain)
        if model.over and not model.broken_off:
            self.showing.waiting = f"This match is {printable(plain['state'])}: nothing was played."
            self.playback.perspective = ALL
            if not self._begun:
                self._begun = True
                self.playback.go(0, 0)
        else:
            self.showing.waiting = "The match has not begun yet."
            await self.follow(PUBLIC)

    async def follow(self, perspective: str) -> None:
        """Follow the match from a perspective."""
        model = self.model  # the screen may turn to another one meanwhile

        def take(message: Message) -> None:
            model.take(message, time.monotonic(), perspective)
            self._begin_playing()

        await self.feed.follow(self._topic_of(perspective), take)

    def _begin_playing(self) -> None:
        """Go to where the match is, the first time that there is something to see."""
        if not self._begun and self.model.begun:
            self._begun = True
            self.playback.restarts = self.model.restarts
            self.playback.live()

    async def on_unmount(self) -> None:
        """Follow it no more."""
        for topic in self.topics():
            await self.feed.leave(topic)

    @work
    async def leave_topics(self, topics: list[str]) -> None:
        """Follow them no more, without keeping anybody waiting."""
        for topic in topics:
            await self.feed.leave(topic)

    def topics(self) -> list[str]:
        """Return what we may be following."""
        return [self._topic_of(perspective) for perspective in self.model.seen]

    def _topic_of(self, perspective: str) -> str:
        return self.topic if perspective in (PUBLIC, ALL) else f"{self.topic}/bot/{perspective}"

    def lines(self, width: int, height: int) -> list[Text]:
        """Return the picture."""
        return match_lines(self.showing, width, height, self.look, time.monotonic())

    def pass_time(self, seconds: float) -> None:
        """Go on, and ask for games that we do not have."""
        self.showing.connected = self.feed.connected
        self.playback.tick(seconds)
        self._ask_for(self.playback.rotation)
        if self.model.broken_off:
            self._come_back(seconds)
        elif self.model.over:
            self._ask_for(self.playback.rotation + 1)

    def _come_back(self, seconds: float) -> None:
        """Look now and then whether a match that was broken off is played again."""
        self._broken_for += seconds
        if self._broken_for >= AGAIN:
            self._broken_for = 0.0
            self.open_match()

    def _ask_for(self, rotation: int) -> None:
        """Ask for a game unless it is there, or on its way."""
        perspective = self.playback.perspective
        key = rotation, perspective
        now = time.monotonic()
        if self.model.lacks(rotation, perspective) and self._asking.get(key, 0.0) <= now:
            self._asking[key] = now + AGAIN
            self.fetch(rotation, perspective)

    @work
    async def fetch(self, rotation: int, perspective: str) -> None:
        """Get a game; if that fails, it is asked for again after a while."""
        model = self.model
        restarts = model.restarts
        try:
            frames = await self.feed.frames(self.match, rotation, perspective)
        except (Refused, Unreachable) as trouble:
            if self.playback.game is None or not self.playback.game.views:
                self.showing.waiting = str(trouble)
            return
        if restarts == model.restarts:  # else it may be of the attempt that was given up
            model.load(frames, perspective)

    def action_step(self, count: int) -> None:
        """Go some decisions forth or back."""
        self.playback.step(count)
        self.redraw()

    def action_first(self) -> None:
        """Go to the deal."""
        self.playback.first()
        self.redraw()

    def action_live(self) -> None:
        """Go to the newest position."""
        self.playback.live()
        self.redraw()

    def action_pause(self) -> None:
        """Stop, or go on."""
        self.playback.pause()
        self.redraw()

    def action_speed(self, count: int) -> None:
        """Go on faster or slower."""
        self.playback.change_speed(count)
        self.redraw()

    def action_game(self, count: int) -> None:
        """Go to another game of the match."""
        self.playback.turn_game(count)
        self.redraw()

    async def action_perspective(self) -> None:
        """Look at it with other eyes, as far as that is allowed."""
        allowed = self.perspectives()
        place = allowed.index(self.playback.perspective) + 1
        self.playback.perspective = perspective = allowed[place % len(allowed)]
        if perspective not in self.model.seen:
            self.model.seen[perspective] = {}
            if perspective != ALL and not self.model.over:
                await self.follow(perspective)
        self.redraw()

    def perspectives(self) -> list[str]:
        """Return whose cards may be shown: those of our own bots, and all when it is over."""
        facts = self.model.facts
        mine = [
            entrant.bot
            for entrant in (facts.entrants if facts else ())
            if self.feed.author is not None and entrant.author == self.feed.author
        ]
        found = [PUBLIC, *([ALL] if self.model.over else []), *dict.fromkeys(mine)]
        return found if self.playback.perspective in found else [self.playback.perspective, *found]

    def action_back(self) -> None:
        """Leave the match."""
        self.dismiss()
