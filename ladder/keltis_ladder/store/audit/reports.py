"""What the audit says, for the operator and for the author of a bot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import or_, select
from sqlmodel import Session

from keltis_ladder.audit.evidence import Test, nats, odds
from keltis_ladder.audit.rotations import contrast, margins
from keltis_ladder.store.audit.book import mark_of, played, shares_of
from keltis_ladder.store.schema.relations import AUDIT_BOT, AUDIT_PAIR, BOT

PAIR: Final = "pair"  # the test of two at a table, beside those of a single bot
LATEST_MATCHES: Final = 500  # matches among which the most telling are looked for
TELLING: Final = 10
MOST_FINDINGS: Final = 100  # findings that are listed


@dataclass(frozen=True)
class AuditLine:
    """One test of a bot, or of a pair, and what it came to."""

    bot: str
    partner: str | None  # the other of a pair
    test: str
    variant: str | None  # none: all, at tables of three and four
    matches: int
    odds: int  # so much to one against mere chance, as it stands now
    alarm: int | None  # the match after which it was more than chance allows


class Alarm(NamedTuple):
    """A test of a bot that found more than chance allows."""

    bot: str
    test: str
    which: str  # the variant, or the other of a pair
    match: int


@dataclass(frozen=True)
class BotAudit:
    """All that the audit has on a bot."""

    matches: int
    tests: list[AuditLine]
    telling: list[int]  # matches that speak against it most, if anything does

    @property
    def suspicious(self) -> bool:
        """Whether any test found more than chance allows."""
        return any(line.alarm is not None for line in self.tests)


def alarms(session: Session) -> set[Alarm]:
    """Return all alarms that there ever were; those of a pair for both."""
    found = set()
    for line in [*_single(session), *_of_pairs(session)]:
        if line.alarm is not None:
            found.add(Alarm(line.bot, line.test, line.variant or line.partner or "", line.alarm))
            if line.partner is not None:
                found.add(Alarm(line.partner, line.test, line.bot, line.alarm))
    return found


def suspects(session: Session) -> list[AuditLine]:
    """Return what is more than chance allows, the newest alarm first."""
    lines = [line for line in _single(session) if line.alarm is not None]
    lines += [line for line in _of_pairs(session) if line.alarm is not None]
    return sorted(lines, key=lambda line: (-(line.alarm or 0), line.bot, line.test))[:MOST_FINDINGS]


def audit_of_bot(session: Session, bot: int, with_matches: bool = True) -> BotAudit:
    """Return all tests of a bot."""
    single = _single(session, bot)
    pairs = _of_pairs(session, bot)
    count = sum(line.matches for line in single if line.test == Test.LATER)
    alarmed = [line for line in single if line.alarm is not None]
    telling = _telling(session, bot) if with_matches and alarmed else []
    return BotAudit(count, [*single, *pairs], telling)


def _single(session: Session, bot: int | None = None) -> list[AuditLine]:
    query = (
        select(BOT.c.name, AUDIT_BOT)
        .join(BOT, BOT.c.id == AUDIT_BOT.c.bot_id)
        .order_by(BOT.c.name, AUDIT_BOT.c.variant, AUDIT_BOT.c.test)
    )
    if bot is None:
        query = query.where(AUDIT_BOT.c.alarm.is_not(None))
    else:
        query = query.where(AUDIT_BOT.c.bot_id == bot)
    rows = session.execute(query).all()
    shares = shares_of(session, {row.bot_id for row in rows})
    lines = []
    for row in rows:
        by_author = shares.get((row.bot_id, row.variant), {}) if row.test == Test.LATER else {}
        lines.append(
            AuditLine(
                bot=row.name,
                partner=None,
                test=row.test,
                variant=row.variant,
                matches=row.matches,
                odds=odds(row.total, row.spread, by_author.values()),
                alarm=row.alarm,
            )
        )
    return lines


def _of_pairs(session: Session, bot: int | None = None) -> list[AuditLine]:
    """Return the pairs that were found; of a bot also the one that is nearest to it."""
    other = BOT.alias("other")
    query = (
        select(BOT.c.name, other.c.name.label("partner"), AUDIT_PAIR)
        .join(BOT, BOT.c.id == AUDIT_PAIR.c.one_id)
        .join(other, other.c.id == AUDIT_PAIR.c.other_id)
    )
    if bot is None:
        query = query.where(AUDIT_PAIR.c.alarm.is_not(None))
    else:
        query = query.where(or_(AUDIT_PAIR.c.one_id == bot, AUDIT_PAIR.c.other_id == bot))
    rows = sorted(
        session.execute(query),
        key=lambda row: (row.alarm is None, -nats(row.total, row.spread), row.name, row.partner),
    )
    shown = [row for row in rows if row.alarm is not None] or rows[:1]
    return [
        AuditLine(
            bot=row.name if row.one_id == bot or bot is None else row.partner,
            partner=row.partner if row.one_id == bot or bot is None else row.name,
            test=PAIR,
            variant=None,
            matches=row.matches,
            odds=odds(row.total, row.spread),
            alarm=row.alarm,
        )
        for row in shown
    ]


def _telling(session: Session, bot: int) -> list[int]:
    """Return the matches in which it was better later by most, among the latest."""
    begin, done = mark_of(session)
    found = []
    for match in played(session, begin, done, bot, LATEST_MATCHES):
        lead = margins(match.variant, match.games, match.bots.index(bot))
        found.append((-contrast(lead).total, match.number))
    return [number for against, number in sorted(found)[:TELLING] if against < 0]
