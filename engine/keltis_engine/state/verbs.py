"""Verbs: what a game declares of its actions, once for each kind of them.

Only the rules know what a decision gives away: whether it brings a card and who sees that card,
and whether the time that it took tells others about a hand. They also know which decisions change
least: those the caretaker chooses, which plays on for a bot that has dropped out. So each game
lists its verbs, the first words of its notation, with all of this. A list that leaves out an
action, or names a verb that no action has, stops the import of the game.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import mypyc_attr

from keltis_engine.errors import BadGame

# Who sees the card that a decision brings. ``State.outcome`` names that card.
NO_CARD: Final = 0  # it brings none, or one that its notation names
OPEN_CARD: Final = 1  # everybody
OWN_CARD: Final = 2  # the seat alone

# Who may know how long a decision took.
OPEN_TIME: Final = 0  # everybody
OWN_TIME: Final = 1  # the seat alone: whether there is a choice at all depends on its hand


@final
@mypyc_attr(acyclic=True)
class Verb:
    """What is true of all actions whose notation begins with one word."""

    def __init__(self, word: str, card: int, time: int) -> None:
        if card not in (NO_CARD, OPEN_CARD, OWN_CARD):
            raise BadGame(
                f"the card of verb {word!r} cannot be {card}: "
                "it is one of NO_CARD, OPEN_CARD and OWN_CARD"
            )
        if time not in (OPEN_TIME, OWN_TIME):
            raise BadGame(
                f"the time of verb {word!r} cannot be {time}: it is one of OPEN_TIME and OWN_TIME"
            )
        self.word = word
        self.card = card
        self.time = time


@final
@mypyc_attr(acyclic=True)
class ActionTable:
    """The declarations of a game by action id, complete or refused."""

    def __init__(self, game: str, notation: list[str], verbs: list[Verb]) -> None:
        """Look up the verb of every action; ``verbs`` are in the order of the caretaker."""
        places: dict[str, int] = {}
        for place, verb in enumerate(verbs):
            if verb.word in places:
                raise BadGame(f"{game} declares the verb {verb.word!r} twice: remove one of them")
            places[verb.word] = place
        self.card_sight: list[int] = []  # NO_CARD, OPEN_CARD or OWN_CARD
        self.time_sight: list[int] = []  # OPEN_TIME or OWN_TIME
        self.caretaker_ranks: list[int] = []  # it prefers the lowest, and then the lowest id
        for action, text in enumerate(notation):
            word = text.partition(" ")[0]
            if word not in places:
                raise BadGame(
                    f"{game} does not declare what {text!r} (action {action}) gives away: "
                    f"add the verb {word!r} to the VERBS of its module"
                )
            place = places[word]
            self.card_sight.append(verbs[place].card)
            self.time_sight.append(verbs[place].time)
            self.caretaker_ranks.append(place)
        for word, place in places.items():
            if place not in self.caretaker_ranks:
                raise BadGame(
                    f"{game} declares the verb {word!r}, but no action begins with it: "
                    "correct it or remove it"
                )
