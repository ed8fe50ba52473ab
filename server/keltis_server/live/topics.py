"""Topics: what can be followed, and which channel tells it to whom."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from keltis_engine import VARIANTS
from keltis_ladder.ratings.scopes import ALL, Scope
from keltis_ladder.store.bots.accounts import Bearer
from keltis_ladder.store.bots.submissions import owner_of
from keltis_server.http.auth import may_read_of
from keltis_server.http.parameters import BOT_PATTERN
from keltis_server.live.channel import Channel, Refusal
from keltis_server.live.channels.leaderboard import LeaderboardChannel
from keltis_server.live.channels.lobby import LobbyChannel
from keltis_server.live.channels.match import MatchChannel
from keltis_server.live.channels.tournament import TournamentChannel
from keltis_server.live.channels.version import VersionChannel

if TYPE_CHECKING:
    from keltis_server.live.hub import Live

KINDS = (
    "lobby, match/JOB, match/JOB/bot/NAME, leaderboard/VARIANT/PLAYERS, tournament/NAME, "
    "version/BOT/NUMBER"
)
# Tokens for a subscription: opening a match replays its game; a tournament has 64 bots.
COSTS: Final = {"match": 5, "tournament": 12}
COST: Final = 2


def cost_of(topic: str) -> int:
    """Return the tokens that it costs to subscribe to a topic."""
    return COSTS.get(topic.partition("/")[0], COST)


@dataclass(frozen=True)
class Opener:
    """How the channel of a topic is made."""

    make: Callable[[Live, str, int], Channel]
    for_author: bool = False  # it tells more than others may know


async def find_topic(live: Live, topic: str, caller: Bearer | None) -> Opener:
    """Return how a topic is opened for somebody; raise ``Refusal`` if there is no such thing."""
    match topic.split("/"):
        case ["lobby"]:
            return Opener(LobbyChannel)
        case ["match", job]:
            return Opener(partial(MatchChannel, job_id=_uuid(job)))
        case ["match", job, "bot", bot] if re.fullmatch(BOT_PATTERN, bot):
            return Opener(partial(MatchChannel, job_id=_uuid(job), bot=bot), for_author=True)
        case ["leaderboard", variant, players] if _is_scope(variant, players):
            return Opener(partial(LeaderboardChannel, scope=Scope(variant, int(players))))
        case ["tournament", name] if name and name.isprintable():
            return Opener(partial(TournamentChannel, name=name))
        case ["version", bot, number] if re.fullmatch(BOT_PATTERN, bot) and _is_number(number):
            owner = await live.site.read(owner_of, bot)
            mine = owner is not None and may_read_of(caller, owner)
            make = partial(VersionChannel, bot=bot, number=int(number), for_author=mine)
            return Opener(make, for_author=mine)
    raise Refusal("not-found", f"there is no such topic: there are {KINDS}")


def _uuid(text: str) -> str:
    try:
        found = str(uuid.UUID(text))
    except ValueError:
        found = ""
    if found != text:
        raise Refusal("not-found", f"{text!r} is not the id of a match")
    return found


def _is_scope(variant: str, players: str) -> bool:
    return variant in (ALL, *VARIANTS) and players in ("0", "2", "3", "4")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[1-9][0-9]{0,8}", text) is not None
