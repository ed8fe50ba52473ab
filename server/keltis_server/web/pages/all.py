"""All pages, one module for each kind of thing, listed here."""

from __future__ import annotations

from typing import Final

from keltis_server.web.pages import bots, home, leaderboards, matches, submitting, tournaments
from keltis_server.web.pages import documents as reading
from keltis_server.web.pages import files as sundries

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
