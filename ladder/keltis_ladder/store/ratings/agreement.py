"""Rate all stored results by the package ``trueskill``, and compare the ratings with ours.

Recomputing shows that the stored ratings are what our kernel gives. This shows that the kernel
gives what the package does: the same results in the same order and scopes, with the same numbers of
the model, in a book of their own from the first match to the last.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from sqlmodel import Session

from keltis_ladder.errors import LadderError
from keltis_ladder.ratings.book import Book, Rate
from keltis_ladder.ratings.package import PackageRater
from keltis_ladder.ratings.scopes import Scope
from keltis_ladder.ratings.skill import Belief, Noise
from keltis_ladder.ratings.skill import rate as our_rate
from keltis_ladder.store.bots.catalogue import predecessors
from keltis_ladder.store.ratings.checkpoints import stored_book
from keltis_ladder.store.ratings.models import other_models
from keltis_ladder.store.ratings.rated_matches import records
from keltis_ladder.store.ratings.recomputing import SHOWN, Progress
from keltis_ladder.store.schema.tables import Ledger

# Points of mu and sigma. Both sides compute with 53 bits, and differ by some 1e-12 after thousands
# of matches; the package's limit of ten sweeps may cost more. Tables show hundredths of a point.
TOLERANCE: Final = 1e-6
MATCHES_PER_REPORT: Final = 50  # of progress: the package takes milliseconds for each

Key = tuple[int, Scope]  # a version and a scope


@dataclass
class Largest:
    """The largest differences in mu and sigma from the package, and where they are."""

    mu: float = 0.0
    sigma: float = 0.0
    mu_at: Key | None = None
    sigma_at: Key | None = None

    def add(self, at: Key, ours: Belief, theirs: Belief) -> None:
        """Take one rating into account."""
        mu, sigma = abs(ours.mu - theirs.mu), abs(ours.sigma - theirs.sigma)
        if self.mu_at is None or mu > self.mu:
            self.mu, self.mu_at = mu, at
        if self.sigma_at is None or sigma > self.sigma:
            self.sigma, self.sigma_at = sigma, at

    @property
    def within(self) -> bool:
        """Whether both are within the tolerance."""
        return self.mu <= TOLERANCE and self.sigma <= TOLERANCE


@dataclass
class Agreement:
    """What the comparison with the package found."""

    matches: int = 0
    ratings: int = 0
    exactly: int = 0  # updates that the package made with mpmath
    kernel: Largest = field(default_factory=Largest)  # of the kernel as it computes now
    stored: Largest = field(default_factory=Largest)  # of the stored ratings
    kernel_seconds: float = 0.0  # of the processor
    package_seconds: float = 0.0
    differences: int = 0  # stored ratings outside of the tolerance, missing or superfluous
    examples: list[str] = field(default_factory=list)

    @property
    def agree(self) -> bool:
        """Whether the kernel and every stored rating are within the tolerance."""
        return self.kernel.within and self.differences == 0

    def differ(self, text: str) -> None:
        """Note a stored rating that is not what the package says."""
        self.differences += 1
        if len(self.examples) < SHOWN:
            self.examples.append(text)


class _Timed:
    """A way to rate matches, and what it took of the processor: on a busy machine, too."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self.seconds = 0.0

    def rate(
        self, beliefs: list[Belief], ranks: list[int], noise: Noise, tau: float
    ) -> list[Belief]:
        begin = time.thread_time()
        after = self._rate(beliefs, ranks, noise, tau)
        self.seconds += time.thread_time() - begin
        return after


def compare_with_package(
    session: Session, progress: Progress | None = None, kernel_rate: Rate = our_rate
) -> Agreement:
    """Enter all results by the kernel and by the package; compare both and the stored ratings."""
    ledger = session.get(Ledger, 1)
    if ledger is None:
        raise LadderError("the database is not ready: run keltis-ladder db upgrade")
    found = Agreement()
    for difference in other_models(ledger):
        found.differ(difference)
    known = predecessors(session)
    rater = PackageRater()
    kernel, package = _Timed(kernel_rate), _Timed(rater.rate)
    ours, theirs = Book(known, kernel.rate), Book(known, package.rate)
    for record in records(session):
        ours.enter(record)
        theirs.enter(record)
        found.matches += 1
        if progress is not None and found.matches % MATCHES_PER_REPORT == 0:
            progress(record.number, ledger.matches)
    for key, standing in theirs.standings.items():
        found.kernel.add(key, ours.standings[key].belief, standing.belief)
    _compare_stored(found, stored_book(session, known), theirs)
    found.exactly = rater.exactly
    found.kernel_seconds, found.package_seconds = kernel.seconds, package.seconds
    if progress is not None:
        progress(ledger.matches, ledger.matches)
    return found


def _compare_stored(found: Agreement, stored: Book, theirs: Book) -> None:
    for key, standing in theirs.standings.items():
        found.ratings += 1
        old = stored.standings.pop(key, None)
        if old is None:
            found.differ(f"{named(key)} is missing")
            continue
        found.stored.add(key, old.belief, standing.belief)
        one = Largest()
        one.add(key, old.belief, standing.belief)
        if not one.within:
            found.differ(
                f"{named(key)}: mu is {old.belief.mu:.6f}, not {standing.belief.mu:.6f}; "
                f"sigma is {old.belief.sigma:.6f}, not {standing.belief.sigma:.6f}"
            )
    for key in stored.standings:
        found.differ(f"{named(key)} is stored, and comes from no match")


def named(key: Key) -> str:
    """Return which rating it is."""
    version, scope = key
    return f"rating of version {version} in {scope}"
