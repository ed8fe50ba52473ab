"""What the boards of all games are put together from: rows, piles, hands and players."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from keltis_cli.draw.look import (
    FIGURE_STYLE,
    LETTERS,
    QUIET,
    SEAT_MARKS,
    STYLES,
    TITLE,
    Look,
    styled,
)
from keltis_cli.draw.strokes import cut
from keltis_engine import View

WIDTH: Final = 80
GAP: Final = 2  # cells after a name, at least
SHORTEST_NAME: Final = 6  # cells, as "seat 0" has

PHASES: Final = {
    "turn": "to lay or discard",
    "figure": "to choose a figure",
    "move": "to move a figure",
    "clover": "to use a clover",
    "drop": "to drop a card",
    "draw": "to draw",
    "final": "to add final cards",
    "revealed": "to take or leave it",
    "last-turn": "to take a last tile",
}


def beside(left: list[Text], right: list[Text], width: int) -> list[Text]:
    """Put two blocks side by side; the left one gets that many cells."""
    lines = []
    for k in range(max(len(left), len(right))):
        line = left[k].copy() if k < len(left) else Text()
        if k < len(right):
            line.pad_right(max(0, width - line.cell_len))
            line.append_text(right[k])
        lines.append(line)
    return lines


def in_pairs(players: list[list[Text]], width: int) -> list[Text]:
    """Put the blocks of the players side by side, two in a line."""
    lines: list[Text] = []
    for left in range(0, len(players), 2):
        right = players[left + 1] if left + 1 < len(players) else []
        lines += beside(players[left], right, width)
    return lines


def spread(left: Text, right: Text, width: int) -> Text:
    """Put one text at the left edge and one at the right."""
    line = left.copy()
    line.truncate(width - right.cell_len - 1)
    line.pad_right(width - right.cell_len - line.cell_len)
    return line.append_text(right)


def title_line(view: View, look: Look, names: Sequence[str], facts: Iterable[str]) -> Text:
    """Return the first line of a board: what is played, who is to decide, and some facts."""
    dot = f" {look.mark('dot')} "
    left = styled(view["variant"], TITLE).append(f"{dot}turn {view['turn']}")
    right = Text(dot.join(facts))
    if view["phase"] == "over":
        left.append(f"{dot}game over")
    else:
        doing = PHASES[view["phase"]]
        if view["variant"] == "weg-der-steine" and view["phase"] == "turn":
            doing = "to reveal or take"
        left.append(dot)
        room = WIDTH - left.cell_len - len(f" {doing}") - right.cell_len - GAP
        left.append(f"{fitted_name(names[view['seat']], room, look)} {doing}")
    return spread(left, right, WIDTH)


def board_table(view: View, look: Look, names: Sequence[str], middle: list[Text]) -> list[Text]:
    """Return the table of a game with figures, around its board and players."""
    goal = f"goal {look.mark('goal')} {view['in_goal']}/5"
    title = title_line(view, look, names, [f"draw pile {view['pile']['size']}", goal])
    return [title, *middle, pile_line(view, look), *hand_lines(view, look)]


def seat_names(view: View) -> list[str]:
    """Return what to call the seats: the viewer's own is marked."""
    return [
        f"seat {seat} (you)" if view["viewer"] == seat else f"seat {seat}"
        for seat in range(view["players"])
    ]


def fitted_name(name: str, room: int, look: Look) -> str:
    """Return a name in a number of cells, but never without its beginning."""
    return cut(name, max(SHORTEST_NAME, room), look)


def player_line(view: View, seat: int, look: Look, name: str, facts: str, width: int) -> Text:
    """Return the head of a player's part: figure letter, name, and the score as it stands."""
    to_decide = view["seat"] == seat and view["phase"] != "over"
    left = Text(look.mark("turn") if to_decide else " ")
    left.append(SEAT_MARKS[seat], FIGURE_STYLE)
    right = Text(f"{facts}  " if facts else "").append(f"{view['scores'][seat]:>3}", TITLE)
    right.append(" pts")
    room = width - left.cell_len - 1 - right.cell_len - GAP
    left.append(f" {fitted_name(name, room, look)}", TITLE)
    return spread(left, right, width)


def row_line(look: Look, letter: str, cards: list[str], width: int) -> Text:
    """Return a row of cards behind its colour; of a long one only its two ends."""
    line = Text(" ").append_text(look.label(letter)).append(" ")
    room = width - line.cell_len
    values = [value_of(card, letter) for card in cards]
    text = " ".join(values)
    kept = len(values) - 1
    while cell_len(text) > room:
        kept -= 1
        text = " ".join([values[0], look.mark("more"), *values[-kept:], f"({len(values)})"])
    return line.append(text)


def value_of(card: str, letter: str) -> str:
    """Return how a card is written in the row of a colour: its value alone."""
    return card[1:] if card[0] == letter else card


def row_summaries(look: Look, rows: dict[str, list[str]], width: int) -> list[Text]:
    """Return the rows of a player in two lines: first and last card, direction and length."""
    lines = []
    for letters in (LETTERS[:3], LETTERS[3:]):
        line = Text(" ")
        for letter in letters:
            cell = look.label(letter).append_text(Text(" " + _summary(look, rows[letter])))
            cell.pad_right(max(1, (width - 1) // 3 - cell.cell_len))
            line.append_text(cell)
        line.rstrip()
        lines.append(line)
    return lines


def _summary(look: Look, cards: list[str]) -> str:
    if not cards:
        return look.mark("none")
    values = [int(card[1:]) for card in cards]
    length = f"{look.mark('times')}{len(cards)}" if len(cards) > 1 else ""
    if values[0] == values[-1]:
        return f"{values[0]}{length}"
    way = look.mark("up" if values[0] < values[-1] else "down")
    return f"{values[0]}{way}{values[-1]}{length}"


def pile_line(view: View, look: Look) -> Text:
    """Return the discard piles: the top card of each and how many they are."""
    line = styled("piles ", QUIET)
    for letter, cards in view["piles"].items():
        line.append(" ")
        if not cards:
            line.append_text(look.label(letter)).append(f" {look.mark('none')}  ")
            continue
        line.append_text(look.card(cards[-1]))
        if len(cards) > 1:
            line.append(f"{look.mark('times')}{len(cards)}")
        line.append(" closed" if letter in view["closed"] else "  ")
    line.rstrip()
    return line


def hand_lines(view: View, look: Look) -> list[Text]:
    """Return the hands, as far as the viewer knows them."""
    lines = []
    for seat, hand in enumerate(view["hands"]):
        line = styled("hand ", QUIET).append(SEAT_MARKS[seat], FIGURE_STYLE).append(" ")
        if hand["cards"] is not None:
            line.append_text(look.cards(hand["cards"]))
        else:
            line.append(f"{hand['size']} cards" if hand["size"] != 1 else "1 card")
            if hand["known"]:
                line.append(", seen: ").append_text(look.cards(hand["known"]))
        lines.append(line)
    return lines


def figures_by_field(view: View) -> dict[str, str]:
    """Return for each field the letters of the figures on it, the big one of a seat first."""
    fields: dict[str, str] = {}
    for seat, figures in enumerate(view["figures"]):
        mark = SEAT_MARKS[seat]
        fields[figures["big"]] = fields.get(figures["big"], "") + mark
        for field in figures["small"]:
            fields[field] = fields.get(field, "") + mark.lower()
    return fields


def figure_text(look: Look, figures: str, room: int) -> Text:
    """Return the figures of one field; many of a kind are counted: ``a4``."""
    if len(figures) > room:
        kinds = sorted(set(figures), key=figures.index)
        figures = "".join(
            kind + (str(figures.count(kind)) if figures.count(kind) > 1 else "") for kind in kinds
        )
    if len(figures) > room:
        figures = figures[: room - 1] + look.mark("more")
    return styled(figures, FIGURE_STYLE) if figures else Text()


def start_line(view: View, look: Look, figures: str) -> Text:
    """Return the start field with the figures still on it."""
    line = Text(" start ")
    for mark in SEAT_MARKS[: view["players"]]:
        own = "".join(figure for figure in figures if figure.upper() == mark)
        if own:
            line.append(" ").append(own, FIGURE_STYLE)
    return line


def value_text(value: int, in_goal: bool, look: Look) -> Text:
    """Return the left edge of a board row: what a figure there is worth; goal rows are marked."""
    return styled(f"{value:>4}", QUIET).append(look.mark("goal") if in_goal else " ")


def colour_mark(look: Look, letter: str) -> Text:
    """Return one cell in a colour; the joker has no colour of its own."""
    if letter == "*":
        return styled(look.mark("joker"), TITLE)
    return styled(look.symbol(letter), STYLES[letter])
