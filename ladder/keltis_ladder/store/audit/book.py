"""Keep the book of the audit: a few matches at a time, long after their results are stored.

What is kept follows from the results alone. Anybody who works it out again, match by match from the
beginning, gets the same whole numbers (``compare``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import Select, delete, func, insert, or_, select, update
from sqlmodel import Session

from keltis_ladder.audit.book import AuditBook, Key, Pair, Played, StrengthKey
from keltis_ladder.audit.evidence import Contrast, Evidence, Share, Test
from keltis_ladder.audit.pairs import Strength
from keltis_ladder.match.orders import Purpose
from keltis_ladder.store.database import insert_or_update
from keltis_ladder.store.ratings.memory import matches_stored
from keltis_ladder.store.schema.relations import (
    AUDIT_AUTHOR,
    AUDIT_BOT,
    AUDIT_MARK,
    AUDIT_PAIR,
    AUDIT_STRENGTH,
    AUTHOR,
    BOT,
    FORESIGHT,
    GAME,
    JOB,
    MATCH,
    PLACE,
    VERSION,
)

MATCHES_PER_STEP: Final = 200  # matches that are taken in at a time
SHOWN: Final = 10  # differences that are told


@dataclass(frozen=True)
class Advanced:
    """How far the audit has come, and whom it found."""

    done: int  # the number of the last match
    left: int  # matches that wait
    suspects: tuple[int, ...] = ()  # bots


@dataclass
class AuditComparison:
    """What working out the audit again has shown."""

    matches: int = 0
    compared: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether every stored number is the one worked out again."""
        return not self.differences


def advance(session: Session, limit: int = MATCHES_PER_STEP) -> Advanced:
    """Take in the next matches; the work is the same however many there are already."""
    _, done = _hold_mark(session)
    stored = matches_stored(session)
    until = min(stored, done + limit)
    if until <= done:
        return Advanced(done, 0)
    matches = list(played(session, done, until))
    suspects: list[int] = []
    if matches:
        book = _load(session, matches)
        for match in matches:
            suspects += book.enter(match)
        _save(session, book)
    session.execute(update(AUDIT_MARK).values(done=until))
    return Advanced(until, stored - until, tuple(dict.fromkeys(suspects)))


def add_foresight(
    session: Session, number: int, variant: str, found: Sequence[tuple[int, int, Contrast]]
) -> list[int]:
    """Keep what the decisions of a match say of some entrants: position, version, contrast.

    Return the bots that it made suspicious. What is known already is not taken in twice.
    """
    _hold_mark(session)
    known = set(
        session.execute(
            select(FORESIGHT.c.position).where(FORESIGHT.c.match_number == number)
        ).scalars()
    )
    new = [each for each in found if each[0] not in known]
    if not new:
        return []
    look = (session.execute(select(func.max(FORESIGHT.c.look))).scalar() or 0) + 1
    session.execute(
        insert(FORESIGHT),
        [
            {
                "match_number": number,
                "position": position,
                "version_id": version,
                "look": look,
                "total": contrast.total,
                "spread": contrast.spread,
            }
            for position, version, contrast in new
        ],
    )
    bot_of = _bots_of(session, [version for _, version, _ in new])
    book = AuditBook()
    _load_bots(session, book, set(bot_of.values()))
    suspects = [
        bot_of[version]
        for _, version, contrast in new
        if book.add(number, Key(bot_of[version], variant, Test.FORESIGHT), contrast)
    ]
    _save(session, book)
    return suspects


def compare(session: Session) -> AuditComparison:
    """Work the audit out again, and compare every number with the stored one."""
    begin, done = _read_mark(session)
    found = AuditComparison()
    book = _anew(session, begin, done, found)
    stored = AuditBook()
    _load_bots(session, stored, None)
    _load_pairs(session, stored, None)
    _load_strengths(session, stored, None)
    tables: tuple[tuple[str, dict[Any, Any], dict[Any, Any]], ...] = (
        ("evidence about bot", stored.bots, book.bots),
        ("evidence about pair", stored.pairs, book.pairs),
        ("strength of version", stored.strengths, book.strengths),
    )
    for what, old, new in tables:
        for key in sorted(old.keys() | new.keys()):
            found.compared += 1
            if old.get(key) != new.get(key):
                found.differences.append(f"{what} {key}: {old.get(key)}, not {new.get(key)}")
    return found


def replace(session: Session) -> int:
    """Throw the book away and write it again; return how many matches it is made of."""
    begin, done = _hold_mark(session)
    found = AuditComparison()
    book = _anew(session, begin, done, found)
    for table in (AUDIT_AUTHOR, AUDIT_BOT, AUDIT_PAIR, AUDIT_STRENGTH):
        session.execute(delete(table))
    _save(session, book)
    return found.matches


def _anew(session: Session, begin: int, done: int, found: AuditComparison) -> AuditBook:
    book = AuditBook()
    for start in range(begin, done, MATCHES_PER_STEP):
        for match in played(session, start, min(start + MATCHES_PER_STEP, done)):
            book.enter(match)
            found.matches += 1
    query = (
        select(
            FORESIGHT.c.match_number,
            FORESIGHT.c.total,
            FORESIGHT.c.spread,
            MATCH.c.variant,
            VERSION.c.bot_id,
        )
        .join(MATCH, MATCH.c.number == FORESIGHT.c.match_number)
        .join(VERSION, VERSION.c.id == FORESIGHT.c.version_id)
        .order_by(FORESIGHT.c.look, FORESIGHT.c.position)
    )
    for number, total, spread, variant, bot in session.execute(query):
        book.add(number, Key(bot, variant, Test.FORESIGHT), Contrast(total, spread))
    return book


def played(
    session: Session, after: int, until: int, bot: int | None = None, latest: int | None = None
) -> list[Played]:
    """Return the matches that the audit looks at, by number: of the ladder, and without a fault.

    Those of one bot only, and of these the latest, if so wanted.
    """
    query = _newest_first(after, until)
    if bot is not None:
        theirs = (
            select(PLACE.c.match_number)
            .join(VERSION, VERSION.c.id == PLACE.c.version_id)
            .where(VERSION.c.bot_id == bot)
        )
        query = query.where(MATCH.c.number.in_(theirs))
    if latest is not None:
        query = query.limit(latest)
    variants = {row.number: row.variant for row in session.execute(query)}
    numbers = sorted(variants)
    result: list[Played] = []
    for begin in range(0, len(numbers), MATCHES_PER_STEP):
        result += _with_games(session, numbers[begin : begin + MATCHES_PER_STEP], variants)
    return result


def unlooked(
    session: Session, after: int, until: int, limit: int, besides: Collection[int] = ()
) -> list[int]:
    """Return the newest matches whose decisions nobody has looked at, as far as moves are kept."""
    seen = select(FORESIGHT.c.match_number).where(FORESIGHT.c.match_number == MATCH.c.number)
    moves = select(GAME.c.match_number).where(GAME.c.match_number == MATCH.c.number)
    query = _newest_first(after, until).where(
        ~seen.exists(), ~moves.where(GAME.c.moves == b"").exists()
    )
    with closing(session.execute(query, execution_options={"yield_per": MATCHES_PER_STEP})) as rows:
        numbers = (row.number for row in rows if row.number not in besides)
        return list(islice(numbers, limit))


def _newest_first(after: int, until: int) -> Select[tuple[int, str]]:
    """Return what asks for the matches that the audit looks at."""
    faulty = (
        select(PLACE.c.match_number)
        .where(PLACE.c.match_number == MATCH.c.number, PLACE.c.faults > 0)
        .exists()
    )
    return (
        select(MATCH.c.number, MATCH.c.variant)
        .join(JOB, JOB.c.id == MATCH.c.job_id)
        .where(
            MATCH.c.number > after,
            MATCH.c.number <= until,
            MATCH.c.rated,
            JOB.c.purpose == Purpose.LADDER,
            ~faulty,
        )
        .order_by(MATCH.c.number.desc())
    )


def _with_games(
    session: Session, numbers: Sequence[int], variants: dict[int, str]
) -> Iterable[Played]:
    games = {
        number: tuple(tuple(row.scores) for row in rows)
        for number, rows in groupby(
            session.execute(
                select(GAME.c.match_number, GAME.c.scores)
                .where(GAME.c.match_number.in_(numbers))
                .order_by(GAME.c.match_number, GAME.c.rotation)
            ),
            key=attrgetter("match_number"),
        )
    }
    places = session.execute(
        select(
            PLACE.c.match_number,
            PLACE.c.version_id,
            VERSION.c.bot_id,
            BOT.c.author_id,
            AUTHOR.c.house,
        )
        .join(VERSION, VERSION.c.id == PLACE.c.version_id)
        .join(BOT, BOT.c.id == VERSION.c.bot_id)
        .join(AUTHOR, AUTHOR.c.id == BOT.c.author_id)
        .where(PLACE.c.match_number.in_(numbers))
        .order_by(PLACE.c.match_number, PLACE.c.position)
    )
    for number, grouped in groupby(places, key=attrgetter("match_number")):
        rows = list(grouped)
        yield Played(
            number=number,
            variant=variants[number],
            versions=tuple(row.version_id for row in rows),
            bots=tuple(row.bot_id for row in rows),
            authors=tuple(None if row.house else row.author_id for row in rows),
            games=games[number],
        )


def mark_of(session: Session) -> tuple[int, int]:
    """Return after which match the audit begins, and up to which it has come."""
    return _read_mark(session)


def _read_mark(session: Session) -> tuple[int, int]:
    row = session.execute(select(AUDIT_MARK.c.begin, AUDIT_MARK.c.done)).first()
    return (row.begin, row.done) if row is not None else (0, 0)


def _hold_mark(session: Session) -> tuple[int, int]:
    """Hold the audit: nobody else adds to it until the transaction ends."""
    query = select(AUDIT_MARK.c.begin, AUDIT_MARK.c.done).with_for_update()
    row = session.execute(query).first()
    if row is None:
        session.execute(insert(AUDIT_MARK).values(id=1, begin=0, done=0))
        return 0, 0
    return row.begin, row.done


def _load(session: Session, matches: Sequence[Played]) -> AuditBook:
    """Return a book that knows what these matches add to."""
    book = AuditBook()
    _load_bots(session, book, {bot for match in matches for bot in match.bots})
    large = [match for match in matches if len(match.bots) > 2]
    _load_pairs(session, book, {bot for match in large for bot in match.bots})
    _load_strengths(session, book, {each for match in large for each in match.versions})
    return book


def _load_bots(session: Session, book: AuditBook, bots: set[int] | None) -> None:
    query = select(AUDIT_BOT)
    if bots is not None:
        query = query.where(AUDIT_BOT.c.bot_id.in_(bots))
    for row in session.execute(query):
        key = Key(row.bot_id, row.variant, Test(row.test))
        book.bots[key] = Evidence(row.matches, row.total, row.spread, row.alarm)
    for (bot, variant), shares in shares_of(session, bots).items():
        book.bots[Key(bot, variant, Test.LATER)].authors = shares


def shares_of(session: Session, bots: set[int] | None) -> dict[tuple[int, str], dict[int, Share]]:
    """Return what the matches against each author say about bots, by bot and variant."""
    query = select(AUDIT_AUTHOR)
    if bots is not None:
        query = query.where(AUDIT_AUTHOR.c.bot_id.in_(bots))
    found: dict[tuple[int, str], dict[int, Share]] = {}
    for row in session.execute(query):
        shares = found.setdefault((row.bot_id, row.variant), {})
        shares[row.author_id] = Share(row.total, row.spread)
    return found


def _load_pairs(session: Session, book: AuditBook, bots: set[int] | None) -> None:
    query = select(AUDIT_PAIR)
    if bots is not None:
        query = query.where(or_(AUDIT_PAIR.c.one_id.in_(bots), AUDIT_PAIR.c.other_id.in_(bots)))
    for row in session.execute(query):
        evidence = Evidence(row.matches, row.total, row.spread, row.alarm)
        book.pairs[row.one_id, row.other_id] = Pair(row.rank, evidence)
        for bot in (row.one_id, row.other_id):
            book.partners[bot] += 1


def _load_strengths(session: Session, book: AuditBook, versions: set[int] | None) -> None:
    query = select(AUDIT_STRENGTH)
    if versions is not None:
        query = query.where(AUDIT_STRENGTH.c.version_id.in_(versions))
    for row in session.execute(query):
        kind = StrengthKey(row.version_id, row.variant, row.players)
        book.strengths[kind] = Strength(row.matches, row.total)


def _save(session: Session, book: AuditBook) -> None:
    tables: tuple[tuple[Any, list[dict[str, Any]], tuple[str, ...]], ...] = (
        (AUDIT_BOT, [_bot_row(*item) for item in book.bots.items()], ("bot_id", "variant", "test")),
        (
            AUDIT_AUTHOR,
            [
                {"bot_id": key.bot, "variant": key.variant, "author_id": author, **vars(share)}
                for key, evidence in book.bots.items()
                for author, share in evidence.authors.items()
            ],
            ("bot_id", "variant", "author_id"),
        ),
        (AUDIT_PAIR, [_pair_row(*item) for item in book.pairs.items()], ("one_id", "other_id")),
        (
            AUDIT_STRENGTH,
            [
                {
                    "version_id": kind.version,
                    "variant": kind.variant,
                    "players": kind.players,
                    "matches": each.matches,
                    "total": each.total,
                }
                for kind, each in book.strengths.items()
            ],
            ("version_id", "variant", "players"),
        ),
    )
    for table, rows, keys in tables:
        for begin in range(0, len(rows), MATCHES_PER_STEP):
            insert_or_update(session, table, rows[begin : begin + MATCHES_PER_STEP], keys)


def _bot_row(key: Key, evidence: Evidence) -> dict[str, Any]:
    return {
        "bot_id": key.bot,
        "variant": key.variant,
        "test": str(key.test),
        **_sums(evidence),
    }


def _pair_row(ids: tuple[int, int], pair: Pair) -> dict[str, Any]:
    return {"one_id": ids[0], "other_id": ids[1], "rank": pair.rank, **_sums(pair.evidence)}


def _sums(evidence: Evidence) -> dict[str, Any]:
    return {name: value for name, value in vars(evidence).items() if name != "authors"}


def _bots_of(session: Session, versions: Sequence[int]) -> dict[int, int]:
    query = select(VERSION.c.id, VERSION.c.bot_id).where(VERSION.c.id.in_(versions))
    return {row.id: row.bot_id for row in session.execute(query)}


def waiting(session: Session) -> int:
    """Return how many matches the audit has not come to yet."""
    return matches_stored(session) - _read_mark(session)[1]


def looked_at(session: Session) -> int:
    """Return how many matches were looked at decision by decision."""
    query = select(func.count(FORESIGHT.c.match_number.distinct()))
    return int(session.execute(query).scalar_one())
