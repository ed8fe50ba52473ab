"""The languages of the starters: which of them can be built and run here."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from keltis_ladder.doctor.check import Area, Check, CheckState, Machine
from keltis_ladder.doctor.software import version_of


@dataclass(frozen=True)
class Language:
    """A language with a starter: the program that bots in it need, and since which version."""

    name: str
    program: str
    question: str  # the argument that makes it tell its version
    package: str  # Debian's
    since: tuple[int, ...]
    is_built: bool = True


LANGUAGES: Final = (
    Language("javascript", "node", "--version", "nodejs", (18,), is_built=False),
    Language("cpp", "g++", "-dumpfullversion", "g++", (8,)),
    Language("rust", "cargo", "--version", "cargo", (1, 56)),
    Language("go", "go", "version", "golang-go", (1, 19)),
    Language("java", "javac", "-version", "default-jdk-headless", (17,)),
)


def language_checks(machine: Machine) -> Iterator[Check]:
    """Look for the compilers and interpreters of all starters."""
    own = platform.python_version()
    yield Check("python", Area.LANGUAGES, CheckState.OK, f"{own}, the one that runs the ladder")
    for language in LANGUAGES:
        yield _check(machine, language)


def _check(machine: Machine, language: Language) -> Check:
    found = machine.program(language.program)
    if found is None:
        return Check(
            language.name,
            Area.LANGUAGES,
            CheckState.MISSING,
            f"no {language.program}",
            meaning=f"Bots in this language cannot {'be built' if language.is_built else 'run'}"
            " here; all others can.",
            remedy=(machine.install(language.package),),
        )
    version = version_of([found, language.question])
    told = f"{language.program} {version}"
    if is_new_enough(version, language.since):
        return Check(language.name, Area.LANGUAGES, CheckState.OK, told)
    needed = ".".join(str(number) for number in language.since)
    return Check(
        language.name,
        Area.LANGUAGES,
        CheckState.LIMITED,
        told,
        meaning=f"The starter needs {language.program} {needed} or newer.",
        remedy=(machine.install(language.package),),
    )


def is_new_enough(version: str, since: tuple[int, ...]) -> bool:
    """Return whether a version is that of ``since``, or a newer one; not if it is no version."""
    numbers = [int(number) for number in version.split(".") if number.isdigit()]
    return bool(numbers) and tuple(numbers) >= since
