"""The expansion board by the rules page, section 2."""

from typing import Any

from tests.engine.oracle.common import COLOURS, HAND_SIZE, CardGame, fits, look_up, value_of
from tests.engine.oracle.keltis import DECK

ROW_VALUES = {1: -4, 2: -2, 3: 0, 4: 5, 5: 3, 6: 6, 7: 8, 8: 7, 9: 6, 10: 10}
FIELD_TABLE = """
1a R, 1b Y, 1c *, 1d B
2a R S, 2b Y t, 2c * t, 2d B S
3a R t, 3b Y S, 3c V t, 3d G t, 3e B t
4a *, 4b V, 4c G
5a * t, 5b B t, 5c V t, 5d G t
6a G S, 6b B t, 6c Y t, 6d R t, 6e V S
7a G, 7b B, 7c Y, 7d R, 7e V
8a G t, 8b Y t, 8c R t, 8d V t
9a V t, 9b R t, 9c G t, 9d B t, 9e Y t
10a V, 10b R, 10c G, 10d B, 10e Y
"""
EDGE_TABLE = """
start-1a 1b 1c 1d; 1a-2a; 1b-2b; 1c-2c; 1d-2d; 2a-3a; 2b-3b; 2c-3c 3d; 2d-3e; 3a-4a; 3b-4a 4b;
3c-4b; 3d-4c; 3e-4c; 4a-5a 5b; 4b-5b 5c; 4c-5c 5d; 5a-6a; 5b-6a 6b; 5c-6c 6d; 5d-6d 6e; 6a-7a;
6b-7b 7c; 6c-7c; 6d-7d; 6e-7e; 7a-8a; 7b-8a 8b; 7c-8b 8c; 7d-8c 8d; 7e-8d; 8a-9a 9b; 8b-9b 9c;
8c-9c 9d; 8d-9d 9e; 9a-10a; 9b-10b; 9c-10c; 9d-10d; 9e-10e
"""
FIELDS = [field.split() for field in FIELD_TABLE.strip().replace("\n", ", ").split(", ")]
COLOUR_OF = {field[0]: field[1] for field in FIELDS}
TILE_SPOTS = [field[0] for field in FIELDS if field[-1] == "t"]
STACK_FIELDS = [field[0] for field in FIELDS if field[-1] == "S"]
EDGES = [
    (edge.split("-")[0].strip(), end)
    for edge in EDGE_TABLE.split(";")
    for end in edge.split("-")[1].split()
]
TILES = [
    *["clover"] * 5,
    *[f"wish {colour}" for colour in COLOURS],
    *["2"] * 5,
    *["3"] * 2,
    *["drop"] * 5,
]
DIFFERENT_COLOURS_SCORES = [-4, -3, 2, 3, 6, 10]
THREE_OF_A_COLOUR = 10
FIRST_GOAL_ROW = 8
FIGURES_IN_GOAL_TO_END = 5


def row_of(field: str) -> int:
    return int(field[:-1])


class NeueWege(CardGame):
    """A board of branching ways, where figures may share fields."""

    def __init__(self, replay: dict[str, Any]) -> None:
        super().__init__(replay, DECK, COLOURS)
        self.tiles: dict[str, str] = dict(self.setup["tiles"])
        self.expect("places of tiles", sorted(TILE_SPOTS), sorted(self.tiles))
        self.expect("tiles", sorted(TILES), sorted(self.tiles.values()))
        self.stacks: dict[str, int] = dict(self.setup["stacks"])
        self.expect("stacks", dict.fromkeys(STACK_FIELDS, 5), self.stacks)
        self.rows: list[dict[str, list[int]]] = [{c: [] for c in COLOURS} for _ in self.seats]
        self.small = [["start", "start", "start", "start"] for _ in self.seats]
        self.big = ["start" for _ in self.seats]
        self.tile_points = [0 for _ in self.seats]
        self.wish_stones: list[list[str]] = [[] for _ in self.seats]
        self.figures_in_goal = 0
        self.colour_laid = ""
        self.edge = ("", "")  # along which a figure, still to be named, moves

    def legal(self) -> list[str]:
        if self.phase == "turn":
            hand = self.hands[self.seat]
            lays = [f"lay {card}" for card in hand if self.may_lay(card)]
            return lays + [f"discard {card}" for card in hand]
        if self.phase == "move":
            return [f"move {a}-{b}" for a, b in self.edges_for(self.colour_laid)]
        if self.phase == "figure":
            return ["small", "big"]
        if self.phase == "clover":
            return [f"clover {a}-{b}" for a, b in self.open_edges()] + ["stay"]
        if self.phase == "drop":
            rows = [f"drop row {c}" for c in COLOURS if self.rows[self.seat][c]]
            return rows + [f"drop hand {card}" for card in self.hands[self.seat]] + ["keep"]
        if self.phase == "draw":
            return self.draw_choices()
        return []

    def open_edges(self) -> list[tuple[str, str]]:
        """The edges that begin where an own figure stands."""
        own = [*self.small[self.seat], self.big[self.seat]]
        return [edge for edge in EDGES if edge[0] in own]

    def edges_for(self, colour: str) -> list[tuple[str, str]]:
        return [edge for edge in self.open_edges() if COLOUR_OF[edge[1]] in (colour, "*")]

    def may_lay(self, card: str) -> bool:
        """Ruling: a card may be laid only if it moves a figure."""
        row = self.rows[self.seat][card[0]]
        return fits(row, value_of(card)) and len(self.edges_for(card[0])) > 0

    def carry_out(self, words: list[str], card: str) -> None:
        verb = words[0]
        if verb == "lay":
            self.play_from_hand(words[1])
            self.colour_laid = words[1][0]
            self.rows[self.seat][self.colour_laid].append(value_of(words[1]))
            self.phase = "move"
        elif verb == "discard":
            self.play_from_hand(words[1])
            self.put_on_pile(words[1])
            self.phase = "draw"
        elif verb in ("move", "clover"):
            start, end = words[1].split("-")
            self.advance(start, end)
        elif verb in ("small", "big"):
            self.move(verb, *self.edge)
        elif verb in ("stay", "keep"):
            self.phase = "draw"
        elif verb == "drop":
            self.drop(words[1], words[2])
        else:
            self.draw_or_take(words, card)
            if not self.unseen:
                self.end("last card")
            elif len(self.hands[self.seat]) == HAND_SIZE:
                self.end_turn(self.left_of(self.seat))

    def advance(self, start: str, end: str) -> None:
        if start not in self.small[self.seat]:
            self.move("big", start, end)
        elif start != self.big[self.seat]:
            self.move("small", start, end)
        else:
            self.edge = (start, end)
            self.phase = "figure"

    def move(self, size: str, start: str, end: str) -> None:
        if size == "big":
            self.big[self.seat] = end
        else:
            self.small[self.seat].remove(start)
            self.small[self.seat].append(end)
        if row_of(end) == FIRST_GOAL_ROW:
            self.figures_in_goal += 1
            if self.figures_in_goal == FIGURES_IN_GOAL_TO_END:
                self.end("figures")
                return
        self.phase = "draw"
        self.arrive(end)

    def arrive(self, field: str) -> None:
        if self.stacks.get(field, 0) > 0:
            self.stacks[field] -= 1
            self.wish_stones[self.seat].append(COLOUR_OF[field])
        tile = self.tiles.get(field, "")
        if tile in ("clover", "drop"):
            self.phase = tile
        elif tile.startswith("wish"):
            self.wish_stones[self.seat].append(tile.split()[1])
            del self.tiles[field]
        elif tile:
            self.tile_points[self.seat] += int(tile)

    def drop(self, source: str, what: str) -> None:
        if source == "row":
            what = f"{what}{self.rows[self.seat][what].pop()}"
        else:
            self.play_from_hand(what)
        self.put_on_pile(what)
        self.phase = "draw"

    def breakdown(self, seat: int) -> dict[str, int]:
        figures = 0
        for field in [*self.small[seat], self.big[seat], self.big[seat]]:
            if field != "start":
                figures += ROW_VALUES[row_of(field)]
        return {
            "tiles": self.tile_points[seat],
            "figures": figures,
            "wish_stones": score_wish_stones(self.wish_stones[seat]),
        }


def score_wish_stones(stones: list[str]) -> int:
    score = look_up(DIFFERENT_COLOURS_SCORES, len(set(stones)))
    for colour in COLOURS:
        if stones.count(colour) >= 3:
            score += THREE_OF_A_COLOUR
    return score
