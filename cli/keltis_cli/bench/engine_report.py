"""The result of ``bench engine``: its figures, the goals they are held against, how it is shown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from keltis_cli.bench.machine import Machine

SCHEMA: Final = 1
OURS: Final = "keltis_engine"

# The calls that are timed one by one, in nanoseconds.
CALL_HEADINGS: Final = {
    "copy": "copy",
    "copy_in_engine": "in engine",
    "legal_actions": "legal",
    "apply": "apply",
    "determinize": "determinize",
    "deal": "deal",
}
CALLS: Final = list(CALL_HEADINGS)

# The goals. Those in decisions per second are for a machine on which the reference, the
# prototype of the base game's hot loop, makes this many.
REFERENCE_RATE: Final = 12e6
PLAYOUT_RATES: Final = {"keltis": 10e6}
OTHER_PLAYOUT_RATE: Final = 6e6
COMPILED_RATIO: Final = 20.0
DRIVEN_RATIO: Final = 8.0
COPY_NANOSECONDS: Final = 400.0
IMPORT_MILLISECONDS: Final = 30.0

NOT_COMPILED: Final = "the engine is not compiled here"
NO_OPEN_SPIEL: Final = "open_spiel is not installed: pip install open_spiel"
NO_REFERENCE: Final = "no reference module to scale the goal: --reference FILE"


@dataclass(frozen=True)
class Figure:
    """The median of the rounds, with the quartiles around it."""

    median: float
    low: float
    high: float

    def text(self, scale: float = 1.0, digits: int = 2) -> str:
        """Write the median and how far the farther quartile is from it."""
        spread = max(self.high - self.median, self.median - self.low) / abs(self.median)
        return f"{self.median * scale:,.{digits}f} ±{spread:.0%}"


def figure(values: list[float]) -> Figure:
    """Sum up the rounds."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Figure(median, low, high)


def quotient(ours: list[float], theirs: list[float]) -> Figure:
    """Sum up the ratios of two things that were measured side by side in each round."""
    return figure([a / b for a, b in zip(ours, theirs, strict=True)])


@dataclass(frozen=True)
class Playouts:
    """Random play in engine code, in decisions per second; ``games`` includes the deals."""

    variant: str
    players: int
    rate: Figure
    interpreted: Figure | None
    ratio: Figure | None
    games_rate: Figure
    games_interpreted: Figure | None
    games_ratio: Figure | None


@dataclass(frozen=True)
class Calls:
    """Single calls, by their names in ``CALLS``."""

    variant: str
    players: int
    nanoseconds: dict[str, Figure]


@dataclass(frozen=True)
class Driven:
    """A loop in Python over legal actions, in decisions per second; the ratio is to hearts."""

    library: str
    game: str
    players: int
    rate: Figure
    ratio: Figure | None


@dataclass(frozen=True)
class Import:
    """Milliseconds of a bare start of Python, and of those that the engine adds."""

    bare: Figure
    added: Figure


@dataclass(frozen=True)
class Goal:
    """A goal and the figure that was held against it, the worst one where there are several."""

    name: str
    unit: str
    at_least: float | None
    at_most: float | None
    measured: float | None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; unknown if it could not be measured or scaled."""
        if self.measured is None or self.note:
            return None
        if self.at_least is not None and self.measured < self.at_least:
            return False
        return self.at_most is None or self.measured <= self.at_most


@dataclass(frozen=True)
class EngineReport:
    """Everything that one run has measured."""

    date: datetime
    machine: Machine
    compiled: bool
    quick: bool
    rounds: int
    seconds: float
    playouts: list[Playouts]
    calls: list[Calls]
    driven: list[Driven]
    imports: Import
    reference: Figure | None

    def goals(self) -> list[Goal]:
        """Hold the figures against the goals."""
        return [
            *self._ratio_goals(),
            *self._rate_goals(),
            *self._driven_goals(),
            *self._copy_goals(),
            Goal(
                "import keltis_engine", "ms", None, IMPORT_MILLISECONDS, self.imports.added.median
            ),
        ]

    def _ratio_goals(self) -> Iterator[Goal]:
        for variant in self._variants():
            ratios = [
                line.ratio.median
                for line in self.playouts
                if line.variant == variant and line.ratio is not None
            ]
            name = f"{variant}: compiled / interpreted"
            note = "" if ratios else NOT_COMPILED
            yield Goal(name, "x", COMPILED_RATIO, None, min(ratios, default=None), note)

    def _rate_goals(self) -> Iterator[Goal]:
        scale = self.reference.median / REFERENCE_RATE if self.reference else 1.0
        note = "" if self.reference else NO_REFERENCE
        if not self.compiled:
            note = NOT_COMPILED
        for variant in self._variants():
            goal = PLAYOUT_RATES.get(variant, OTHER_PLAYOUT_RATE) * scale / 1e6
            rate = min(line.rate.median for line in self.playouts if line.variant == variant)
            yield Goal(f"{variant}: playouts", "M/s", goal, None, rate / 1e6, note)

    def _driven_goals(self) -> Iterator[Goal]:
        for variant in self._variants():
            ratios = [
                line.ratio.median
                for line in self.driven
                if line.library == OURS and line.game == variant and line.ratio is not None
            ]
            name = f"{variant}: driven / open_spiel hearts"
            note = "" if ratios else NO_OPEN_SPIEL
            if not self.compiled:
                note = NOT_COMPILED
            yield Goal(name, "x", DRIVEN_RATIO, None, min(ratios, default=None), note)

    def _copy_goals(self) -> Iterator[Goal]:
        note = "" if self.compiled else NOT_COMPILED
        for variant in self._variants():
            copy = max(
                line.nanoseconds["copy"].median for line in self.calls if line.variant == variant
            )
            yield Goal(f"{variant}: copy", "ns", None, COPY_NANOSECONDS, copy, note)

    def _variants(self) -> list[str]:
        return list(dict.fromkeys(line.variant for line in self.playouts))

    def as_json(self) -> dict[str, Any]:
        """Return plain data; ``bench/README.md`` documents it."""
        return {
            "schema": SCHEMA,
            **asdict(self),
            "date": self.date.isoformat(timespec="seconds"),
            "goals": [asdict(goal) | {"met": goal.met} for goal in self.goals()],
        }


# How it is shown


@dataclass(frozen=True)
class Section:
    """A table with its title and remarks; the first column is text, the others are numbers."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    remarks: list[str]


def sections(report: EngineReport) -> list[Section]:
    """Return the tables of a report."""
    form = "compiled" if report.compiled else "interpreted"
    return [
        Section(
            "Random playouts in engine code, one thread: M decisions/s",
            ["game", "players", form, "sources", "ratio", "with deals", "ratio"],
            [_playout_row(line) for line in report.playouts],
            [],
        ),
        Section(
            "Single calls from Python: ns",
            ["game", "players", *(CALL_HEADINGS[name] for name in CALLS)],
            [_call_row(line) for line in report.calls],
            [],
        ),
        Section(
            "Driven from Python, legal_actions + apply: M decisions/s",
            ["game", "players", "rate", "to hearts"],
            [_driven_row(line) for line in report.driven],
            ["The loop alone is the limit: what Python itself costs."],
        ),
        Section(
            "Goals, held against the worst number of players",
            ["measure", "goal", "measured", "result"],
            [_goal_row(goal) for goal in report.goals()],
            [
                f"Not judged: {note}"
                for note in dict.fromkeys(g.note for g in report.goals())
                if note
            ],
        ),
    ]


def header(report: EngineReport) -> list[str]:
    """Return the lines that say what was measured where."""
    machine = report.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    imports = report.imports
    lines = [
        f"{report.date:%Y-%m-%d %H:%M} UTC, {report.rounds} rounds in {report.seconds:.0f} s",
        f"{machine.cpu}, {machine.cores} cores, {machine.system}",
        f"{machine.python}; {machine.compiler}; {versions}",
        f"importing: {imports.added.text(digits=1)} ms, a bare Python {imports.bare.median:.1f} ms",
        "medians, ± the farther quartile",
    ]
    if report.reference is not None:
        lines.append(f"reference module: {report.reference.text(1e-6)} M decisions/s")
    if report.quick:
        lines.append("quick run: far too short to trust the figures")
    return lines


def show(report: EngineReport, out: Console) -> None:
    """Print a report for people."""
    for line in header(report):
        out.print(line, highlight=False)
    for section in sections(report):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for number, heading in enumerate(section.headings):
            table.add_column(heading, justify="left" if number == 0 else "right")
        for row in section.rows:
            table.add_row(*row)
        out.print(f"\n{section.title}", style="bold", highlight=False)
        out.print(table, highlight=False)
        for remark in section.remarks:
            out.print(remark, style="dim", highlight=False)


def markdown(report: EngineReport) -> str:
    """Return a report as a Markdown page."""
    lines = ["# Engine benchmark", "", *(f"- {line}" for line in header(report))]
    for section in sections(report):
        rule = [":--"] + ["--:"] * (len(section.headings) - 1)
        lines += ["", f"## {section.title}", ""]
        lines += [f"| {' | '.join(row)} |" for row in [section.headings, rule, *section.rows]]
        for remark in section.remarks:
            lines += ["", remark]
    return "\n".join(lines) + "\n"


def _playout_row(line: Playouts) -> list[str]:
    return [
        line.variant,
        str(line.players),
        line.rate.text(1e-6),
        line.interpreted.text(1e-6) if line.interpreted else "-",
        line.ratio.text(digits=0) if line.ratio else "-",
        line.games_rate.text(1e-6),
        line.games_ratio.text(digits=0) if line.games_ratio else "-",
    ]


def _call_row(line: Calls) -> list[str]:
    medians = [f"{line.nanoseconds[name].median:,.0f}" for name in CALLS]
    return [line.variant, str(line.players), *medians]


def _driven_row(line: Driven) -> list[str]:
    return [
        f"{line.library} {line.game}" if line.library == "open_spiel" else line.game,
        str(line.players or "-"),
        line.rate.text(1e-6),
        line.ratio.text() if line.ratio else "-",
    ]


def _goal_row(goal: Goal) -> list[str]:
    bound = f"≥ {goal.at_least:.1f}" if goal.at_least is not None else f"≤ {goal.at_most:.0f}"
    measured = "-" if goal.measured is None else f"{goal.measured:.1f} {goal.unit}"
    result = {True: "pass", False: "miss", None: "-"}[goal.met]
    return [goal.name, f"{bound} {goal.unit}", measured, result]
