"""Matchmaking: which match the ladder plays next."""

from keltis_ladder.matchmaking.candidates import History
from keltis_ladder.matchmaking.contenders import Category, Contender, category_of
from keltis_ladder.matchmaking.matchmaker import Matchmaker
from keltis_ladder.matchmaking.policy import Policy

__all__ = ["Category", "Contender", "History", "Matchmaker", "Policy", "category_of"]
