"""What a player may choose, listed and explained."""

from __future__ import annotations

from typing import Final

from keltis_cli.draw.boards.pieces import WIDTH
from keltis_cli.draw.look import LETTERS, Look
from keltis_engine import View

QUESTIONS: Final = {
    "turn": "Lay a card or discard one?",
    "figure": "Which figure moves, a small one or the big one?",
    "move": "Which figure moves?",
    "clover": "A clover: move any figure once more?",
    "drop": "Drop a card on its pile?",
    "draw": "Draw from the pile, or take the top card of a discard pile?",
    "final": "Add a card to your rows?",
    "revealed": "Take the tile or leave it?",
    "last-turn": "Take a last tile?",
}

EXPLANATIONS: Final = {
    "lay": "lay R7: put the card into your row of its colour (P7 on R: a points card there)",
    "discard": "discard R7: put the card on the pile of its colour",
    "pair": "pair R5 B5: discard two cards of equal value for the wish stone of that value",
    "small": "small: a small figure moves",
    "big": "big: the big figure moves; it counts double at the end",
    "move": "move R, or move 3b-4a: the figure there moves one stone along",
    "clover": "clover R, or clover 3b-4a: use the clover to move that figure",
    "stay": "stay: leave the clover unused",
    "drop": "drop row R: the last card of that row; drop hand R7: a card from the hand",
    "keep": "keep: take the tile you turned up; or, at a drop tile, drop nothing",
    "leave": "leave: let the tile lie face up in the middle for anybody",
    "reveal": "reveal: turn up a tile",
    "draw": "draw: the next card of the draw pile",
    "take": "take R: the top card of that pile; take R7: that tile from the middle",
    "last": "last R7: that tile from the middle",
    "pass": "pass: take nothing",
    "add": "add R7: lay one more card before the points are counted",
    "done": "done: add nothing more",
}


def question(view: View) -> str:
    """Return what the player has to decide."""
    if view["variant"] == "weg-der-steine" and view["phase"] == "turn":
        return "Turn up a tile, or take one from the middle?"
    if view["phase"] == "revealed":
        return f"You turned up {view['revealed']}. Keep it or leave it?"
    return QUESTIONS[view["phase"]]


def choice_lines(texts: list[str], view: View) -> list[str]:
    """Return the numbered choices, a group for each verb: ``lay  1 R7  2 R9``."""
    groups: dict[str, list[str]] = {}
    for number, text in enumerate(texts, 1):
        verb, _, names = text.partition(" ")
        cell = f"{number:>2} {names}{place(text, view)}" if names else f"{number:>2} {verb}"
        groups.setdefault(verb if names else "", []).append(cell)
    margin = max(len(verb) for verb in groups) + (2 if any(groups) else 0)
    lines = []
    for verb, cells in groups.items():
        width = max(len(cell) for cell in cells) + 2
        columns = max(1, (WIDTH - 2 - margin) // width)
        for first in range(0, len(cells), columns):
            head = "" if first else verb
            cells_here = "".join(f"{cell:<{width}}" for cell in cells[first : first + columns])
            lines.append(f"  {head:<{margin}}{cells_here}".rstrip())
    return lines


def place(text: str, view: View) -> str:
    """Return the card that a notation means where it names only a place."""
    verb, *names = text.split()
    if verb == "take" and names[0] in view.get("piles", {}):
        return f" ({view['piles'][names[0]][-1]})"
    if verb == "drop" and names[0] == "row":
        return f" ({view['rows'][view['seat']][names[1]][-1]})"
    return ""


def explanation(texts: list[str], look: Look) -> str:
    """Return what the choices mean, and what the symbols are."""
    verbs = list(dict.fromkeys(text.split()[0] for text in texts))
    lines = ["Type a number from the list, or the words: lay R7. q quits.", ""]
    lines += [f"  {EXPLANATIONS[verb]}" for verb in verbs]
    if not look.ascii:
        colours = "  ".join(f"{letter} {look.symbol(letter)}" for letter in LETTERS)
        lines += ["", f"  Colours: {colours}"]
    tiles = {
        look.mark("clover"): "clover",
        look.mark("wish"): "wish stone",
        "+n": "points",
        look.mark("drop"): "drop a card",
        look.mark("stack"): "stack of wish stones",
    }
    lines.append("  Figures: A, B, C, D are big; a, b, c, d small")
    lines.append("  Tiles: " + "  ".join(f"{sign} {name}" for sign, name in tiles.items()))
    return "\n".join(lines)
