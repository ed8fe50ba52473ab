"""All pages, one module for each kind of thing, listed here."""

from __future__ import annotations

from typing import Final

from keltis_server.web import (
    bots,
    home,
    leaderboards,
    matches,
    reading,
    submitting,
    sundries,
    tournaments,
)

PARTS: Final = (
    home.PAGES,
    leaderboards.PAGES,
    bots.PAGES,
    matches.PAGES,
    tournaments.PAGES,
    reading.PAGES,
    submitting.PAGES,
    sundries.PAGES,
)
