"""The HTTP API: one module for each kind of thing, listed here."""

from __future__ import annotations

from typing import Final

from keltis_server.api import (
    accounts,
    administration,
    audit,
    bots,
    challenges,
    frames,
    leaderboards,
    matches,
    seeds,
    service,
    submissions,
    tournaments,
)

PARTS: Final = (
    service.ENDPOINTS,
    leaderboards.ENDPOINTS,
    bots.ENDPOINTS,
    submissions.ENDPOINTS,
    matches.ENDPOINTS,
    frames.ENDPOINTS,
    seeds.ENDPOINTS,
    challenges.ENDPOINTS,
    tournaments.ENDPOINTS,
    accounts.ENDPOINTS,
    administration.ENDPOINTS,
    audit.ENDPOINTS,
)
