"""How the result of ``bench referee`` is shown, in a terminal and in a file."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from keltis_cli.bench.referee import GOAL_OVERHEAD, GOAL_RATE, GOAL_RATIO, RefereeReport, Soak
from keltis_cli.draw.tables.aligned import table

HEADINGS = ["measured", "figure", "goal", "met"]


def show(report: RefereeReport, console: Console) -> None:
    """Print the tables."""
    machine = report.machine
    console.print(f"{machine.cpu}, {report.cores} cores, {machine.system}, {machine.python}")
    console.print(f"{report.date:%Y-%m-%d %H:%M} UTC; two random bots at keltis, in the sandbox\n")
    console.print(table(HEADINGS, list(_rows(report)), left=["measured", "met"]), soft_wrap=True)


def markdown(report: RefereeReport) -> str:
    """Return the page to keep."""
    machine = report.machine
    made_on = f"{machine.cpu}, {report.cores} cores, {machine.system}, {machine.python}"
    lines = [
        "# Referee",
        "",
        f"{report.date:%Y-%m-%d}, {made_on}. Made by `python -m bench.referee`.",
        "What is measured is explained in [bench/README.md](../README.md).",
        "",
        f"| {' | '.join(HEADINGS)} |",
        "|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in _rows(report)),
        "",
        "Rounds, in decisions per second: ours, plain asyncio, asyncio with our messages:",
        "",
        *(f"- {one.ours:,.0f}, {one.plain:,.0f}, {one.prepacked:,.0f}" for one in report.rounds),
        "",
    ]
    return "\n".join(lines)


def _rows(report: RefereeReport) -> Iterator[list[str]]:
    yield _row(
        "asked decisions/s", f"{report.rate:,.0f}", f"{GOAL_RATE:,.0f}", report.rate >= GOAL_RATE
    )
    yield _row(
        "times a plain asyncio referee",
        f"{report.ratio:.2f}",
        f"{GOAL_RATIO}",
        report.ratio >= GOAL_RATIO,
    )
    yield ["times one with our messages", f"{report.loop_ratio:.2f}", "-", "-"]
    if report.overhead_us is None:
        yield ["us per decision, C bot", "no C compiler", f"{GOAL_OVERHEAD:.0f}", "-"]
    else:
        yield _row(
            "us per decision, C bot, median",
            f"{report.overhead_us:.1f} (p99 {report.overhead_p99_us:.0f})",
            f"{GOAL_OVERHEAD:.0f}",
            report.overhead_us <= GOAL_OVERHEAD,
        )
    if report.soak is not None:
        yield from _soak_rows(report.soak)


def _soak_rows(soak: Soak) -> Iterator[list[str]]:
    faults = ", ".join(f"{name} {count}" for name, count in soak.faults.items()) or "none"
    yield _row(f"faults in {soak.games:,} games", faults, "none", not soak.faults)
    yield _row("referees that died", str(soak.replaced), "0", soak.replaced == 0)
    for name, pairs, slack in (
        ("descriptors", soak.descriptors, 0),
        ("processes", soak.processes, 0),
        ("MiB of memory", soak.memory_mib, 4),
    ):
        text = ", ".join(f"{early:g} to {late:g}" for early, late in pairs)
        flat = all(late - early <= slack for early, late in pairs)
        yield _row(f"{name}, each referee", text, "flat", flat)
    yield _row("processes left behind", str(soak.left_behind), "0", soak.left_behind == 0)


def _row(name: str, figure: str, goal: str, met: bool) -> list[str]:
    return [name, figure, goal, "yes" if met else "no"]
