"""The card game by the rules page, section 3."""

from typing import Any

from tests.engine.oracle.common import COLOURS, CardGame, fits, look_up, value_of

VALUES = [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10]
DECK = [
    *[f"{colour}{value}" for colour in COLOURS for value in VALUES],
    *[f"{colour}E" for colour in COLOURS for _ in range(2)],
    *[f"P{value}" for value in range(11)],
]
SORTS = [*COLOURS, "P"]
ROW_SCORES = [0, -4, -3, -2, 1, 2, 3, 6, 7, 10]
WISH_STONE_SCORES = [-4, -1, 0, 4, 6, 10]
ENDED_ROWS_TO_END = 5
FINAL_CARDS = 2


def is_end(card: str) -> bool:
    return card[1] == "E"


class Kartenspiel(CardGame):
    """No board: rows, pairs for wish stones, end cards and points cards."""

    def __init__(self, replay: dict[str, Any]) -> None:
        super().__init__(replay, DECK, SORTS)
        self.expect("wish stones", list(range(1, 10)), self.setup["wish_row"])
        self.open_stones = list(range(1, 10))
        self.rows: list[dict[str, list[str]]] = [{c: [] for c in COLOURS} for _ in self.seats]
        self.points_row: list[list[str]] = [[] for _ in self.seats]
        self.wish_stones: list[list[int]] = [[] for _ in self.seats]
        self.draws_left = 0
        self.waiting: list[int] = []  # the seats that may still lay final cards, in order
        self.final_cards_left = 0

    def legal(self) -> list[str]:
        hand = self.hands[self.seat]
        if self.phase == "turn":
            discards = [f"discard {card}" for card in hand]
            return self.ways_to_lay("lay") + discards + self.pairs()
        if self.phase == "draw":
            return self.draw_choices()
        if self.phase == "final":
            return [*self.ways_to_lay("add"), "done"]
        return []

    def ways_to_lay(self, verb: str) -> list[str]:
        ways = []
        for card in self.hands[self.seat]:
            if card[0] == "P":
                ways.append(f"{verb} {card}")
                rows = self.rows[self.seat]
                longer = [colour for colour in COLOURS if self.lengthens(card, rows[colour])]
                ways += [f"{verb} {card} on {colour}" for colour in longer]
            elif self.continues(card, self.rows[self.seat][card[0]]):
                ways.append(f"{verb} {card}")
        return ways

    def lengthens(self, points_card: str, row: list[str]) -> bool:
        """A points card: its value is the last number card's; end cards stand in its way.

        With the option only the second one does, which closes the row.
        """
        numbers = [card for card in row if not is_end(card) and card[0] != "P"]
        allowed = self.options.get("points_on_end_card", 0)
        if not numbers or sum(is_end(card) for card in row) > allowed:
            return False
        return value_of(numbers[-1]) == value_of(points_card)

    def continues(self, card: str, row: list[str]) -> bool:
        """A number card or an end card; a points card in the row does not change its direction."""
        end_cards = [laid for laid in row if is_end(laid)]
        if is_end(card):
            if not row and self.options["end_card_opens_row"] == 0:
                return False
            return len(end_cards) < 2
        numbers = [value_of(laid) for laid in row if not is_end(laid) and laid[0] != "P"]
        return not end_cards and fits(numbers, value_of(card))

    def pairs(self) -> list[str]:
        """Two cards of equal value, while the wish stone of that value lies open."""
        hand = [card for card in self.hands[self.seat] if not is_end(card)]
        hand.sort(key=lambda card: SORTS.index(card[0]))
        pairs = []
        for i, first in enumerate(hand):
            for second in hand[i + 1 :]:
                value = value_of(first)
                if value == value_of(second) and value in self.open_stones:
                    pairs.append(f"pair {first} {second}")
        return pairs

    def carry_out(self, words: list[str], card: str) -> None:
        verb = words[0]
        if verb == "lay":
            self.lay(words)
            if self.ended_rows() == ENDED_ROWS_TO_END:
                self.begin_final("end cards")
            else:
                self.begin_draw(1)
        elif verb == "discard":
            self.play_from_hand(words[1])
            self.put_on_pile(words[1])
            self.begin_draw(1)
        elif verb == "pair":
            for discarded in words[1:]:
                self.play_from_hand(discarded)
                self.put_on_pile(discarded)
            self.open_stones.remove(value_of(words[1]))
            self.wish_stones[self.seat].append(value_of(words[1]))
            self.begin_draw(2)
        elif verb == "add":
            self.lay(words)
            self.final_cards_left -= 1
            if self.final_cards_left == 0:
                self.next_final_seat()
        elif verb == "done":
            self.next_final_seat()
        else:
            self.draw_or_take(words, card)
            self.draws_left -= 1
            if not self.unseen:
                self.begin_final("last card")
            elif self.draws_left == 0:
                self.end_turn(self.left_of(self.seat))

    def lay(self, words: list[str]) -> None:
        card = words[1]
        self.play_from_hand(card)
        if len(words) > 2:
            self.rows[self.seat][words[3]].append(card)
        elif card[0] == "P":
            self.points_row[self.seat].append(card)
        else:
            self.rows[self.seat][card[0]].append(card)

    def ended_rows(self) -> int:
        """How many rows, over all players, contain an end card."""
        count = 0
        for rows in self.rows:
            for row in rows.values():
                if any(is_end(card) for card in row):
                    count += 1
        return count

    def begin_draw(self, cards: int) -> None:
        self.draws_left = cards
        self.phase = "draw"

    def end_turn(self, next_seat: int) -> None:
        """Ruling: at the turn limit the game ends as if the last card had been drawn."""
        if self.turn == self.options["turn_limit"]:
            self.begin_final("turn limit")
        else:
            super().end_turn(next_seat)

    def begin_final(self, how: str) -> None:
        """All seats in turn, from the left of the one who ended the game, himself last."""
        self.ending = how
        self.phase = "final"
        ender = self.seat
        self.waiting = [(ender + step) % self.players for step in range(1, self.players + 1)]
        self.next_final_seat()

    def next_final_seat(self) -> None:
        if self.waiting:
            self.seat = self.waiting.pop(0)
            self.final_cards_left = FINAL_CARDS
        else:
            self.end(self.ending)

    def breakdown(self, seat: int) -> dict[str, int]:
        rows = self.rows[seat].values()
        return {
            "rows": sum(look_up(ROW_SCORES, len(row)) for row in rows),
            "points_row": len(self.points_row[seat]),
            "wish_stones": look_up(WISH_STONE_SCORES, len(self.wish_stones[seat])),
        }
