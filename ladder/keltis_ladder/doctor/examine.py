"""All checks, in the order of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from keltis_ladder.doctor.capacity import capacity_checks
from keltis_ladder.doctor.check import Check, CheckState, Machine
from keltis_ladder.doctor.groups import group_checks
from keltis_ladder.doctor.languages import language_checks
from keltis_ladder.doctor.resources import resource_checks
from keltis_ladder.doctor.software import python_checks, sandbox_checks


def examine(directory: Path, database: str | None = None) -> Iterator[Check]:
    """Look at this machine; ``directory`` is where the ladder lives or will live."""
    machine = Machine()
    yield from python_checks(machine)
    yield from sandbox_checks(machine)
    yield from group_checks(machine)
    yield from language_checks(machine)
    yield from resource_checks(machine, directory, database)
    yield from capacity_checks()


def is_fair(checks: Iterable[Check]) -> bool:
    """Return whether strangers' bots can be played fairly: nothing that is required is missing."""
    return all(check.state is CheckState.OK for check in checks if check.required)
