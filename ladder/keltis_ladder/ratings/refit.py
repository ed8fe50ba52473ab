"""The refit: the same ratings from all results at once, in whatever order they were played.

A live rating meets a bot's early opponents as they were known then, and is never told that they
turned out stronger. The refit is: it gives every version one skill for all time, and finds the
beliefs that agree with all matches together (TrueSkill Through Time: Dangauthier, Herbrich, Minka
and Graepel 2007). Successive versions of a bot are a normal step apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from keltis_ladder.ratings.model import PRIOR, SUCCESSION, noise_of
from keltis_ladder.ratings.refit_sweep import NOBODY, Network
from keltis_ladder.ratings.skill import Belief

PRECISION: Final = 1e-6  # it ends when no mean and no deviation changes by more in a sweep
MOST_SWEEPS: Final = 1000


@dataclass(frozen=True)
class Played:
    """A rated match: its entrants' versions and ranks, 1 being the best."""

    id: str
    versions: tuple[int, ...]
    ranks: tuple[int, ...]
    variant: str
    players: int


@dataclass(frozen=True)
class Refit:
    """What all matches together say."""

    beliefs: dict[int, Belief]  # of every version, also of those that have not played
    sweeps: int
    converged: bool


def refit(played: Iterable[Played], predecessors: Mapping[int, int | None]) -> Refit:
    """Rate all versions by all matches, in any order: the outcome is the same to the last bit.

    ``predecessors`` names every version, with the version of its bot before it, or None.
    """
    versions = ancestors_first(predecessors)
    network = _network(sorted(played, key=lambda match: match.id), versions, predecessors)
    sweeps, converged = network.settle(PRECISION, MOST_SWEEPS)
    beliefs = {
        version: Belief(network.mean(k), network.deviation(k)) for k, version in enumerate(versions)
    }
    return Refit(beliefs, sweeps, converged)


def ancestors_first(predecessors: Mapping[int, int | None]) -> list[int]:
    """Return all versions, every one after its predecessor; otherwise in ascending order."""
    ordered: dict[int, None] = {}
    for version in sorted(predecessors):
        line: dict[int, None] = {}
        ancestor: int | None = version
        while ancestor is not None and ancestor not in ordered:
            if ancestor in line:
                raise ValueError(f"version {ancestor} descends from itself")
            if ancestor not in predecessors:
                raise ValueError(f"version {ancestor} is not known, but others descend from it")
            line[ancestor] = None
            ancestor = predecessors[ancestor]
        ordered.update(reversed(line.items()))
    return list(ordered)


def _network(
    played: list[Played], versions: list[int], predecessors: Mapping[int, int | None]
) -> Network:
    places = {version: place for place, version in enumerate(versions)}
    before = [predecessors[version] for version in versions]
    entrants: list[int] = []
    ends: list[int] = []
    drawn: list[bool] = []
    for match in played:
        _check(match, places)
        # Sorting keeps the order of those who drew, as the live rating does.
        order = sorted(range(len(match.ranks)), key=match.ranks.__getitem__)
        entrants += [places[match.versions[k]] for k in order]
        ranks = [match.ranks[k] for k in order]
        drawn += [rank == following for rank, following in pairwise(ranks)]
        drawn.append(False)
        ends.append(len(entrants))
    if len({match.id for match in played}) < len(played):
        raise ValueError("a match was given twice: ids are not unique")
    return Network(
        PRIOR,
        SUCCESSION,
        [NOBODY if version is None else places[version] for version in before],
        entrants,
        ends,
        drawn,
        [noise_of(match.variant, match.players) for match in played],
    )


def _check(match: Played, known: Mapping[int, int]) -> None:
    count = len(match.versions)
    if count < 2 or len(match.ranks) != count or len(set(match.versions)) < count:
        raise ValueError(f"a match is between two versions or more, each with a rank; got {match}")
    for version in match.versions:
        if version not in known:
            raise ValueError(f"version {version} played in match {match.id}, but is not known")
