"""The tile game by the rules page, section 4."""

from typing import Any

from tests.engine.oracle.common import COLOURS, Game, OracleMismatch, fits, look_up, value_of

TILES = [f"{colour}{value}" for colour in COLOURS for value in range(11)]
WISH_STONES = ["R4", "R7", "Y6", "Y8", "V1", "V4", "G6", "G9", "B2", "B3"]
CLOVERS = ["R5", "R8", "Y1", "Y7", "V2", "V9", "G3", "G4", "B5", "B6"]
BONUS_1 = ["R6", "Y4", "V5", "G1", "B9"]
BONUS_3 = ["R2", "Y3", "V7", "G5", "B8"]
ROW_SCORES = [0, -4, -3, 2, 3, 6, 10]
WISH_STONE_SCORES = [-4, -3, 2, 3, 6, 10]


class WegDerSteine(Game):
    """Tiles in the middle, face down and face up, and a row per colour."""

    def __init__(self, replay: dict[str, Any]) -> None:
        super().__init__(replay)
        self.face_down = list(TILES)
        self.expect("size of the draw pile", len(self.face_down), self.setup["draw_pile_size"])
        self.face_up: list[str] = []
        self.rows: list[dict[str, list[str]]] = [{c: [] for c in COLOURS} for _ in self.seats]
        self.revealed = ""

    def outcome_name(self, words: list[str]) -> str:
        return "revealed" if words[0] == "reveal" else ""

    def legal(self) -> list[str]:
        fitting = [tile for tile in self.face_up if self.fits_own_row(tile)]
        if self.phase == "turn":
            return ["reveal"] + [f"take {tile}" for tile in fitting]
        if self.phase == "revealed":
            return ["keep", "leave"] if self.fits_own_row(self.revealed) else ["leave"]
        if self.phase == "last-turn":
            return [f"last {tile}" for tile in fitting] + ["pass"]
        return []

    def fits_own_row(self, tile: str) -> bool:
        row = self.rows[self.seat][tile[0]]
        return fits([value_of(laid) for laid in row], value_of(tile))

    def carry_out(self, words: list[str], card: str) -> None:
        verb = words[0]
        if verb == "reveal":
            if card not in self.face_down:
                raise OracleMismatch(self.number, "face-down tiles", self.face_down, card)
            self.face_down.remove(card)
            self.revealed = card
            self.phase = "revealed"
        elif verb == "keep":
            self.gain(self.revealed)
        elif verb == "leave":
            self.face_up.append(self.revealed)
            self.finish_turn(clover=False)
        elif verb in ("take", "last"):
            self.face_up.remove(words[1])
            self.gain(words[1])
        else:
            self.end("last tile")

    def gain(self, tile: str) -> None:
        self.rows[self.seat][tile[0]].append(tile)
        self.finish_turn(clover=tile in CLOVERS)

    def finish_turn(self, clover: bool) -> None:
        if self.face_down:
            self.end_turn(self.seat if clover else self.left_of(self.seat))
        elif clover and self.options["last_clover_turn"] == 1 and not self.at_limit():
            self.end_turn(self.seat)
            self.phase = "last-turn"
        else:
            self.end("last tile")

    def breakdown(self, seat: int) -> dict[str, int]:
        rows = self.rows[seat].values()
        tiles = [tile for row in rows for tile in row]
        wish_stones = [tile for tile in tiles if tile in WISH_STONES]
        bonus = 0
        for tile in tiles:
            bonus += (1 if tile in BONUS_1 else 0) + (3 if tile in BONUS_3 else 0)
        return {
            "rows": sum(look_up(ROW_SCORES, len(row)) for row in rows),
            "wish_stones": look_up(WISH_STONE_SCORES, len(wish_stones)),
            "bonus": bonus,
        }
