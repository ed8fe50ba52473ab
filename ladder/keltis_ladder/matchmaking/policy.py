"""The policy: the numbers that decide how matches are shared out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keltis_engine import VARIANTS
from keltis_ladder.errors import LadderError
from keltis_ladder.matchmaking.contenders import Category
from keltis_ladder.ratings.model import SIGMA


def _equal_variants() -> Mapping[str, float]:
    return dict.fromkeys(VARIANTS, 1.0)


def _usual_players() -> Mapping[int, float]:
    return {2: 2.0, 3: 1.0, 4: 1.0}


@dataclass(frozen=True)
class Policy:
    """What the matchmaker keeps to. What docs/readers/matchmaking.md promises holds for all."""

    variants: Mapping[str, float] = field(default_factory=_equal_variants)  # weights
    players: Mapping[int, float] = field(default_factory=_usual_players)  # weights
    same_author: bool = False  # may bots of one author meet?
    patience: float = 2.0  # fair shares that a version waits before its turn comes
    rotation: int = 12  # matches of a category per one with somebody not met for long
    repetition: float = 1.0  # fair shares after which an opponent is half as good as a fresh one
    free: int = 8  # with this many free opponents nobody who is playing is looked at
    busy: float = 0.25  # what each match that it is playing leaves of a version's attraction
    burst: int = 24  # matches that a version may be chosen for as fast as they can be played
    most: float = 3.0  # times its fair share: how often it may be chosen after that
    hopeless: float = 0.05  # below this chance of winning, nobody needs to meet
    deviation: float = SIGMA / 4  # how a version's skill differs between variants
    sample: int = 12  # versions looked at for whom a match is made
    neighbours: int = 32  # opponents looked at

    def __post_init__(self) -> None:
        """Refuse what cannot be kept to."""
        weights = [*self.variants.values(), *self.players.values()]
        if not self.variants or not self.players or min(weights) <= 0:
            raise LadderError(
                "a policy gives every variant and number of players a weight above 0; "
                f"got {dict(self.variants)} and {dict(self.players)}"
            )
        if min(self.players) < 2:
            raise LadderError(f"a match has two players or more; got {sorted(self.players)}")
        if self.patience < 1 or self.rotation < 2:
            raise LadderError(
                "a policy has a patience of at least 1 and a rotation of at least 2; "
                f"got {self.patience:g} and {self.rotation}"
            )
        if self.sample < 1 or self.neighbours < 1 or self.free < 1 or self.repetition < 0:
            raise LadderError(
                "a policy looks at one version or more, and repetition is not below 0; "
                f"got {self.sample}, {self.neighbours}, {self.free} and {self.repetition:g}"
            )
        if self.burst < 1 or self.most < 1:
            raise LadderError(
                "a policy lets a version play one match at once, and its fair share, or more; "
                f"got {self.burst} and {self.most:g}"
            )
        if not (0 < self.busy <= 1 and 0 <= self.hopeless < 0.5 and self.deviation >= 0):
            raise LadderError(
                "a policy has busy above 0 up to 1, hopeless from 0 to below 0.5, deviation not "
                f"below 0; got {self.busy:g}, {self.hopeless:g} and {self.deviation:g}"
            )

    def categories(self) -> list[Category]:
        """Return every kind of match that there may be."""
        return [Category(variant, players) for variant in self.variants for players in self.players]

    def shares(self, playable: list[Category]) -> dict[Category, float]:
        """Return the share of each of these; a variant gets its own even if little can be played.

        What cannot be played leaves its share to the rest of its variant first.
        """
        by_variant: dict[str, float] = {}
        for category in playable:
            weight = self.players[category.players]
            by_variant[category.variant] = by_variant.get(category.variant, 0.0) + weight
        total = sum(self.variants[variant] for variant in by_variant)
        return {
            category: self.variants[category.variant]
            / total
            * self.players[category.players]
            / by_variant[category.variant]
            for category in playable
        }
