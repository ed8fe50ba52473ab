"""The board game by the rules page, section 1."""

from typing import Any

from tests.engine.oracle.common import COLOURS, CardGame, fits, look_up, value_of

DECK = [f"{colour}{value}" for colour in COLOURS for value in range(11) for _ in range(2)]
STONE_VALUES = {1: -4, 2: -3, 3: -2, 4: 1, 5: 2, 6: 3, 7: 6, 8: 7, 9: 10}
END_STONE = 9
FIRST_GOAL_STONE = 7
TILED_STONES = {
    "R": [3, 5, 6, 7, 9],
    "Y": [2, 4, 6, 7, 9],
    "V": [2, 3, 5, 7, 9],
    "G": [2, 4, 5, 7, 9],
    "B": [3, 4, 6, 7, 9],
}
TILES = ["wish"] * 9 + ["clover"] * 9 + ["1"] * 2 + ["2"] * 3 + ["3"] * 2
WISH_STONE_SCORES = [-4, -3, 2, 3, 6, 10]
FIGURES_IN_GOAL_TO_END = 5


class Keltis(CardGame):
    """Five paths of nine stones, at most one figure per player on each."""

    def __init__(self, replay: dict[str, Any]) -> None:
        super().__init__(replay, DECK, COLOURS)
        self.tiles: dict[str, str] = dict(self.setup["tiles"])
        places = [f"{path}{stone}" for path in COLOURS for stone in TILED_STONES[path]]
        self.expect("places of tiles", sorted(places), sorted(self.tiles))
        self.expect("tiles", sorted(TILES), sorted(self.tiles.values()))
        self.rows: list[dict[str, list[int]]] = [{c: [] for c in COLOURS} for _ in self.seats]
        # Of each seat: the stone of the figure on each path, and the size of that figure.
        self.stones: list[dict[str, int]] = [{} for _ in self.seats]
        self.sizes: list[dict[str, str]] = [{} for _ in self.seats]
        self.at_start = [["small", "small", "small", "small", "big"] for _ in self.seats]
        self.tile_points = [0 for _ in self.seats]
        self.wish_stones = [0 for _ in self.seats]
        self.figures_in_goal = 0
        self.entering = ""  # the path that a figure, still to be named, enters

    def legal(self) -> list[str]:
        if self.phase == "turn":
            hand = self.hands[self.seat]
            row = self.rows[self.seat]
            lays = [f"lay {card}" for card in hand if fits(row[card[0]], value_of(card))]
            return lays + [f"discard {card}" for card in hand]
        if self.phase == "figure":
            return ["small", "big"]
        if self.phase == "move":
            return [f"move {path}" for path in self.paths_to_move_on()]
        if self.phase == "clover":
            return [f"clover {path}" for path in self.paths_to_move_on()] + ["stay"]
        if self.phase == "draw":
            return self.draw_choices()
        return []

    def paths_to_move_on(self) -> list[str]:
        """Where an own figure may move one stone, or one from the start may enter."""
        paths = []
        for path in COLOURS:
            if path in self.stones[self.seat]:
                if self.stones[self.seat][path] < END_STONE:
                    paths.append(path)
            elif self.at_start[self.seat]:
                paths.append(path)
        return paths

    def carry_out(self, words: list[str], card: str) -> None:
        verb = words[0]
        if verb == "lay":
            self.play_from_hand(words[1])
            path = words[1][0]
            self.rows[self.seat][path].append(value_of(words[1]))
            if self.stones[self.seat].get(path) == END_STONE:
                self.phase = "move"
            else:
                self.advance(path)
        elif verb == "discard":
            self.play_from_hand(words[1])
            self.put_on_pile(words[1])
            self.phase = "draw"
        elif verb in ("move", "clover"):
            self.advance(words[1])
        elif verb in ("small", "big"):
            self.enter(self.entering, verb)
        elif verb == "stay":
            self.phase = "draw"
        else:
            self.draw_or_take(words, card)
            if not self.unseen:
                self.end("last card")
            else:
                self.end_turn(self.left_of(self.seat))

    def advance(self, path: str) -> None:
        if path in self.stones[self.seat]:
            self.arrive(path, self.stones[self.seat][path] + 1)
        elif "small" in self.at_start[self.seat] and "big" in self.at_start[self.seat]:
            self.entering = path
            self.phase = "figure"
        else:
            self.enter(path, self.at_start[self.seat][0])

    def enter(self, path: str, size: str) -> None:
        self.at_start[self.seat].remove(size)
        self.sizes[self.seat][path] = size
        self.arrive(path, 1)

    def arrive(self, path: str, stone: int) -> None:
        self.stones[self.seat][path] = stone
        if stone == FIRST_GOAL_STONE:
            self.figures_in_goal += 1
            if self.figures_in_goal == FIGURES_IN_GOAL_TO_END:
                self.end("figures")
                return
        self.phase = "draw"
        tile = self.tiles.get(f"{path}{stone}", "")
        if tile == "clover":
            self.phase = "clover"
        elif tile == "wish":
            self.wish_stones[self.seat] += 1
            del self.tiles[f"{path}{stone}"]
        elif tile:
            self.tile_points[self.seat] += int(tile)

    def breakdown(self, seat: int) -> dict[str, int]:
        figures = 0
        for path, stone in self.stones[seat].items():
            figures += STONE_VALUES[stone] * (2 if self.sizes[seat][path] == "big" else 1)
        return {
            "tiles": self.tile_points[seat],
            "figures": figures,
            "wish_stones": look_up(WISH_STONE_SCORES, self.wish_stones[seat]),
        }
