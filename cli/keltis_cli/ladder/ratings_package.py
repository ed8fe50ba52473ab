"""``ratings recompute --with trueskill``: what another program makes of the same results."""

from __future__ import annotations

import json
from typing import Any, Final

from keltis_cli.draw.progress import ProgressBar
from keltis_cli.draw.strokes import counted
from keltis_ladder.store.database import Database
from keltis_ladder.store.ratings.agreement import (
    TOLERANCE,
    Agreement,
    Largest,
    compare_with_package,
    named,
)

FORMAT: Final = "keltis-ladder ratings recompute --with trueskill 1"


def agrees_with_package(database: Database, as_json: bool) -> bool:
    """Rate all results by the package trueskill, print how far it is off, return the verdict."""
    with database.reading() as session, ProgressBar("rating by trueskill") as work:
        found = compare_with_package(session, work.tell)
    if as_json:
        print(json.dumps(_document(found), indent=1))
    else:
        print("\n".join(_verdict(found)))
    return found.agree


def _verdict(found: Agreement) -> list[str]:
    matches = counted(found.matches, "rated match", "rated matches")
    times = (
        f"{found.package_seconds:.2f} s of CPU by the package trueskill, "
        f"{found.kernel_seconds:.2f} s by the kernel{_ratio(found)}"
    )
    lines = [f"Recomputed {matches} in four scopes each: {times}."]
    if found.exactly:
        lines.append(f"{counted(found.exactly, 'update')} needed mpmath: a gap of 30 sigmas.")
    lines.append(f"Compared {counted(found.ratings, 'rating')}, tolerance {TOLERANCE:g}.")
    lines += _largest("the kernel", found.kernel) + _largest("the stored ratings", found.stored)
    if found.agree:
        return [*lines, "They agree: the kernel is TrueSkill, and so are the stored ratings."]
    if not found.kernel.within:
        lines.append("The kernel does not agree with trueskill: this is a bug, please report it.")
    left_out = found.differences - len(found.examples)
    if found.differences:
        lines += [
            f"{_disagree(found.differences)} with trueskill:",
            *(f"  {example}" for example in found.examples),
            *([f"  and {left_out:,} more"] if left_out else []),
        ]
    if found.kernel.within:
        lines.append("To replace them: keltis-ladder ratings recompute --store")
    return lines


def _disagree(count: int) -> str:
    return f"{counted(count, 'stored rating')} {'does' if count == 1 else 'do'} not agree"


def _ratio(found: Agreement) -> str:
    if not found.kernel_seconds:
        return ""
    return f", {found.package_seconds / found.kernel_seconds:.0f} times as quick"


def _largest(what: str, found: Largest) -> list[str]:
    if found.mu_at is None or found.sigma_at is None:
        return []
    mu = f"mu {found.mu:.1e} ({named(found.mu_at)})"
    sigma = f"sigma {found.sigma:.1e} ({named(found.sigma_at)})"
    return [f"Largest difference of {what}: {mu}, {sigma}."]


def _document(found: Agreement) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "agree": found.agree,
        "tolerance": TOLERANCE,
        "matches": found.matches,
        "ratings": found.ratings,
        "kernel": {"mu": found.kernel.mu, "sigma": found.kernel.sigma},
        "stored": {"mu": found.stored.mu, "sigma": found.stored.sigma},
        "mpmath": found.exactly,
        "kernel_seconds": round(found.kernel_seconds, 6),
        "package_seconds": round(found.package_seconds, 6),
        "differences": found.differences,
        "examples": found.examples,
    }
