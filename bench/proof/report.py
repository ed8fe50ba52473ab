"""The report of ``bench.ratings.coverage``: figures, goals, and the page for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from bench.keeping import table
from bench.proof.attacks import Gain
from bench.proof.boards import JOINT, RATINGS
from bench.proof.measures import Tally
from bench.proof.numbers import Found
from bench.proof.sizes import Size
from keltis_ladder.ratings.scopes import OVERALL, Scope

STRONG_MARK: Final = "times"  # in the name of a world with strong interplay
HARD: Final = "neue-wege/4"  # was covered worst when the model was built


class Case(NamedTuple):
    """What was held against the truth, and when."""

    world: str
    tables: str
    matches: int
    rating: str
    scope: str


class Row(NamedTuple):
    """A line of a table: all ladders of a kind after so many matches."""

    world: str
    tables: str
    matches: int


Chosen = Callable[[str], bool]  # which scopes


def with_players(players: int) -> Chosen:
    """Choose the scopes of one number of players."""
    return lambda scope: Scope.parse(scope).players == players


def only(name: str) -> Chosen:
    """Choose one scope."""
    return lambda scope: scope == name


GROUPS: Final[dict[str, Chosen]] = {
    "2 players": with_players(2),
    "3 players": with_players(3),
    "4 players": with_players(4),
    HARD: only(HARD),
    "overall": only(str(OVERALL)),
}


@dataclass(frozen=True)
class Goal:
    """What was asked for, and the worst that was found."""

    name: str
    wanted: str
    worst: float | None
    where: str
    met: bool | None  # none: nothing of the kind was measured


@dataclass(frozen=True)
class Report:
    """All that was measured."""

    tallies: dict[Case, Tally]
    numbers: list[Found]
    orders: tuple[int, int]  # pairs certain by wins and by margins: all, and the opposite ones
    gains: list[Gain]

    def rows(self) -> list[Row]:
        """Return the lines of the tables."""
        return list(dict.fromkeys(Row(*case[:3]) for case in self.tallies))

    def tally(self, row: Row, rating: str, chosen: Chosen) -> Tally:
        """Add up what was counted in some scopes."""
        total = Tally()
        for case, tally in self.tallies.items():
            if Row(*case[:3]) == row and case.rating == rating and chosen(case.scope):
                total.add(tally)
        return total

    def plain(self) -> dict[str, Any]:
        """Return it for JSON, to four digits."""
        found: dict[str, Any] = rounded(self._exact())
        return found

    def _exact(self) -> dict[str, Any]:
        return {
            "cases": [
                {**row._asdict(), "rating": rating, "scopes": name, **tally.row()}
                for row in self.rows()
                for rating in RATINGS
                for name, chosen in GROUPS.items()
                for tally in [self.tally(row, rating, chosen)]
            ],
            "scopes": [
                {**case._asdict(), **tally.short()}
                for case, tally in self.tallies.items()
                if case.rating == JOINT
            ],
            "numbers": [asdict(each) for each in self.numbers],
            "orders": {"certain": self.orders[0], "opposite": self.orders[1]},
            "attacks": [asdict(each) for each in self.gains],
            "goals": [asdict(each) for each in self.goals()],
        }

    def goals(self) -> list[Goal]:
        """Hold the joint rating against what was asked for."""
        two, everywhere = GROUPS["2 players"], lambda scope: True
        usual = [row for row in self.rows() if STRONG_MARK not in row.world]
        strong = [row for row in self.rows() if STRONG_MARK in row.world]
        kinds = lambda scope: scope != str(OVERALL)  # noqa: E731
        return [
            self._goal(
                "field scores, least", "at least 93 %", usual, two, "scores", 0.93, least=True
            ),
            self._goal(
                "field scores, most", "at most 97 %", usual, two, "scores", 0.97, least=False
            ),
            self._goal("differences", "at least 92 %", usual, kinds, "gaps", 0.92, least=True),
            self._goal(
                "differences, overall rating",
                "at least 92 %",
                usual,
                GROUPS["overall"],
                "gaps",
                0.92,
                least=True,
            ),
            self._goal(
                f"differences, {HARD}",
                "at least 92 %",
                usual,
                GROUPS[HARD],
                "gaps",
                0.92,
                least=True,
            ),
            self._goal(
                "differences, strong interplay",
                "at least 85 %",
                strong,
                everywhere,
                "gaps",
                0.85,
                least=True,
            ),
            self._goal(
                "told apart in the wrong order",
                "at most 1 %",
                self.rows(),
                everywhere,
                "wrong",
                0.01,
                least=False,
            ),
            self._goal(
                "equals told apart",
                "at most 5 %",
                self.rows(),
                everywhere,
                "clones",
                0.05,
                least=False,
            ),
        ]

    def _goal(
        self,
        name: str,
        wanted: str,
        rows: list[Row],
        chosen: Chosen,
        figure: str,
        limit: float,
        least: bool,
    ) -> Goal:
        found = [(self.tally(row, JOINT, chosen).row()[figure], row) for row in rows]
        known = [(value, row) for value, row in found if value is not None]
        if not known:
            return Goal(name, wanted, None, "nowhere", None)
        worst, row = (min if least else max)(known)
        met = worst >= limit if least else worst <= limit
        return Goal(name, wanted, worst, f"{row.world}, {row.tables}, {row.matches}", met)


def rounded(value: Any) -> Any:
    """Return plain data with its numbers rounded."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return value


def percent(value: float | int | None, digits: int = 0) -> str:
    """Return a share for people."""
    return "-" if value is None else f"{100 * value:.{digits}f}"


def page_of(report: Report, size: Size, where: str) -> str:
    """Return the page to keep."""
    certain, opposite = report.orders
    lines = [
        "# Ratings held against the truth",
        "",
        f"{where}. Made by `python -m bench.ratings.coverage`, {size.name} size. bench/README.md",
        "says what is measured. Live TrueSkill / its refit / **the joint rating**, in percent;",
        "*scores* and *differences*: truth inside the 95 % interval; *wrong*: of pairs told apart,",
        "in the wrong order; *equals*: clones told apart; tau: agreement with the true order.",
        "Differences of the joint rating are as people are shown them: their variance is the sum",
        "of those of both ratings. *Exact* is the one that the fit gives, with covariances.",
        "",
        "## Goals",
        "",
        *table(
            ["joint rating", "goal", "worst", "where", ""],
            [
                [
                    goal.name,
                    goal.wanted,
                    percent(goal.worst, 1),
                    goal.where,
                    {True: "met", False: "missed", None: "not measured"}[goal.met],
                ]
                for goal in report.goals()
            ],
        ),
        "",
        f"Of {certain:,} pairs certain by wins and by margins, {opposite} are in opposite order.",
    ]
    for world in dict.fromkeys(row.world for row in report.rows()):
        lines += [
            "",
            f"## {world}",
            "",
            "Two players, by variant; equals and wrong: all scopes.",
            "",
        ]
        rows = [row for row in report.rows() if row.world == world]
        lines += table(
            ["tables, matches", "scores", "differences", "wrong", "equals", "tau", "tau overall"],
            [_world_cells(report, row) for row in rows],
        )
        lines += ["", "The joint rating: differences / exact (scores), by number of players.", ""]
        lines += table(
            ["tables, matches", *GROUPS],
            [[_row_name(row), *_group_cells(report, row)] for row in rows],
        )
    lines += ["", "## The model's numbers, measured on the largest real field", ""]
    lines += table(
        ["kind", "luck", "of single bots", "spread", "pair", "slope", "link"],
        [
            [
                each.kind,
                f"{each.luck:.1f}",
                f"{each.luck_of_bots[0]:.2f} to {each.luck_of_bots[1]:.2f}",
                f"{each.spread:.2f}",
                f"{each.pair:.2f}",
                f"{each.slope:.2f}",
                f"{each.link:.3f}",
            ]
            for each in report.numbers
        ],
    )
    lines += [
        "",
        "## Attacks",
        "",
        f"What a bot of the middle gains over an honest one after {size.attack_matches:,} matches",
        f"of {size.attack_bots} bots: rating points and places; {size.attacked} ladders.",
        "",
        *table(
            ["attack", "joint", "places", "live", "sigma of the rating"],
            [
                [
                    each.attack,
                    _gain(each.joint),
                    _gain(each.places),
                    _gain(each.live),
                    f"{each.sigma:.2f}",
                ]
                for each in report.gains
            ],
        ),
    ]
    return "\n".join(lines) + "\n"


def _row_name(row: Row) -> str:
    return f"{row.tables}, {row.matches:,}"


def _world_cells(report: Report, row: Row) -> list[str]:
    two = [report.tally(row, rating, GROUPS["2 players"]).row() for rating in RATINGS]
    every = [report.tally(row, rating, lambda scope: True).row() for rating in RATINGS]
    overall = [report.tally(row, rating, GROUPS["overall"]).row() for rating in RATINGS]
    return [
        _row_name(row),
        _three([percent(each["scores"]) for each in two]),
        _three([percent(each["gaps"]) for each in two]),
        _three([percent(each["wrong"], 1) for each in every]),
        _three([percent(each["clones"], 1) for each in every]),
        _three([_tau(each["tau"]) for each in two]),
        _three([_tau(each["tau"]) for each in overall]),
    ]


def _group_cells(report: Report, row: Row) -> list[str]:
    cells = []
    for chosen in GROUPS.values():
        figures = report.tally(row, JOINT, chosen).row()
        cells.append(
            f"{percent(figures['gaps'])} / {percent(figures['exact_gaps'])} "
            f"({percent(figures['scores'])})"
        )
    return cells


def _three(values: list[str]) -> str:
    *others, joint = values
    return " / ".join([*others, f"**{joint}**"])


def _tau(value: float | int | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _gain(gain: tuple[float, float]) -> str:
    return f"{gain[0]:+.2f} ± {gain[1]:.2f}"
