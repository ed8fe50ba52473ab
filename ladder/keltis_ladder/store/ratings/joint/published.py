"""Work every published figure of the joint rating out again, as of its mark, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from sqlalchemy import Row, select
from sqlmodel import Session

from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.book import Book
from keltis_ladder.ratings.joint.fit import Fit
from keltis_ladder.ratings.joint.numbers import MODEL_VERSION
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.store.ratings.joint.fitting import Ground, figures, known_versions, statistics_of
from keltis_ladder.store.schema.relations import JOINT_MARK, JOINT_RATING

PublicationRow = Row[Any]


class Publications:
    """The publications of all scopes, each compared with a fit when the book has come to it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._left = list(
            session.execute(
                select(JOINT_MARK).order_by(
                    JOINT_MARK.c.as_of, JOINT_MARK.c.variant, JOINT_MARK.c.players
                )
            ).all()
        )
        # The first whose figures have to be worked out; none: there are no publications.
        self.oldest: int | None = min((mark.as_of for mark in self._left), default=None)
        self.figures = 0  # that were compared

    def pass_by(self, book: Book, number: int) -> Iterator[str]:
        """Compare what was published before a match, of which all before it are in the book.

        Yields what is not as it should be.
        """
        due = []
        while self._left and self._left[0].as_of < number:
            due.append(self._left.pop(0))
        if not due:
            return
        versions = known_versions(self._session)
        statistics = statistics_of(book.duels.items())
        due.sort(key=lambda mark: (mark.as_of, mark.field))
        for (as_of, field), marks in groupby(due, key=lambda mark: (mark.as_of, mark.field)):
            unknown = set(field) - versions.keys()
            if unknown:
                yield f"versions {sorted(unknown)} are in a field of the joint rating, and not here"
                continue
            fit: Fit | None = None
            for mark in marks:
                if mark.joint_model != MODEL_VERSION:
                    yield (
                        f"the joint rating in {_scope(mark)} was published by model "
                        f"{mark.joint_model}, this program has {MODEL_VERSION}"
                    )
                    continue
                if fit is None:
                    try:
                        fit = Ground(as_of, statistics, versions, frozenset(field)).fit()
                    except (LadderError, ValueError) as error:
                        yield f"the joint rating after match {as_of} cannot be fitted: {error}"
                        break
                yield from self._compare(fit, _scope(mark))

    def left_over(self) -> Iterator[str]:
        """Yield publications of matches that the book has never come to."""
        for mark in self._left:
            yield (
                f"the joint rating in {_scope(mark)} is that after match {mark.as_of}, "
                "which is not stored"
            )

    def _compare(self, fit: Fit, scope: Scope) -> Iterator[str]:
        rows = self._session.execute(
            select(JOINT_RATING).where(
                JOINT_RATING.c.variant == scope.variant, JOINT_RATING.c.players == scope.players
            )
        )
        stored = {row.version_id: row._asdict() for row in rows}
        for new in figures(fit, scope):
            self.figures += 1
            what = f"joint rating of version {new['version_id']} in {scope}"
            old = stored.pop(new["version_id"], None)
            if old is None:
                yield f"{what} is missing"
            elif old != new:
                parts = [
                    f"{name} is {old[name]!r}, not {value!r}"
                    for name, value in new.items()
                    if old[name] != value
                ]
                yield f"{what}: {', '.join(parts)}"
        for version in stored:
            yield f"joint rating of version {version} in {scope} is stored, and comes from no match"


def _scope(mark: PublicationRow) -> Scope:
    return Scope(mark.variant, mark.players)
