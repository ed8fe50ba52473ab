"""A bot of a server for people: what it is, how good it is, and what became of its versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from keltis_cli.draw.estimates import percent
from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.strokes import ago, counted, cut, fitting, stroke
from keltis_cli.draw.tables.columns import Column, fitted, numbers, texts
from keltis_cli.draw.tables.leaderboard import ALARM, bot_name
from keltis_cli.remote.pages.match import entrants_text
from keltis_ladder.files.sizes import KIB
from keltis_ladder.ratings.joint.ranges import range_text
from keltis_ladder.store.schema.moments import now
from keltis_server.models.bots import BotOut, RatingOut, VersionOut
from keltis_server.models.matches import MatchOut

MOST_VERSIONS: Final = 10


def bot_page(
    bot: BotOut,
    versions: Sequence[VersionOut],
    latest: Sequence[MatchOut],
    url: str,
    room: tuple[int, Look],
) -> list[Text]:
    """Return the page of a bot."""
    width, look = room
    head = styled(bot_name(bot.name, bot.version), TITLE)
    head.append(f"  by {bot.author}, {bot.state}", QUIET)
    plays = f"plays {', '.join(bot.variants)} ({', '.join(map(str, bot.players))} players)"
    lines = [fitting(head, width, look)]
    if bot.description:
        lines.append(Text(cut(bot.description, width, look)))
    lines += [Text(cut(plays, width, look), QUIET), Text()]
    lines += _ratings(bot.ratings, width, look)
    lines += [Text(), *_versions(versions, width, look)]
    if latest:
        lines += [Text(), *_latest(latest, width, look)]
    return [*lines, Text(), Text(url, QUIET)]


def _ratings(ratings: Sequence[RatingOut], width: int, look: Look) -> list[Text]:
    if not ratings:
        return [Text("It has not played yet.", QUIET)]
    kinds = [
        ("all variants" if r.variant == "all" else r.variant)
        + (f", {r.players} players" if r.players else "")
        for r in ratings
    ]
    faults = [Text(f"{r.faults:,}", ALARM if r.faults else QUIET) for r in ratings]
    columns = [
        texts("matches of", kinds, look, least=25),
        numbers("rank", [_rank(r) for r in ratings]),
        *(_both(ratings, look) if any(r.joint for r in ratings) else _live(ratings, look)),
        numbers("matches", [f"{r.matches:,}" for r in ratings], spare=1),
        numbers("won", [percent(r.wins / r.games) if r.games else "-" for r in ratings], spare=3),
        numbers("faults", faults, spare=2),
    ]
    return fitted(columns, width, look)


def _rank(rating: RatingOut) -> str:
    if rating.joint is not None:
        return range_text(rating.joint.best, rating.joint.worst)
    return str(rating.rank) if rating.rank is not None else "?" if rating.provisional else "-"


def _live(ratings: Sequence[RatingOut], look: Look) -> list[Column]:
    return [
        numbers("rating", [f"{r.mu:.1f}" for r in ratings]),
        texts("95 %", [f"{r.low:.1f} to {r.high:.1f}" for r in ratings], look),
    ]


def _both(ratings: Sequence[RatingOut], look: Look) -> list[Column]:
    reach = stroke("reach", look)
    joint = [r.joint for r in ratings]
    return [
        numbers(
            "rating",
            ["-" if j is None else f"{j.rating:.1f} {reach}{j.high - j.rating:.1f}" for j in joint],
        ),
        numbers(
            "expected wins",
            [
                "-" if j is None else f"{j.share:.0%} ({j.share_low:.0%}-{j.share_high:.0%})"
                for j in joint
            ],
            spare=1,
        ),
        numbers(
            "TrueSkill",
            [Text(f"{r.mu:.1f} {reach}{r.high - r.mu:.1f}", QUIET) for r in ratings],
            spare=2,
        ),
        numbers("rests on it", ["-" if j is None else f"{j.own:.0%}" for j in joint], spare=5),
    ]


def _versions(versions: Sequence[VersionOut], width: int, look: Look) -> list[Text]:
    shown = versions[:MOST_VERSIONS]
    states = [Text(v.state, TITLE if v.state == "active" else QUIET) for v in shown]
    columns = [
        numbers("version", [str(v.number) for v in shown]),
        texts("state", states, look),
        texts("since", [f"{v.created:%Y-%m-%d %H:%M}" for v in shown], look),
        numbers("size", [size_text(v.size) for v in shown], spare=2),
        texts("reason", [v.reason or "" for v in shown], look, least=16, spare=1),
    ]
    lines = fitted(columns, width, look)
    if len(shown) < len(versions):
        lines.append(Text(f"and {counted(len(versions) - len(shown), 'older one')}", QUIET))
    return lines


def _latest(latest: Sequence[MatchOut], width: int, look: Look) -> list[Text]:
    moment = now()
    passed = [(moment - (m.finished or m.created)).total_seconds() for m in latest]
    columns = [
        numbers("latest", [str(m.number or "-") for m in latest]),
        texts("variant", [m.variant for m in latest], look, least=7, spare=1),
        texts("bots, the winner first", [entrants_text(m) for m in latest], look, least=24),
        numbers("played", [f"{ago(seconds)} ago" for seconds in passed], spare=2),
    ]
    return fitted(columns, width, look)


def version_page(bot: str, version: VersionOut, width: int, look: Look) -> list[Text]:
    """Return the page of a version."""
    facts = [
        ("state", version.state),
        ("reason", version.reason or ""),
        ("description", version.description),
        ("plays", f"{', '.join(version.variants)} ({', '.join(map(str, version.players))})"),
        ("since", f"{version.created:%Y-%m-%d %H:%M:%S} UTC"),
        ("size", size_text(version.size) if version.size else ""),
        ("built in", version.built_in or ""),
    ]
    lines = [styled(bot_name(bot, version.number), TITLE)]
    lines += [Text(cut(f"{name:<12} {text}", width, look)) for name, text in facts if text]
    if version.digest:
        lines.append(Text(f"{'digest':<12} {version.digest}"))
    return lines


def size_text(size: int | None) -> str:
    """Return a size as people read it."""
    if size is None:
        return "-"
    if size < KIB:
        return f"{size} bytes"
    if size < KIB * KIB:
        return f"{size / KIB:.1f} KiB"
    return f"{size / KIB / KIB:.1f} MiB"
