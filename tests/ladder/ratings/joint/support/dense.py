"""The joint fit written down as the textbooks have it: whole matrices, no shortcut."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from keltis_ladder.ratings.joint.fit import Member
from keltis_ladder.ratings.joint.kinds import KINDS
from keltis_ladder.ratings.joint.numbers import Numbers
from keltis_ladder.ratings.joint.statistics import Match

COUNT = len(KINDS)
Matrix = list[list[float]]


def identity(size: int) -> Matrix:
    return [[float(i == j) for j in range(size)] for i in range(size)]


def inverted(matrix: Matrix) -> Matrix:
    """Gauss and Jordan's elimination, with the largest pivot."""
    size = len(matrix)
    rows = [[*row, *unit] for row, unit in zip(matrix, identity(size), strict=True)]
    for k in range(size):
        pivot = max(range(k, size), key=lambda row: abs(rows[row][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        head = rows[k][k]
        rows[k] = [value / head for value in rows[k]]
        for row in range(size):
            factor = rows[row][k]
            if row != k and factor:
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[k], strict=True)]
    return [row[size:] for row in rows]


def times(matrix: Matrix, vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def square(flat: list[float]) -> Matrix:
    return [flat[COUNT * row : COUNT * (row + 1)] for row in range(COUNT)]


@dataclass
class Dense:
    """Precision and pull of all skills: those of version v begin at COUNT * (place of v)."""

    places: Mapping[int, int]
    numbers: Numbers
    precision: Matrix
    pull: list[float]

    @classmethod
    def of(cls, members: Iterable[Member], numbers: Numbers) -> "Dense":
        """What is known before any match."""
        listed = list(members)
        places = {member.version: place for place, member in enumerate(listed)}
        size = COUNT * len(listed)
        found = cls(places, numbers, [[0.0] * size for _ in range(size)], [0.0] * size)
        prior = inverted(square(numbers.covariance()))
        step = inverted(square(numbers.step_covariance()))
        for member in listed:
            here = COUNT * places[member.version]
            if member.predecessor is None:
                found._add(here, here, prior, 1.0)
                continue
            before = COUNT * places[member.predecessor]
            for one, other, sign in (
                (here, here, 1.0),
                (before, before, 1.0),
                (here, before, -1.0),
                (before, here, -1.0),
            ):
                found._add(one, other, step, sign)
        return found

    def _add(self, row: int, column: int, block: Matrix, sign: float) -> None:
        for i in range(COUNT):
            for j in range(COUNT):
                self.precision[row + i][column + j] += sign * block[i][j]

    def see_pairs(self, matches: Iterable[Match]) -> "Dense":
        """Every pair that met is one observation, with an effect of its own."""
        met: dict[tuple[int, int, int], list[float]] = {}
        for match in matches:
            unit = 12 * len(match.versions) * self.numbers.luck[match.kind]
            table = list(zip(match.versions, match.scores, strict=True))
            for one, score in table:
                for other, its in table:
                    if one < other:
                        met.setdefault((match.kind, one, other), []).append((score - its) / unit)
        for (kind, one, other), margins in met.items():
            noise = KINDS[kind].players / len(margins)
            weight = 1 / (self.numbers.pair[kind] ** 2 + noise)
            i, j = COUNT * self.places[one] + kind, COUNT * self.places[other] + kind
            self.precision[i][i] += weight
            self.precision[j][j] += weight
            self.precision[i][j] -= weight
            self.precision[j][i] -= weight
            pull = weight * sum(margins) / len(margins)
            self.pull[i] += pull
            self.pull[j] -= pull
        return self

    def see_tables(self, matches: Iterable[Match]) -> "Dense":
        """Every match is one observation of all its scores, whose common level is unknown."""
        for match in matches:
            count = len(match.versions)
            unit = 12 * count * self.numbers.luck[match.kind]
            at = [COUNT * self.places[version] + match.kind for version in match.versions]
            level = sum(match.scores) / count
            for one, score in zip(at, match.scores, strict=True):
                self.pull[one] += (score - level) / unit
                for other in at:
                    self.precision[one][other] += float(one == other) - 1 / count
        return self

    def solved(self) -> tuple[list[float], Matrix]:
        """Skills and their covariance."""
        covariance = inverted(self.precision)
        return times(covariance, self.pull), covariance
