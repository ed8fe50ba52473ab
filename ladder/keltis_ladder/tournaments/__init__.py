"""Tournaments: a plan, the results so far, and everything that follows from the two."""

from keltis_ladder.tournaments.pairings import Leg, LegResult, Pairing, walkover
from keltis_ladder.tournaments.plan import FORMATS, Plan
from keltis_ladder.tournaments.standings import Standing, TieBreak
from keltis_ladder.tournaments.tournament import Tournament, restore
from keltis_ladder.tournaments.views import Cell, Crosstable, RoundView, TableState, TableView

__all__ = [
    "FORMATS",
    "Cell",
    "Crosstable",
    "Leg",
    "LegResult",
    "Pairing",
    "Plan",
    "RoundView",
    "Standing",
    "TableState",
    "TableView",
    "TieBreak",
    "Tournament",
    "restore",
    "walkover",
]
