"""Tells a game in sentences, one for each turn.

A narrator sees two views by the same onlooker, before and after a decision, and nothing else.
So it cannot tell more than that onlooker may know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from keltis_cli.draw.endings import SENTENCES
from keltis_cli.draw.look import COLOUR_WORDS
from keltis_engine import View
from keltis_engine.games.weg_der_steine import SYMBOLS

BIG: Final = "the big figure"
SMALL: Final = "a small figure"


@dataclass
class Turn:
    """What one seat did in one turn, as clauses."""

    number: int
    seat: int
    is_own: bool = False
    is_final: bool = False  # the final cards of a card game, after its last turn
    clauses: list[str] = field(default_factory=list)
    closing: str = ""  # said after the turn that ends the game
    weight: int = 0  # how much happened, for those who tell only the best
    view: View = field(default_factory=dict)  # how things stood after it

    def sentence(self, name: str = "") -> str:
        """Return the turn as a sentence; who has no name is called by the seat."""
        when = "Final cards" if self.is_final else f"Turn {self.number}"
        who = (name or f"seat {self.seat}") + (" (you)" if self.is_own else "")
        # A turn told from its middle may begin with what a figure does, not the player.
        colon = ":" if self.clauses[0].startswith((BIG, SMALL)) else ""
        return f"{when}, {who}{colon} {'; '.join(self.clauses)}.{self.closing}"


@dataclass(frozen=True)
class Step:
    """One decision as an onlooker saw it."""

    before: View
    action: str
    after: View


def turns(steps: Iterable[Step]) -> Iterator[Turn]:
    """Gather decisions into turns."""
    turn: Turn | None = None
    for step in steps:
        number, seat = step.before["turn"], step.before["seat"]
        is_final = step.before["phase"] == "final"
        if turn is None or (turn.number, turn.seat, turn.is_final) != (number, seat, is_final):
            if turn is not None and turn.clauses:
                yield turn
            turn = Turn(number, seat, step.before["viewer"] == seat, is_final)
        told = clauses(step)
        turn.clauses += told
        turn.weight += len(told) + 3 * _scored(step)
        turn.closing = closing(step)
        turn.view = step.after
    if turn is not None and turn.clauses:
        yield turn


def closing(step: Step) -> str:
    """Return why the game ends, if this decision ends it."""
    before, after = step.before["phase"], step.after["phase"]
    if after == "over":
        why = SENTENCES[step.after["ending"]]
        return f" The game ends: {why}." if before != "final" else " The game is over."
    if after == "final" and before != "final":
        why = SENTENCES[step.after["ending"]]
        return f" The end is near: {why}; everybody may add two cards."
    return ""


def _scored(step: Step) -> bool:
    seat = step.before["seat"]
    return bool(step.after["scores"][seat] - step.before["scores"][seat] >= 4)


def clauses(step: Step) -> list[str]:
    """Return what a decision did, in the order in which it happened."""
    told = said(step)
    if "figures" in step.before:
        told += moved(step)
    return told


def said(step: Step) -> list[str]:
    """Return what the player chose, as far as the choice itself is worth telling."""
    before, after, seat = step.before, step.after, step.before["seat"]
    verb, *names = step.action.split()
    match verb, names:
        case ("lay" | "add", [card]):
            return [f"{verb}s {laid(card, card[0], after, seat)}"]
        case ("lay" | "add", [card, "on", letter]):
            return [f"{verb}s {laid(card, letter, after, seat)}"]
        case "discard", [card]:
            return [f"discards {card}"]
        case "pair", [first, second]:
            return [f"discards the pair {first} {second} for wish stone {first[1:]}"]
        case "draw", []:
            return [f"draws {drawn(before, after, seat)}"]
        case "take", [letter] if letter in before.get("piles", {}):
            pile = "points" if letter == "P" else COLOUR_WORDS[letter]
            return [f"takes {before['piles'][letter][-1]} from the {pile} pile"]
        case ("take" | "last", [tile]):
            return [f"takes {tile} from the middle into {gained(tile, after, seat)}"]
        case "reveal", []:
            return [f"reveals {after['revealed']}"]
        case "keep", [] if "revealed" in before:
            return [f"keeps it in {gained(before['revealed'], after, seat)}"]
        case "leave", []:
            return ["leaves it in the middle"]
        case "drop", ["row", letter]:
            card = before["rows"][seat][letter][-1]
            return [f"drops {card} from the {COLOUR_WORDS[letter]} row"]
        case "drop", ["hand", card]:
            return [f"drops {card} from the hand"]
        case "keep", []:
            return ["drops nothing"]
        case "stay", []:
            return ["leaves the clover unused"]
        case "done", []:
            return ["adds no card" if before["final_cards"] == 2 else "adds no more"]
        case "pass", []:
            return ["passes"]
        case _:  # big, small, move and clover: the figure's way tells it
            return []


def laid(card: str, letter: str, after: View, seat: int) -> str:
    """Return where a card was laid, and the row as it is now."""
    if letter == "P":
        row = after["points_rows"][seat]
    else:
        row = after["rows"][seat][letter]
    name = "an end card" if card[1:] == "E" else card
    return f"{name} in the {COLOUR_WORDS[letter]} row ({' '.join(row)})"


def drawn(before: View, after: View, seat: int) -> str:
    """Return the card drawn, if the onlooker sees that hand."""
    cards = after["hands"][seat]["cards"]
    if cards is None:
        return "a card"
    (card,) = Counter(cards) - Counter(before["hands"][seat]["cards"])
    return f"{card}"


def gained(tile: str, after: View, seat: int) -> str:
    """Return the row a tile came into and what its symbol gives."""
    told = f"the {COLOUR_WORDS[tile[0]]} row ({' '.join(after['rows'][seat][tile[0]])})"
    symbol = SYMBOLS.get(tile, "")
    if symbol == "wish":
        return f"{told}, a wish stone"
    if symbol == "clover":
        again = after["seat"] == seat and after["phase"] != "over"
        return f"{told}, a clover: another turn" if again else f"{told}, a clover too late"
    if symbol:
        return f"{told}, {symbol} bonus {'point' if symbol == '1' else 'points'}"
    return told


def moved(step: Step) -> list[str]:
    """Return how a figure moved and what it found, if one did."""
    before, after, seat = step.before, step.after, step.before["seat"]
    way = figure_way(before["figures"][seat], after["figures"][seat])
    if way is None:
        return []
    figure, source, target = way
    verb = "enters" if source == "start" else "steps to"
    told = f"{figure} {verb} {field_name(before['variant'], target)}"
    if after["in_goal"] > before["in_goal"]:
        told += f", the goal area ({after['in_goal']} of 5)"
    found = []
    points = after["points"][seat] - before["points"][seat]
    if points:
        found.append(f"scores {points} {'point' if points == 1 else 'points'}")
    stone = wish_taken(before["wish_stones"][seat], after["wish_stones"][seat])
    if stone:
        found.append(f"takes {stone}")
    if after["phase"] == "clover":
        found.append("finds a clover")
    return [" and ".join([told, *found])]


def figure_way(before: View, after: View) -> tuple[str, str, str] | None:
    """Return which figure of a seat moved, from where and where to."""
    if before["big"] != after["big"]:
        return BIG, before["big"], after["big"]
    was: Counter[str] = Counter(before["small"])
    now: Counter[str] = Counter(after["small"])
    if was == now:
        return None
    (source,), (target,) = was - now, now - was
    return SMALL, source, target


def field_name(variant: str, name: str) -> str:
    """Return what to call a field; on the paths, so that no one takes it for a card."""
    if variant == "keltis":
        return f"{COLOUR_WORDS[name[0]]} stone {name[1:]}"
    return name


def wish_taken(before: int | dict[str, int], after: int | dict[str, int]) -> str:
    """Return which wish stone came to a seat, or nothing."""
    if isinstance(before, int) or isinstance(after, int):
        return "a wish stone" if before != after else ""
    for letter, word in COLOUR_WORDS.items():
        if after.get(letter, 0) > before.get(letter, 0):
            return f"a {word} wish stone"
    return ""
