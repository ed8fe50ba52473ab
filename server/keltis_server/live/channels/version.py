"""The channel of a version: its check as it goes on, its states, and its first matches.

What a check says is for the author alone: there is one channel for the author and one for others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from sqlmodel import Session

from keltis_ladder.run.playing import Playing
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.store.bots.submissions import Reported, report_of
from keltis_ladder.store.matches.matches import match_row
from keltis_ladder.store.matches.watching import first_match_of
from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_server.events import Checking, Happening
from keltis_server.live.channel import (
    Channel,
    Plain,
    Refusal,
    Surroundings,
    patiently,
    require_room,
)
from keltis_server.live.subjects import Subject, about_version
from keltis_server.loaders.bots import version_out, version_reason
from keltis_server.loaders.matches import match_out

MOST_OUTPUT: Final = 64 * 1024  # characters that are kept of a build that goes on
MOST_FINDINGS: Final = 500  # that are kept of a check that goes on, the last ones
MOST_MATCHES: Final = 1_000  # that were played and are not looked up yet


@dataclass
class Progress:
    """What a check that goes on has said so far."""

    findings: list[Plain] = field(default_factory=list)
    output: str = ""

    def to_plain(self) -> Plain:
        """Return it as a report."""
        return {"findings": list(self.findings), "output": self.output}


class Checks:
    """The checks that go on: late clients see what was said before."""

    def __init__(self) -> None:
        self.progress: dict[int, Progress] = {}  # by version

    def note(self, happening: Happening) -> None:
        """Take note of what a check says, and forget one that is over."""
        match happening:
            case Checking(version_id=id, kind=kind, data=data):
                progress = self.progress.setdefault(id, Progress())
                if kind == "finding":
                    progress.findings.append(data)
                    del progress.findings[:-MOST_FINDINGS]
                elif kind == "output":
                    progress.output = (progress.output + str(data.get("text", "")))[-MOST_OUTPUT:]
            case VersionChanged(version_id=id):
                self.progress.pop(id, None)


class VersionChannel(Channel):
    """One version."""

    def __init__(
        self,
        live: Surroundings,
        topic: str,
        seq: int,
        bot: str,
        number: int,
        for_author: bool,
    ) -> None:
        super().__init__(live, topic, seq)
        self._bot = bot
        self._number = number
        self._for_author = for_author
        self._id: int | None = None
        self._version: Plain = {}
        self._report: Plain | None = None
        self._first: Plain | None = None
        self._matches: deque[str] = deque()  # of which we have yet to tell
        self._stale = False
        self._reading = False
        self._again = False  # it has changed since we began to read

    async def open(self) -> None:
        """Read how it stands."""
        while True:
            self._stale = False
            await self._read()
            if not self._stale:
                return

    def subjects(self) -> Collection[Subject] | None:
        """Return the version, once it is known which."""
        return None if self._id is None else [about_version(self._id)]

    def snapshot(self) -> Plain:
        """Return the version, what its check says, and its first match."""
        report = self._report
        if self._for_author and report is None and self._id is not None:
            progress = self.live.checks.progress.get(self._id)
            report = progress.to_plain() if progress else None
        return {"version": self._version, "report": report, "first": self._first}

    def take(self, happening: Happening) -> None:
        """Take note of what concerns it."""
        match happening:
            case VersionChanged(bot=self._bot, number=self._number):
                self._stale = True
                if self._id is not None:
                    self._change(happening)
            case Checking(version_id=id, kind=kind, data=data) if id == self._id:
                if self._for_author:
                    self._report = None  # that of an earlier check
                    self.publish({"kind": kind, **data})
            case ResultStored(playing=Playing(order=order)) if (
                order.rated and self._id in order.versions
            ):
                require_room(self._matches, MOST_MATCHES)
                self._matches.append(order.id)
                if len(self._matches) == 1:
                    self.spawn(self._tell_matches())

    def _change(self, change: VersionChanged) -> None:
        reason = version_reason(change.cause, change.details, self._for_author)
        self._version = {**self._version, "state": change.state, **reason}
        self.publish({"kind": "state", "state": change.state, **reason})
        self._again = True
        if not self._reading:
            self._reading = True
            self.spawn(self._read_again())

    async def _read_again(self) -> None:
        while self._again:
            self._again = False
            await patiently(self._read)
            self.changed()
        self._reading = False

    async def _tell_matches(self) -> None:
        """Tell of matches one after the other, in the order in which we heard of them."""
        while self._matches:
            row = await patiently(partial(self.live.site.read, match_row, self._matches[0]))
            self._matches.popleft()
            if row is not None:
                match = match_out(row).model_dump(mode="json")
                self._first = self._first or match
                self.publish({"kind": "match", "match": match})

    async def _read(self) -> None:
        found = await self.live.site.read(_load, self._bot, self._number)
        if found is None:
            raise Refusal("not-found", f"there is no version {self._number} of {self._bot}")
        reported, first = found
        version = version_out(reported.row, self._for_author)
        self._id = version.id
        self._version = version.model_dump(mode="json")
        self._first = first
        report = reported.report
        if self._for_author and report is not None:
            self._report = {"findings": report.findings, "output": report.output}


def _load(session: Session, bot: str, number: int) -> tuple[Reported, dict[str, Any] | None] | None:
    found = report_of(session, bot, number)
    if found is None:
        return None
    version = found.row.version
    assert version.id is not None
    job = first_match_of(session, version.id)
    row = match_row(session, job) if job is not None else None
    return found, match_out(row).model_dump(mode="json") if row is not None else None
