"""What the server is told when it starts. Whatever cannot be is refused before anything begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from keltis_ladder.errors import LadderError
from keltis_ladder.files.sizes import MIB
from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.matchmaking.fair_shares import Shares
from keltis_ladder.ratings.official import Official
from keltis_ladder.run.pace import PaceRules
from keltis_ladder.sandbox.niceness import NICEST
from keltis_ladder.store.retention import Retention

HOST: Final = "127.0.0.1"
PORT: Final = 8080
NICE: Final = 10  # a tenth of what others get who want the same core; all of it otherwise
PACE: Final = PaceRules(calm=True)
AUDIT_LOOK: Final = 20
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


class BadSettings(LadderError):
    """Settings that cannot be; the text says what to write instead."""


class Registration(StrEnum):
    """Who may open an account."""

    OPEN = "open"
    INVITATION = "invitation"
    CLOSED = "closed"


@dataclass(frozen=True)
class Quotas:
    """How much one author, or one address, may ask for."""

    archive_bytes: int = 20 * MIB
    kept_bytes: int = 256 * MIB  # of all archives of one author
    uploads_per_hour: int = 20
    bots: int = 10  # of one author
    challenges_per_hour: int = 120
    tournaments_per_hour: int = 30
    registrations_per_hour: int = 20  # from one address
    all_registrations_per_hour: int = 1000  # from everywhere
    requests_per_minute: int = 1200  # from one address
    sockets: int = 64  # from one address
    connections: int = 128  # from one address, besides websockets
    all_connections: int = 4096  # from everywhere, websockets included


@dataclass(frozen=True)
class Deadlines:
    """How long a client may take, in seconds."""

    head: float = 10.0  # until the head of a request is complete
    body: float = 30.0  # until the body is; uploads have a pace of their own
    idle: float = 75.0  # between two requests: longer than proxies keep connections
    answer: float = 30.0  # in which the next 64 KiB of an answer must be taken, or what is left
    linger: float = 2.0  # for a refused body to end, so that its sender can read the answer


@dataclass(frozen=True)
class Settings:
    """Everything that can be set."""

    host: str = HOST
    port: int = PORT  # 0: any that is free
    public_url: str = ""  # as the world sees it; empty: what we listen on
    registration: Registration = Registration.OPEN
    cores: tuple[int, ...] = ()  # that referees play on; none: all
    nice: int = NICE  # how much referees and bots give way to the server and everything else
    house: bool = True  # our own bots are on the ladder
    sandboxed: bool = True
    inexact_clock: bool = False  # strangers play even where their time cannot be told exactly
    no_limits: bool = False  # strangers play even where nothing limits their memory as a whole
    idle_bytes: int | None = None  # of memory that waiting bots may hold; none: all that is for it
    control: TimeControl = DEFAULT_CONTROL
    pace: PaceRules = PACE
    shares: Shares = field(default_factory=Shares)  # of the referees' time
    official: Official = Official.JOINT  # which rating orders leaderboards
    retention: Retention = field(default_factory=Retention)
    quotas: Quotas = field(default_factory=Quotas)
    deadlines: Deadlines = Deadlines()
    origins: tuple[str, ...] = ()  # other sites whose pages may open a websocket
    forwarded: bool = False  # behind a proxy that says who called
    access_log: bool = False
    audit_look: int = AUDIT_LOOK  # percent of a core for looking at decisions; 0: never
    suspend_suspects: bool = False  # a bot that the audit finds is disabled at once

    @property
    def is_private(self) -> bool:
        """Whether only people on this machine can reach the server: they are no strangers."""
        return self.host in LOOPBACK and not self.public_url and not self.forwarded

    def check(self) -> None:
        """Raise if something cannot be."""
        if not 0 <= self.port <= 65535:
            raise BadSettings(f"there is no port {self.port}: choose 1 to 65535, or 0 for any")
        if not 0 <= self.nice <= NICEST:
            raise BadSettings(f"niceness {self.nice}: choose 0 to {NICEST}")
        if not 0 <= self.audit_look <= 100:
            raise BadSettings(f"{self.audit_look} % of a core for the audit: choose 0 to 100")
        for url in (self.public_url, *self.origins):
            if url and not _is_site(url):
                raise BadSettings(
                    f"{url!r} is not the address of a site: write https://HOST[:PORT], and names"
                    " with other letters than a to z as xn--..."
                )
        for name, seconds in vars(self.deadlines).items():
            if seconds <= 0:
                raise BadSettings(f"the deadline {name!r} is {seconds} s: choose more than 0")
        for name, value in vars(self.quotas).items():
            if value < 1:
                raise BadSettings(f"{name.replace('_', ' ')}: {value} is too few, at least 1")


def _is_site(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0  # raises if it is none
            and parts.netloc.isascii()
            and parts.path in ("", "/")
            and not (parts.query or parts.fragment or "@" in parts.netloc)
        )
    except ValueError:
        return False
