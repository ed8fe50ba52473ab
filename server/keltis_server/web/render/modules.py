"""The modules of a page: its scripts, and in advance all that they import.

A browser learns what a module imports when it has read it, so that a chain of imports costs as
many round trips as it has links. Named in the head of the page, all are loaded at once. What a
script imports later, by itself, is not among them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final
from urllib.parse import urljoin

from markupsafe import Markup

from keltis_server.web.render.assets import Assets

# As our formatter writes them: at the beginning of a line, in double quotes.
IMPORT: Final = re.compile(
    r"""^(?:import\s+|(?:import|export)\s[^"'=();]*?\bfrom\s+)"(\.[^"]+)";""", re.MULTILINE
)
PRELOAD: Final = Markup('<link rel="modulepreload" href="{}">')
SCRIPT: Final = Markup('<script type="module" src="{}"></script>')


class Modules:
    """Tells templates how to load scripts."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets
        self._written = cache(self._write)

    def __call__(self, *entries: str) -> Markup:
        """Return what loads the scripts of a page; empty names are left out."""
        return self._written(*(str(entry).strip() for entry in entries if str(entry).strip()))

    def _write(self, *entries: str) -> Markup:
        address = self._assets.url
        lines = [PRELOAD.format(address(name)) for name in imported(self._assets, entries)]
        lines += [SCRIPT.format(address(entry)) for entry in entries]
        return Markup("\n").join(lines)


def imported(assets: Assets, entries: tuple[str, ...]) -> list[str]:
    """Return all modules that these import, directly or not, each once and the nearest first."""
    found = list(entries)
    for name in found:  # which grows meanwhile
        text = assets.files[name].plain.decode()
        there = [urljoin(f"/{name}", address)[1:] for address in IMPORT.findall(text)]
        found += [each for each in dict.fromkeys(there) if each not in found]
    return found[len(entries) :]
