"""Work out all ratings from the results again, compare them with the stored ones, replace them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from sqlalchemy import delete, insert, select, update
from sqlmodel import Session

from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.book import Book, Pair
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.bots.catalogue import predecessors
from keltis_ladder.store.database import allow_pauses
from keltis_ladder.store.matches.finishing import add_duels, lock_ledger, rating_row, step_row
from keltis_ladder.store.ratings import checkpoints
from keltis_ladder.store.ratings.joint.published import Publications
from keltis_ladder.store.ratings.joint.publishing import renounce
from keltis_ladder.store.ratings.models import MODELS, other_models
from keltis_ladder.store.ratings.rated_matches import records
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.relations import DUEL, RATING, RATING_CHECKPOINT, RATING_STEP
from keltis_ladder.store.schema.tables import (
    Duel,
    Ledger,
    Rating,
    RatingCheckpoint,
    RatingStep,
)

FETCHED_ROWS: Final = 5_000  # rows that are fetched and written at once
SHOWN: Final = 10  # differences that are told

Progress = Callable[[int, int], None]  # matches done, matches in all


@dataclass
class Comparison:
    """What a recomputation found."""

    matches: int = 0
    ratings: int = 0
    steps: int = 0
    duels: int = 0
    joint: int = 0  # figures of the joint rating
    since: int = 0  # the match after whose checkpoint it began; 0: from the first match
    checkpoints: int = 0  # that it came through
    pruned: int = 0  # steps that are not stored any more
    differences: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether every stored number is the recomputed one, to the last bit."""
        return self.differences == 0

    def differ(self, text: str) -> None:
        """Note a difference."""
        self.differences += 1
        if len(self.examples) < SHOWN:
            self.examples.append(text)

    def compare(self, what: str, old: Sequence[Any] | None, new: dict[str, Any]) -> None:
        """Note a difference if the stored row is not the new one, which is in the same order."""
        if old is None:
            self.differ(f"{what} is missing")
        elif tuple(old) != tuple(new.values()):
            parts = [
                f"{name} is {before!r}, not {after!r}"
                for before, (name, after) in zip(old, new.items(), strict=True)
                if before != after
            ]
            self.differ(f"{what}: {', '.join(parts)}")


def compare(
    session: Session, progress: Progress | None = None, from_checkpoint: bool = False
) -> tuple[Comparison, Book]:
    """Recompute everything and compare it with what is stored.

    It begins with the first match, or with the newest checkpoint if there is one.
    """
    found = Comparison()
    ledger = _compare_ledger(session, found)
    total = ledger.matches
    known = predecessors(session)
    published = Publications(session)
    begin = checkpoints.newest(session, known, published.oldest) if from_checkpoint else None
    found.since, book = begin or (0, Book(known))
    marks = _Marks(checkpoints.marks(session, found.since), found)
    with closing(_stored_steps(session, found.since)) as rows:
        stored = _StoredSteps(rows, found, ledger.steps_pruned)
        for record in records(session, found.since, total):
            marks.pass_by(book, record.number)
            for text in published.pass_by(book, record.number):
                found.differ(text)
            after = book.enter(record)
            for position, share in enumerate(record.shares):
                stored.compare(step_row(record.number, position, share.version, after[position]))
            found.matches += 1
            if progress is not None and found.matches % FETCHED_ROWS == 0:
                progress(record.number, total)
        stored.skip_to(None)
    marks.pass_by(book, total + 1)
    for text in (*published.pass_by(book, total + 1), *published.left_over()):
        found.differ(text)
    found.joint = published.figures
    _compare_ratings(session, found, book)
    _compare_duels(session, found, book)
    if progress is not None:
        progress(total, total)
    return found, book


def _compare_ledger(session: Session, found: Comparison) -> Ledger:
    """Compare the models; return the ledger."""
    ledger = session.get(Ledger, 1)
    if ledger is None:
        raise LadderError("the database is not ready: run keltis-ladder db upgrade")
    for difference in other_models(ledger):
        found.differ(difference)
    return ledger


class _Marks:
    """The checkpoints, each compared with the book at its place."""

    def __init__(self, marks: list[checkpoints.CheckpointMark], found: Comparison) -> None:
        self._left = deque(marks)
        self._found = found

    def pass_by(self, book: Book, number: int) -> None:
        """Compare what lies before a match, of which all before it are in the book."""
        while self._left and self._left[0].number < number:
            mark = self._left.popleft()
            self._found.checkpoints += 1
            if checkpoints.digest_of(book) != mark.digest:
                self._found.differ(f"the checkpoint after match {mark.number} is another book")


def _stored_steps(session: Session, after: int) -> Generator[tuple[Any, ...], None, None]:
    table = RATING_STEP
    query = (
        select(table)
        .where(table.c.match_number > after)
        .order_by(table.c.match_number, table.c.position)
    )
    with session.execute(query, execution_options={"yield_per": FETCHED_ROWS}) as rows:
        for row in rows:
            yield tuple(row)


class _StoredSteps:
    """The stored rating steps, compared one after the other with the recomputed ones."""

    def __init__(self, rows: Iterator[tuple[Any, ...]], found: Comparison, pruned: int) -> None:
        self._rows = rows
        self._pruned = pruned  # up to this match, steps may be missing
        self._next = next(rows, None)
        self._found = found

    def compare(self, new: dict[str, Any]) -> None:
        """Compare the step that comes next, which may be missing."""
        key = (new["match_number"], new["position"])
        self.skip_to(key)
        old: tuple[Any, ...] | None = None
        if self._next is not None and self._next[:2] == key:
            old = self._next
            self._next = next(self._rows, None)
        elif key[0] <= self._pruned:
            self._found.pruned += 1
            return
        self._found.steps += 1
        self._found.compare(f"rating step of match {key[0]}, entrant {key[1]}", old, new)

    def skip_to(self, key: tuple[int, int] | None) -> None:
        """Leave out steps that come from no match, up to this one or all."""
        while self._next is not None and (key is None or self._next[:2] < key):
            number, position = self._next[:2]
            self._found.differ(
                f"rating step of match {number}, entrant {position} is stored, and comes from no "
                "rated match"
            )
            self._next = next(self._rows, None)


def _compare_ratings(session: Session, found: Comparison, book: Book) -> None:
    table = RATING
    stored = {tuple(row[:3]): tuple(row) for row in session.execute(select(table))}
    for (version, scope), standing in book.standings.items():
        found.ratings += 1
        new = rating_row(version, scope, standing)
        old = stored.pop((version, scope.variant, scope.players), None)
        found.compare(f"rating of version {version} in {scope}", old, new)
    for version, variant, players in stored:
        scope = Scope(variant, players)
        found.differ(f"rating of version {version} in {scope} is stored, and comes from no match")


def _compare_duels(session: Session, found: Comparison, book: Book) -> None:
    table = DUEL
    stored = {Pair(*row[:4]): tuple(row[4:]) for row in session.execute(select(table))}
    for pair, score in book.duels.items():
        found.duels += 1
        found.compare(_duel(pair), stored.pop(pair, None), asdict(score))
    for pair in stored:
        found.differ(f"{_duel(pair)} is stored, and comes from no match")


def _duel(pair: Pair) -> str:
    return f"duel of versions {pair.one} and {pair.other} in {Scope(pair.variant, pair.players)}"


def replace(session: Session, progress: Progress | None = None) -> int:
    """Throw all ratings away and store new ones; return how many matches they come from.

    Steps that were pruned stay away, and checkpoints are made again where they were. The joint
    rating is published again after that, by the fitter.
    """
    ledger = lock_ledger(session)
    allow_pauses(session)  # thousands of matches are rated between two statements
    thinned = _thinned(session, ledger.steps_pruned)
    marks = deque(_marked(session))
    for table in (RatingStep, Rating, Duel, RatingCheckpoint):
        session.execute(delete(table))
    book = Book(predecessors(session))
    moment = now()
    count = 0
    for begin in range(0, ledger.matches, FETCHED_ROWS):
        steps: list[dict[str, Any]] = []
        for record in records(session, begin, begin + FETCHED_ROWS):
            while marks and marks[0] < record.number:
                checkpoints.add(session, marks.popleft(), book, moment)
            after = book.enter(record)
            if record.number > ledger.steps_pruned or record.number in thinned:
                steps += [
                    step_row(record.number, position, share.version, after[position])
                    for position, share in enumerate(record.shares)
                ]
            count += 1
        if steps:
            session.execute(insert(RATING_STEP), steps)
        if progress is not None:
            progress(min(begin + FETCHED_ROWS, ledger.matches), ledger.matches)
    for number in marks:
        checkpoints.add(session, number, book, moment)
    rows = [
        rating_row(version, scope, standing)
        for (version, scope), standing in book.standings.items()
    ]
    if rows:
        session.execute(insert(RATING), rows)
    add_duels(session, book)
    session.execute(update(Ledger).values(MODELS))
    renounce(session)
    return count


def _thinned(session: Session, pruned: int) -> set[int]:
    """Return the matches whose steps were kept where others were pruned."""
    number = RATING_STEP.c.match_number
    return set(session.execute(select(number).where(number <= pruned).distinct()).scalars())


def _marked(session: Session) -> list[int]:
    """Return where there are checkpoints, of whatever model."""
    number = RATING_CHECKPOINT.c.number
    return list(session.execute(select(number).order_by(number)).scalars())
