"""All pages, one module for each kind of thing, listed here."""

from __future__ import annotations

from typing import Final

from keltis_server.web.pages import (
    bots,
    documents,
    files,
    home,
    leaderboards,
    matches,
    pairings,
    submitting,
    tournaments,
)

PARTS: Final = (
    home.PAGES,
    leaderboards.PAGES,
    bots.PAGES,
    pairings.PAGES,
    matches.PAGES,
    tournaments.PAGES,
    documents.PAGES,
    submitting.PAGES,
    files.PAGES,
)
