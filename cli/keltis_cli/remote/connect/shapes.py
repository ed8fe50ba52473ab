"""What a server's answers look like, as far as they are shown.

Every text is made safe to print as it is read; only logs and the like, which have lines of their
own, are ``Raw`` and go through ``strangers`` when they are shown. Fields that we do not know are
left alone: a newer server may have more.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ValidationError

from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.connection import Server

M = TypeVar("M", bound=BaseModel)


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Safe = Annotated[str, AfterValidator(_one_line)]
Raw = str
Moment = Annotated[datetime, AfterValidator(_in_utc)]


def read(server: Server, shape: type[M], plain: Any) -> M:
    """Return an answer in its shape; one that does not fit it is told in one line."""
    try:
        return shape.model_validate(plain)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise server.odd(printable(f"an odd {shape.__name__.lower()} ({where})")) from None


def read_all(server: Server, shape: type[M], plain: list[Any]) -> list[M]:
    """Return the items of a list in their shape."""
    return [read(server, shape, each) for each in plain]


class Account(BaseModel):
    """Who we are."""

    name: Safe
    house: bool = False
    scopes: list[Safe] = []
    bots: list[Safe] = []
    uploads_left: int | None = None


class Opened(BaseModel):
    """A new account, with its first token."""

    name: Safe
    token: Safe
    scopes: list[Safe] = []


class Token(BaseModel):
    """A token, without its text."""

    id: int
    label: Safe
    scopes: list[Safe]
    created: Moment
    expires: Moment | None = None
    current: bool = False


class NewToken(BaseModel):
    """A token with its text, which is told once."""

    id: int | None = None
    token: Safe


class Tokens(BaseModel):
    """All tokens of an author."""

    tokens: list[Token]


class Line(BaseModel):
    """A line of the leaderboard."""

    rank: int | None
    tied: int
    provisional: bool
    bot: Safe
    version: int
    author: Safe
    state: Safe
    mu: float
    sigma: float
    matches: int
    firsts: int
    shared: int
    games: int
    wins: float
    faults: int
    seats: list[float | None]
    last_match: int
    last_played: Moment


class Leaderboard(BaseModel):
    """A leaderboard."""

    variant: Safe
    players: int
    matches: int
    lines: list[Line]


class Rating(BaseModel):
    """How good a bot is at one kind of matches."""

    variant: Safe
    players: int
    mu: float
    sigma: float
    low: float
    high: float
    rank: int | None
    provisional: bool
    matches: int
    games: int
    wins: float
    faults: int


class Bot(BaseModel):
    """A bot."""

    name: Safe
    author: Safe
    house: bool = False
    created: Moment
    description: Safe = ""
    state: Safe
    version: int
    variants: list[Safe]
    players: list[int]
    ratings: list[Rating] = []

    @property
    def overall(self) -> Rating | None:
        """Its rating over everything, if it has played."""
        return next((r for r in self.ratings if r.variant == "all" and r.players == 0), None)


class Version(BaseModel):
    """A version of a bot."""

    number: int
    state: Safe
    reason: Safe | None = None
    variants: list[Safe]
    players: list[int]
    description: Safe = ""
    created: Moment
    size: int | None = None
    digest: Safe | None = None
    built_in: Safe | None = None
    bot: Safe | None = None


class Versions(BaseModel):
    """All versions of a bot, the newest first."""

    versions: list[Version]


class Finding(BaseModel):
    """What a check found."""

    check: Safe
    mark: Safe
    text: Safe
    advice: Safe = ""
    log: Raw = ""


class Report(BaseModel):
    """What came of a build and a check."""

    state: Safe = ""
    reason: Safe | None = None
    findings: list[Finding] = []
    output: Raw = ""
    started: Moment | None = None
    finished: Moment | None = None


class Fault(BaseModel):
    """A game that a bot lost by its own fault."""

    id: int
    match: int | Safe
    rotation: int
    seat: int
    version: int
    decision: int
    kind: Safe
    code: Safe
    at: Moment
    text: Safe | None = None


class Profile(BaseModel):
    """How long a version thinks."""

    version: int
    variant: Safe
    players: int
    matches: int
    asked: int
    mean_ms: float
    slowest_ms: float
    cpu_ms: float
    wall_ms: float


class Times(BaseModel):
    """How long all versions of a bot think."""

    profile: list[Profile]


class Entrant(BaseModel):
    """A bot in a match."""

    position: int
    bot: Safe
    version: int
    author: Safe = ""
    rank: int | None = None
    wins: float | None = None
    points: int | None = None
    faults: int | None = None
    mu: float | None = None
    sigma: float | None = None


class GameFault(BaseModel):
    """A fault in a game."""

    seat: int
    decision: int
    kind: Safe
    code: Safe


class Game(BaseModel):
    """A game of a match."""

    rotation: int
    seats: list[int]
    ending: Safe | None = None
    scores: list[int] = []
    ranks: list[int] = []
    faults: list[GameFault] = []


class Match(BaseModel):
    """A match: waiting, being played, or over."""

    id: Safe
    number: int | None = None
    state: Safe
    purpose: Safe
    rated: bool
    variant: Safe
    players: int
    options: dict[Safe, int] = {}
    reason: Safe | None = None
    tournament: Safe | None = None
    commitment: Safe | None = None
    seed: Safe | None = None
    entrants: list[Entrant]
    decisions: int | None = None
    created: Moment
    finished: Moment | None = None
    games: list[Game] = []

    @property
    def over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state not in ("waiting", "held", "playing")
