"""Judges: for each game, what is worth doing."""

from collections.abc import Callable
from typing import Final

from keltis_bots.judges.judge import Judge
from keltis_bots.judges.kartenspiel import KartenspielJudge
from keltis_bots.judges.keltis import KeltisJudge
from keltis_bots.judges.neue_wege import NeueWegeJudge
from keltis_bots.judges.weg_der_steine import WegDerSteineJudge
from keltis_engine import State

JUDGES: Final[dict[str, Callable[[], Judge]]] = {
    "keltis": KeltisJudge,
    "neue-wege": NeueWegeJudge,
    "kartenspiel": KartenspielJudge,
    "weg-der-steine": WegDerSteineJudge,
}


def judge_for(state: State) -> Judge:
    """Return a new judge for the game that the state is of."""
    return JUDGES[state.game.id]()
