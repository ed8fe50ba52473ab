"""The rules of the four Keltis games: deal, decide, score, and see only what you may."""

from keltis_engine.errors import (
    BadDeal,
    BadOption,
    BadView,
    BadViewer,
    EngineError,
    IllegalAction,
    UnknownNotation,
    UnknownVariant,
)
from keltis_engine.games import keltis as _compiled_or_not
from keltis_engine.games.variants import VARIANTS, Option, Ruleset, Variant, find_variant
from keltis_engine.play.random_play import playout, playouts
from keltis_engine.records.restoring import restore
from keltis_engine.rng import Rng
from keltis_engine.state.state import State
from keltis_engine.state.views import POST_GAME, SPECTATORS, View

COMPILED = not (_compiled_or_not.__file__ or "").endswith(".py")

__all__ = [
    "COMPILED",
    "POST_GAME",
    "SPECTATORS",
    "VARIANTS",
    "BadDeal",
    "BadOption",
    "BadView",
    "BadViewer",
    "EngineError",
    "IllegalAction",
    "Option",
    "Rng",
    "Ruleset",
    "State",
    "UnknownNotation",
    "UnknownVariant",
    "Variant",
    "View",
    "find_variant",
    "playout",
    "playouts",
    "restore",
]
