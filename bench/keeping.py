"""What is measured, kept: files in ``bench/results``, named by subject, day and machine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from keltis_cli.bench.machine import this_machine

RESULTS: Final = Path(__file__).parent / "results"


def keep(what: str, found: dict[str, Any], page: str = "", called: str | None = None) -> None:
    """Write what was found, with date and machine, and the page if there is one.

    ``called`` is the machine's name in those of the files, if it is not to be named by its CPU.
    """
    now, machine = datetime.now(UTC), this_machine()
    head = {"date": now.isoformat(timespec="seconds"), "machine": asdict(machine)}
    write(f"{what}-{now:%Y-%m-%d}-{called or machine.slug}", {**head, **found}, page)


def day_and_machine() -> str:
    """Return what a page says of when and where it was measured."""
    machine = this_machine()
    return f"{datetime.now(UTC):%Y-%m-%d}, {machine.cpu}, {machine.cores} cores"


def write(name: str, report: dict[str, Any] | None, page: str = "") -> None:
    """Write a report, and a page for people, under one name."""
    RESULTS.mkdir(exist_ok=True)
    if report is not None:
        (RESULTS / f"{name}.json").write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    if page:
        (RESULTS / f"{name}.md").write_text(page, "utf-8")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in a page."""
    lines = [f"| {' | '.join(headings)} |", "|---" * len(headings) + "|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]
