"""Which rating is the official one: it orders leaderboards. The other one is shown beside it."""

from __future__ import annotations

from enum import StrEnum


class Official(StrEnum):
    """The ratings that a ladder has."""

    JOINT = "joint"  # fitted to the margins of all matches
    TRUESKILL = "trueskill"  # live, by ranks, moved by one match after the other
