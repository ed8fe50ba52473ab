"""The four variants, and the rulesets made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, final

from keltis_engine.errors import BadDeal, BadOption, UnknownNotation, UnknownVariant
from keltis_engine.games import kartenspiel, keltis, neue_wege, weg_der_steine
from keltis_engine.rng import DealStream
from keltis_engine.state.state import Game, State

FEWEST_PLAYERS: Final = 2
MOST_PLAYERS: Final = 4
SEED_LIMIT: Final = 2**128

Dealer = Callable[[int, DealStream, dict[str, int]], State]


@final
class Option:
    """A named, recorded setting of a variant: a number in a range, or 0 and 1 for no and yes.

    One that a variant was given ``later`` is recorded only where it is not the default. So records
    from before it existed, and their digests, stay what they are.
    """

    def __init__(
        self, name: str, default: int, lowest: int, highest: int, about: str, later: bool = False
    ) -> None:
        self.name = name
        self.default = default
        self.lowest = lowest
        self.highest = highest
        self.about = about
        self.later = later

    def checked(self, value: object) -> int:
        """Return the value as a number if the option can have it, or raise."""
        fitting = isinstance(value, int) and self.lowest <= value <= self.highest
        yes_or_no = self.lowest == 0 and self.highest == 1
        if fitting and (yes_or_no or not isinstance(value, bool)):
            assert isinstance(value, int)
            return int(value)
        raise BadOption(
            f"option {self.name!r} cannot be {value!r}: "
            f"it takes a whole number from {self.lowest} to {self.highest}"
        )


TURN_LIMIT: Final = Option(
    "turn_limit", 1000, 1, 100_000, "the game ends after this many turns, all seats counted"
)


@final
class Variant:
    """One of the games: what a ruleset is made from."""

    def __init__(
        self,
        game: Game,
        title: str,
        options: list[Option],
        dealer: Dealer,
    ) -> None:
        self.id = game.id
        self.title = title
        self.version = game.version
        self.options = options
        self.notation = game.notation
        self.declared = game.declared
        self.dealer = dealer


VARIANTS: Final = {
    variant.id: variant
    for variant in (
        Variant(
            keltis.GAME,
            "Keltis: the board game",
            [TURN_LIMIT],
            keltis.deal,
        ),
        Variant(
            neue_wege.GAME,
            "Neue Wege, neue Ziele: the expansion board",
            [TURN_LIMIT],
            neue_wege.deal,
        ),
        Variant(
            kartenspiel.GAME,
            "Das Kartenspiel: the card game",
            [
                TURN_LIMIT,
                Option("end_card_opens_row", 1, 0, 1, "an end card may be the first of its row"),
                Option(
                    "points_on_end_card",
                    0,
                    0,
                    1,
                    "a points card may lengthen a row that has one end card",
                    later=True,
                ),
            ],
            kartenspiel.deal,
        ),
        Variant(
            weg_der_steine.GAME,
            "Der Weg der Steine: the tile game",
            [
                TURN_LIMIT,
                Option(
                    "last_clover_turn",
                    0,
                    0,
                    1,
                    "a clover taken once all tiles are revealed gives a further turn",
                ),
            ],
            weg_der_steine.deal,
        ),
    )
}


@final
class Ruleset:
    """A variant with its options: deals games, and reads and writes notation."""

    def __init__(self, variant: Variant, options: dict[str, int]) -> None:
        self.id = variant.id
        self.title = variant.title
        self.version = variant.version
        self.options = options
        self.players = range(FEWEST_PLAYERS, MOST_PLAYERS + 1)
        self.actions = len(variant.notation)
        # By action, as the game's module declares it with the constants of ``verbs``.
        self.card_sight = variant.declared.card_sight
        self.time_sight = variant.declared.time_sight
        self.caretaker_ranks = variant.declared.caretaker_ranks
        self._notation = variant.notation
        self._numbers = {text: action for action, text in enumerate(variant.notation)}
        self._dealer = variant.dealer

    def deal(self, players: int, seed: int) -> State:
        """Return the beginning of the game that this seed means, for ever."""
        if players not in self.players:
            raise BadDeal(
                f"{self.id} cannot be played by {players}: it takes "
                f"{FEWEST_PLAYERS} to {MOST_PLAYERS} players"
            )
        if not 0 <= seed < SEED_LIMIT:
            raise BadDeal(f"seed {seed} is out of range: it must be from 0 to 2**128 - 1")
        stream = DealStream(f"keltis-ladder/deal/1/{self.id}/{int(players)}/{int(seed)}")
        return self._dealer(players, stream, self.options)

    def format(self, action: int) -> str:
        """Return the notation of an action."""
        if not 0 <= action < self.actions:
            raise UnknownNotation(
                f"{self.id} has no action {action}: ids go from 0 to {self.actions - 1}"
            )
        return self._notation[action]

    def parse(self, text: str) -> int:
        """Return the action that a notation names; case and extra blanks do not matter."""
        action = self._numbers.get(text)
        if action is not None:
            return action
        plain = " ".join(text.split()).casefold()
        for candidate, number in self._numbers.items():
            if candidate.casefold() == plain:
                return number
        import difflib  # only mistakes need it, and it would slow down every start

        near = difflib.get_close_matches(text, self._notation, 3)
        hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
        raise UnknownNotation(f"{text!r} is not an action of {self.id}{hint}")


def find_variant(id: str, options: Mapping[str, object] | None = None) -> Ruleset:
    """Return the ruleset of a variant; options that are not given have their default."""
    variant = VARIANTS.get(id)
    if variant is None:
        raise UnknownVariant(f"there is no variant {id!r}: choose from {', '.join(VARIANTS)}")
    given = dict(options or {})
    known = {option.name: option for option in variant.options}
    for name in given:
        if name not in known:
            raise BadOption(f"{id} has no option {name!r}: it has {', '.join(known)}")
    chosen = {
        name: option.checked(given.get(name, option.default)) for name, option in known.items()
    }
    return Ruleset(
        variant,
        {
            name: value
            for name, value in chosen.items()
            if not known[name].later or value != known[name].default
        },
    )
