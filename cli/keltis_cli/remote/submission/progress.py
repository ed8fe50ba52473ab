"""Following a submitted bot: its build, its check, and its first match."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from keltis_cli.draw.findings import say_finding
from keltis_cli.draw.look import TITLE, console
from keltis_cli.draw.printable import lines_of, say_indented
from keltis_cli.draw.strokes import counted
from keltis_cli.draw.tables.leaderboard import bot_name
from keltis_cli.remote.connect.calls import part
from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.following import (
    Message,
    NewsTimeout,
    Retry,
    Waiting,
    follow,
    news_timeout,
)
from keltis_cli.remote.connect.shapes import read
from keltis_cli.remote.pages.match import result_line
from keltis_server.models.bots import BotOut, VersionOut
from keltis_server.models.matches import MatchOut
from keltis_server.models.reports import FindingOut, FoundOut

CHECKING: Final = "checking"
ACTIVE: Final = "active"
UNCHECKED: Final = "unchecked"
FIRST_MATCH: Final = 120.0  # seconds to wait for it: without opponents there is none


@dataclass
class Outcome:
    """What is known of a version, as the server says it."""

    version: Any
    report: Any = None
    first: Any = None
    rating: Any = None
    url: str = ""

    @property
    def state(self) -> str:
        """What the version may do now."""
        return str(self.version["state"])

    @property
    def failed(self) -> bool:
        """Whether it came to nothing."""
        return self.state not in (CHECKING, ACTIVE)

    @property
    def unchecked(self) -> bool:
        """Whether the server could not check it, which is no fault of the bot."""
        return self.state == UNCHECKED

    def to_plain(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "version": self.version,
            "report": self.report,
            "first_match": self.first,
            "rating": self.rating,
            "url": self.url,
        }


async def follow_version(
    server: Server, bot: str, version: Any, quiet: bool, silence: float
) -> Outcome:
    """Show what happens to a version until its first match is over, or it has failed.

    Raise ``NothingNew`` if nothing happens to it for as many seconds as ``silence``.
    """
    watch = Watch(server, bot, Outcome(version), quiet)
    try:
        async with news_timeout(server, watch.waiting, silence, watch.how_it_goes_on) as kept:
            await watch.until_settled(kept)
        if not quiet:
            watch.sum_up()
    finally:
        watch.waiting.rest()
    return watch.outcome


class Watch:
    """Follows one version, and shows what is new: each thing once, from wherever it comes."""

    def __init__(self, server: Server, bot: str, outcome: Outcome, quiet: bool) -> None:
        self.server = server
        self.bot = bot
        self.outcome = outcome
        self.quiet = quiet
        self.number = read(server, VersionOut, outcome.version).number
        self.path = f"/bots/{part(bot)}/versions/{self.number}"
        self.out = console()
        self.waiting = Waiting(quiet)
        self.findings = 0  # shown so far
        self.output = 0  # characters of the build's output that were shown
        self.line = ""  # that the build has not ended yet
        self.active_since: float | None = None
        self.known: tuple[Any, Any] = (outcome.version, outcome.report)

    async def until_settled(self, kept: NewsTimeout) -> None:
        """Follow until there is nothing more to wait for, then ask for the whole."""
        retry = Retry()
        self.outcome.url = f"{self.server.url}/bots/{part(self.bot)}"
        self.waiting.say("waiting for the server to build and check it ...")
        self._note_state()
        topic = f"version/{self.bot}/{self.number}"
        try:
            async with (
                asyncio.timeout_at(self._deadline) as limit,
                aclosing(follow(self.server, topic)) as messages,
            ):
                async for message in messages:
                    if message is None:
                        await retry.ask(self._look)
                    else:
                        await self._take(message)
                    if self.outcome.failed or self.outcome.first is not None:
                        break
                    if self.active_since is not None:
                        kept.stop_counting()
                    elif message is not None or self._has_changed():
                        kept.note_news()
                    limit.reschedule(self._deadline)
        except TimeoutError:
            pass  # it has no opponents
        await self._look()
        await self._rate()

    @property
    def _deadline(self) -> float | None:
        """Until when we wait for its first match; until it plays, for as long as there is news."""
        return None if self.active_since is None else self.active_since + FIRST_MATCH

    def _has_changed(self) -> bool:
        """Return whether what is known of it is another than the last time that this was asked."""
        before, self.known = self.known, (self.outcome.version, self.outcome.report)
        return before != self.known

    def how_it_goes_on(self) -> str:
        """Say how things stand, and how to see more."""
        name = bot_name(self.bot, self.number)
        return (
            f"{name} is {self.outcome.state} there; to see how it goes on: keltis-ladder show"
            f" {self.bot}/{self.number}"
        )

    async def _look(self) -> None:
        """Ask how things are; what is new is shown."""
        self.outcome.version = await self.server.get(self.path)
        self._report(await self.server.get(f"{self.path}/report"))
        self._note_state()
        if self.outcome.first is None and self.outcome.state == ACTIVE:
            for plain in await self.server.pages("/matches", 50, bot=self.bot, state="finished"):
                if self._is_rated_and_its_own(plain):
                    self.outcome.first = plain  # the oldest of them, in the end

    def _is_rated_and_its_own(self, plain: Any) -> bool:
        match = read(self.server, MatchOut, plain)
        mine = any(e.bot == self.bot and e.version == self.number for e in match.entrants)
        return match.rated and mine

    async def _take(self, message: Message) -> None:
        """Show what is told live."""
        data = message["data"]
        if message["op"] == "snapshot":
            self.outcome.version = data["version"]
            if data.get("report"):
                self._report(data["report"])
            self._note_state()
            self.outcome.first = self.outcome.first or data.get("first")
        elif message["op"] == "delta":
            for event in data:
                self._happened(event)
        if message["op"] == "end":
            await self._look()

    def _happened(self, event: Any) -> None:
        kind = event.get("kind")
        if kind == "doing":
            self.waiting.say(f"{event['text']} ...")
        elif kind == "output":
            self._build_says(event["text"])
        elif kind == "finding":
            self._found(event)
        elif kind == "state":
            told = {key: value for key, value in event.items() if key != "kind"}
            self.outcome.version = {**self.outcome.version, **told}
            self._note_state()
        elif kind == "match":
            self.outcome.first = self.outcome.first or event["match"]

    def _report(self, plain: Any) -> None:
        """Show what of a report has not been shown yet."""
        self.outcome.report = plain
        report = read(self.server, FoundOut, plain)
        self._build_says(report.output[self.output :])
        for finding in plain.get("findings", [])[self.findings :]:
            self._found(finding)

    def _found(self, plain: Any) -> None:
        self.findings += 1
        finding = read(self.server, FindingOut, plain)
        if not self.quiet:
            self._end_line()
            self.waiting.rest()
            say_finding(self.out, finding)

    def _build_says(self, text: str) -> None:
        """Pass on whole lines of the build's output, to the error output."""
        self.output += len(text)
        *lines, self.line = (self.line + text).split("\n")
        if lines and not self.quiet:
            self.waiting.rest()
            for line in lines_of("\n".join(lines)):
                print(f"  | {line}", file=sys.stderr, flush=True)

    def _end_line(self) -> None:
        if self.line:
            self._build_says("\n")
            self.output -= 1  # this end of the line was ours

    def _note_state(self) -> None:
        read(self.server, VersionOut, self.outcome.version)
        if self.outcome.state == ACTIVE and self.active_since is None:
            self.active_since = asyncio.get_running_loop().time()
            if not self.quiet:
                self.waiting.rest()
                name = bot_name(self.bot, self.number)
                self.out.print(f"{name} is on the ladder.", style=TITLE, highlight=False)
            self.waiting.say("waiting for its first match (Ctrl-C: it still plays) ...")

    async def _rate(self) -> None:
        if self.outcome.first is not None:
            plain = await self.server.get(f"/bots/{part(self.bot)}")
            rating = read(self.server, BotOut, plain).overall
            self.outcome.rating = rating.model_dump() if rating is not None else None

    def sum_up(self) -> None:
        """Say what came of it, and where to look."""
        self.waiting.rest()
        self._end_line()
        version = read(self.server, VersionOut, self.outcome.version)
        if self.outcome.failed:
            reason = version.reason or "keltis-ladder logs says more"
            name = bot_name(self.bot, self.number)
            self.out.print(f"\n{name} is {version.state}.", style=TITLE, highlight=False)
            say_indented(self.out, reason)
            if self.outcome.unchecked:
                self.out.print(
                    f"The bot is not at fault, and nothing is lost. To retry the check:"
                    f" keltis-ladder recheck {self.bot}",
                    soft_wrap=True,
                    highlight=False,
                )
            return
        if self.outcome.first is None:
            self.out.print("No match yet: it plays as soon as it has opponents.")
        else:
            first = read(self.server, MatchOut, self.outcome.first)
            self.out.print(f"First: {result_line(first)}", soft_wrap=True, highlight=False)
        rating = self.outcome.rating
        if rating is not None:
            played = counted(rating["matches"], "match", "matches")
            self.out.print(
                f"Rating so far: {rating['mu']:.1f} ({rating['low']:.1f} to {rating['high']:.1f})"
                f" after {played}",
                highlight=False,
            )
        self.out.print(f"Its page: {self.outcome.url}", soft_wrap=True, highlight=False)
        self.out.print(f"Watch it: keltis-ladder watch {self.bot}", soft_wrap=True, highlight=False)
